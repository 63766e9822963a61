"""The elementwise operations, each written once as an expression; activations have their own file.

A row gives the name, the expression, the gradient as graph operations, samples and the first line
of the docstring. Inputs broadcast by NumPy's rules, and all but one may be Python numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DTypeError
from playgrad.graph.opdef import InvalidSample, Sample, register
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensor, as_tensors, graph_of
from playgrad.ops.core.samples import distinct
from playgrad.ops.elementwise.elementwise_op import elementwise, elementwise_op
from playgrad.ops.elementwise.samples import (
    BAD_PAIRS,
    BOOL_PAIR,
    BOOLS,
    INT_PAIR,
    KINKED,
    NOT_FLOATING,
    NUMERIC_PAIRS,
    PAIRS,
    POSITIVE,
    SPECIAL,
    random_floats,
    random_integers,
    unary,
)
from playgrad.ops.expression import expr as e

Constructor = Callable[..., Tensor]

# Arithmetic.
add = elementwise(
    "add",
    lambda a, b: a + b,
    lambda g, y, a, b: (g, g),
    NUMERIC_PAIRS,
    BAD_PAIRS,
    doc="Return ``a + b``.",
)
sub = elementwise(
    "sub",
    lambda a, b: a - b,
    lambda g, y, a, b: (g, -g),
    NUMERIC_PAIRS,
    BAD_PAIRS,
    doc="Return ``a - b``.",
)
mul = elementwise(
    "mul",
    lambda a, b: a * b,
    lambda g, y, a, b: (g * b, g * a),
    NUMERIC_PAIRS,
    BAD_PAIRS,
    doc="Return ``a * b``, element by element.",
)
_quotient = elementwise(
    "div",
    lambda a, b: a / b,
    lambda g, y, a, b: (g / b, -g * y / b),
    PAIRS,
    (*BAD_PAIRS, InvalidSample((random_integers(2),) * 2, {}, DTypeError, "does not take int32")),
)


def div(a: Any, b: Any, /, *, name: str | None = None) -> Tensor:
    """Return ``a / b``. The quotient of integers is float32, as if they were cast.

    Args:
        a, b: tensors, arrays or numbers, both floats of one dtype or both integers of one dtype.
            Numbers take the dtype of the tensor. Shapes broadcast together by NumPy's rules.

    Returns:
        A tensor of the broadcast shape; float32 for integers, else of the dtype of the arguments.

    Raises:
        ShapeError: the shapes do not broadcast together.
        DTypeError: the dtypes differ, or are bool.
    """
    values = [value for value in (a, b) if not isinstance(value, (int, float))] or [a]
    kinds = {as_tensor(value).dtype for value in values}
    if len(kinds) == 1 and kinds <= {"int32", "uint32", "uint8", "int8"}:
        a, b = (cast(as_tensor(value, graph_of(a, b)), "float32") for value in (a, b))
    return _quotient(a, b, name=name)


mod = elementwise(
    "mod",
    lambda a, b: e.call("mod", a, b),
    lambda g, y, a, b: (g, -g * floor_divide(a, b)),
    (
        Sample((random_integers(6) - 5, random_integers(6))),
        Sample((random_floats(9), np.linspace(0.53, 1.1, 9, dtype=np.float32))),
    ),
    BAD_PAIRS,
    doc="Return the remainder of ``a / b``, with the sign of ``b``: ``a - floor(a / b) * b``. That "
    "of integers divided by 0 is 0.",
)
floor_divide: Constructor = elementwise(
    "floor_divide",
    lambda a, b: e.call("floor_div", a, b),
    None,
    NUMERIC_PAIRS,
    BAD_PAIRS,
    doc="Return ``a / b`` rounded down to a whole number. Integers divided by 0 give 0.",
)
# At base 0 the derivatives are taken from the right: 0, where the formulas have 0 times infinity.
_power = elementwise(
    "pow",
    lambda a, b: e.call("pow", a, b),
    lambda g, y, a, b: (
        g * pow(where(logical_and(equal(a, 0.0), equal(b, 0.0)), 1.0, a), b - 1.0) * b,
        g * y * log(where(logical_and(equal(a, 0.0), greater_equal(b, 0.0)), 1.0, a)),
    ),
    (
        Sample((random_floats(9, low=0.2, high=3.0), random_floats(9))),
        Sample((random_floats(4, 3, low=0.2, high=3.0), random_floats(1))),
        Sample((random_integers(5, 1) - 4, random_integers(7) * 3 - 4)),
        Sample((random_integers(6).astype(np.uint32), np.arange(6, dtype=np.uint32) * 7)),
    ),
    BAD_PAIRS,
)


def pow(a: Any, b: Any, *, name: str | None = None) -> Tensor:
    """Return ``a`` to the power ``b``; NaN for a negative ``a`` and a fractional ``b``.

    Powers of integers are integers and wrap around on overflow, as in NumPy. A negative exponent
    that is only known when the graph runs gives 0, or ``a`` or 1 where ``a`` is 1 or -1: the
    quotient rounded towards 0.

    Args:
        a, b: tensors, arrays or numbers of one dtype; not bool. Numbers take the dtype of the
            tensor. Shapes broadcast together by NumPy's rules.

    Returns:
        A tensor of the broadcast shape and the dtype of the arguments, with a gradient for floats.

    Raises:
        ShapeError: the shapes do not broadcast together.
        DTypeError: the dtypes differ or are bool, or ``a`` holds integers and an exponent that is
            known is negative.
    """
    base, exponent = as_tensors(a, b)
    values = exponent.node.attrs.get("value") if exponent.node.op.name == "constant" else None
    if base.dtype == "int32" and values is not None and np.any(values < 0):
        raise DTypeError(
            "integers have no negative powers.",
            hint="Convert the base: pg.cast(x, 'float32') ** -1.",
        )
    return _power(base, exponent, name=name)


neg = elementwise("neg", lambda x: -x, lambda g, y, x: -g, unary(), doc="Return ``-x``.")
square = elementwise(
    "square",
    lambda x: x * x,
    lambda g, y, x: g * x * 2.0,
    unary(),
    doc="Return ``x * x``.",
)
reciprocal = elementwise(
    "reciprocal",
    lambda x: 1.0 / x,
    lambda g, y, x: -g * square(y),
    KINKED,
    doc="Return ``1 / x``.",
)
absolute = elementwise(
    "abs",
    e.absolute,
    lambda g, y, x: g * sign(x),
    KINKED,
    doc="Return the absolute value of ``x``.",
)
sign: Constructor = elementwise(
    "sign",
    lambda x: e.call("sign", x),
    None,
    KINKED,
    doc="Return the sign of ``x``: -1, 0 or 1.",
)
floor = elementwise(
    "floor",
    lambda x: e.call("floor", x),
    None,
    unary(),
    doc="Return ``x`` rounded down to a whole number.",
)
ceil = elementwise(
    "ceil",
    lambda x: e.call("ceil", x),
    None,
    unary(),
    doc="Return ``x`` rounded up to a whole number.",
)
trunc = elementwise(
    "trunc",
    lambda x: e.call("trunc", x),
    None,
    unary(),
    doc="Return ``x`` rounded towards 0 to a whole number.",
)
round = elementwise(
    "round",
    lambda x: e.call("round", x),
    None,
    unary(),
    doc="Return ``x`` rounded to the nearest whole number, halves to even.",
)
maximum = elementwise(
    "maximum",
    lambda a, b: e.call("maximum", a, b),
    lambda g, y, a, b: (where(greater_equal(a, b), g, 0.0), where(less(a, b), g, 0.0)),
    NUMERIC_PAIRS,
    BAD_PAIRS,
    doc="Return the larger of ``a`` and ``b``; NaN where either is NaN.",
)
minimum = elementwise(
    "minimum",
    lambda a, b: e.call("minimum", a, b),
    lambda g, y, a, b: (where(less_equal(a, b), g, 0.0), where(greater(a, b), g, 0.0)),
    NUMERIC_PAIRS,
    BAD_PAIRS,
    doc="Return the smaller of ``a`` and ``b``; NaN where either is NaN.",
)
clip = elementwise(
    "clip",
    lambda x, x_min, x_max: e.call("minimum", e.call("maximum", x, x_min), x_max),
    lambda g, y, x, low, high: (
        where(logical_and(greater_equal(x, low), less_equal(x, high)), g, 0.0),
        where(logical_and(less(x, low), less_equal(low, high)), g, 0.0),
        where(greater(maximum(x, low), high), g, 0.0),
    ),
    (
        Sample((distinct(41), np.asarray(-1.02, np.float32), np.asarray(0.97, np.float32))),
        Sample((distinct(5, 4), distinct(4) - np.float32(0.63), np.asarray(0.27, np.float32))),
        Sample((random_integers(9), np.asarray(3, np.int32), np.asarray(5, np.int32))),
    ),
    doc="Return ``x`` limited to the range from ``x_min`` to ``x_max``; NaN where any is NaN. "
    "Gradients of ``x`` stop outside.",
)
squared_difference = elementwise(
    "squared_difference",
    lambda a, b: (a - b) * (a - b),
    lambda g, y, a, b: (g * (a - b) * 2.0, g * (b - a) * 2.0),
    PAIRS,
    BAD_PAIRS,
    doc="Return ``(a - b) * (a - b)``.",
)

# Exponentials, and the sine with its derivative; the others are in ``transcendental.py``.
exp = elementwise(
    "exp",
    e.exp,
    lambda g, y, x: g * y,
    unary(),
    NOT_FLOATING,
    doc="Return e to the power ``x``.",
)
log: Constructor = elementwise(
    "log",
    e.log,
    lambda g, y, x: g / x,
    POSITIVE,
    NOT_FLOATING,
    doc="Return the natural logarithm of ``x``: -inf for 0, NaN below 0.",
)
sqrt = elementwise(
    "sqrt",
    e.sqrt,
    lambda g, y, x: g / (y * 2.0),
    POSITIVE,
    NOT_FLOATING,
    doc="Return the square root of ``x``.",
)
# At infinity the slope is 0, also where it is multiplied by infinity: squares may have overflowed.
# The same holds of the slope's own slopes, that by `g` (outer) and that by `y` (inner).
rsqrt = elementwise(
    "rsqrt",
    lambda x: 1.0 / e.sqrt(x),
    lambda g, y, x: where(is_inf(x), 0.0, where(is_inf(x), 0.0, g) * y / x * -0.5),
    POSITIVE,
    NOT_FLOATING,
    doc="Return ``1 / sqrt(x)``.",
)
sin = elementwise(
    "sin",
    lambda x: e.call("sin", x),
    lambda g, y, x: g * cos(x),
    unary(),
    doc="Return the sine of ``x``, in radians.",
)
cos: Constructor = elementwise(
    "cos",
    lambda x: e.call("cos", x),
    lambda g, y, x: -g * sin(x),
    unary(),
    doc="Return the cosine of ``x``, in radians.",
)

# Comparisons and logic: gradients stop here.
equal: Constructor = elementwise(
    "equal",
    lambda a, b: e.call("eq", a, b),
    None,
    (INT_PAIR, *BOOL_PAIR),
    BAD_PAIRS,
    doc="Return ``a == b``, element by element.",
)
not_equal = elementwise(
    "not_equal",
    lambda a, b: e.call("ne", a, b),
    None,
    (INT_PAIR,),
    BAD_PAIRS,
    doc="Return ``a != b``, element by element.",
)
less: Constructor = elementwise(
    "less", lambda a, b: a < b, None, NUMERIC_PAIRS, BAD_PAIRS, doc="Return ``a < b``."
)
less_equal: Constructor = elementwise(
    "less_equal", lambda a, b: a <= b, None, NUMERIC_PAIRS, BAD_PAIRS, doc="Return ``a <= b``."
)
greater: Constructor = elementwise(
    "greater", lambda a, b: a > b, None, NUMERIC_PAIRS, BAD_PAIRS, doc="Return ``a > b``."
)
greater_equal: Constructor = elementwise(
    "greater_equal", lambda a, b: a >= b, None, NUMERIC_PAIRS, BAD_PAIRS, doc="Return ``a >= b``."
)
logical_and: Constructor = elementwise(
    "logical_and",
    lambda a, b: e.call("and", a, b),
    None,
    BOOL_PAIR,
    doc="Return whether both ``a`` and ``b`` are true.",
)
logical_or = elementwise(
    "logical_or",
    lambda a, b: e.call("or", a, b),
    None,
    BOOL_PAIR,
    doc="Return whether ``a`` or ``b`` is true.",
)
logical_xor = elementwise(
    "logical_xor",
    lambda a, b: e.call("xor", a, b),
    None,
    BOOL_PAIR,
    doc="Return whether one of ``a`` and ``b`` is true, but not both.",
)
logical_not = elementwise(
    "logical_not",
    lambda x: e.call("not", x),
    None,
    (Sample((BOOLS,)),),
    doc="Return whether ``x`` is false.",
)
is_finite = elementwise(
    "is_finite", e.isfinite, None, SPECIAL, doc="Return whether ``x`` is neither infinite nor NaN."
)
is_nan = elementwise(
    "is_nan", lambda x: e.call("isnan", x), None, SPECIAL, doc="Return whether ``x`` is NaN."
)
is_inf: Constructor = elementwise(
    "is_inf",
    lambda x: e.call("isinf", x),
    None,
    SPECIAL,
    doc="Return whether ``x`` is positive or negative infinity.",
)
where: Constructor = elementwise(
    "where",
    lambda condition, a, b: e.where(condition, a, b),
    lambda g, y, c, a, b: (None, where(c, g, 0.0), where(c, 0.0, g)),
    (
        Sample((BOOLS, random_floats(2, 2), random_floats(2, 2)), differentiable=(1, 2)),
        Sample((BOOLS, random_floats(2), random_floats(1)), differentiable=(1, 2)),
    ),
    (
        InvalidSample(
            (random_floats(2), random_floats(2), random_floats(2)), {}, DTypeError, "must be bool"
        ),
    ),
    doc="Return ``a`` where ``condition`` is true and ``b`` elsewhere.",
)

_HALVES = np.array([0.0, -0.0, 6e-8, -0.1, 2.5, 65504, -np.inf, np.nan], np.float16)
# Ties go to the even neighbour, below 2⁻¹⁴ too, and from 65520 on to infinity.
_NEAR_HALVES = np.array(
    [2049, 2051, 65519, 65520, -1e9, 2.0**-25, 3 * 2.0**-25, 1e-5, 0.1, np.inf, np.nan], np.float32
)
_CAST = register(
    elementwise_op(
        "cast",
        lambda attrs: (e.Cast(attrs["dtype"], e.Leaf(0)),),
        lambda node, grads: [cast(grads[0], node.inputs[0].dtype)],
        (
            Sample((random_integers(5),), {"dtype": "float32"}, differentiable=()),
            Sample((np.arange(11, dtype=np.uint8),), {"dtype": "float32"}, differentiable=()),
            Sample((np.arange(-6, 5, dtype=np.int8),), {"dtype": "float32"}, differentiable=()),
            Sample((random_integers(11) * 60 - 300,), {"dtype": "int8"}),
            Sample((np.arange(-3, 4, dtype=np.int8),), {"dtype": "uint8"}),
            Sample((np.arange(250, 256, dtype=np.uint8),), {"dtype": "int8"}),
            Sample((np.arange(-3, 4, dtype=np.int8),), {"dtype": "uint32"}),
            Sample((np.arange(-3, 4, dtype=np.int8),), {"dtype": "bool"}),
            Sample(
                (np.array([0.0, 1.5, -2.5], np.float32),), {"dtype": "int32"}, differentiable=()
            ),
            Sample((BOOLS,), {"dtype": "float32"}, differentiable=()),
            Sample((_HALVES,), {"dtype": "float32"}, differentiable=()),
            Sample((_NEAR_HALVES,), {"dtype": "float16"}, differentiable=(), tolerance=0.0),
        ),
    )
)


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """Convert the elements of ``x`` to ``dtype``.

    Floats become integers by rounding towards zero; a bool is 0 or 1, and any number but 0 is true.
    As in NumPy, NaN and floats outside the range of an integer dtype become a number that depends
    on the device: clip before the cast.

    Args:
        x: a tensor of any shape and dtype.
        dtype: the element type of the result.

    Returns:
        A tensor of the shape of ``x``; ``x`` itself if it has that dtype.

    Raises:
        DTypeError: there is no such dtype.
    """
    tensor = as_tensor(x)
    target = dtype_of(dtype).name
    if tensor.dtype == target:
        return tensor
    return add_node(_CAST, [tensor], {"dtype": target}, name).output
