"""The elementwise operations: one row each, written once as an expression.

A row gives the name, the expression, the gradient as graph operations, and samples. All of them
broadcast by NumPy's rules and accept Python numbers for any but one of their inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import InvalidSample, Sample, register
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensor
from playgrad.ops.elementwise.elementwise_op import elementwise, elementwise_op
from playgrad.ops.expression import expr as e

Constructor = Callable[..., Tensor]

_random = np.random.default_rng(7)


def _floats(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray[Any, Any]:
    return _random.uniform(low, high, shape).astype(np.float32)


def _away_from_zero(*shape: int) -> np.ndarray[Any, Any]:
    """Floats that finite differences do not carry across a kink at 0."""
    values = _floats(*shape)
    return np.where(np.abs(values) < 0.1, np.float32(0.5), values)


def _ints(*shape: int) -> np.ndarray[Any, Any]:
    return _random.integers(1, 9, shape).astype(np.int32)


_BOOLS = np.array([[True, False], [True, True]])
_PAIRS = (
    Sample((_floats(3, 5), _away_from_zero(3, 5))),
    Sample((_floats(2, 3, 4), _away_from_zero(4))),
    Sample((_floats(3, 1), _away_from_zero(1, 4))),
    Sample((_floats(), _away_from_zero(2, 2))),
)
_INT_PAIR = Sample((_ints(4, 3), _ints(3)))
_MISMATCH = InvalidSample((_floats(2, 3), _floats(4)), {}, ShapeError, "do not broadcast")
_MIXED = InvalidSample((_floats(2), _ints(2)), {}, DTypeError, "element types differ")
_BAD_PAIRS = (_MISMATCH, _MIXED)


def _unary(*arrays: np.ndarray[Any, Any]) -> tuple[Sample, ...]:
    return tuple(Sample((array,)) for array in arrays or (_floats(37), _floats(3, 5)))


_KINKED = _unary(_away_from_zero(41), _away_from_zero(4, 3))
_POSITIVE = _unary(_floats(23, low=0.1, high=4.0))
_INT_GIVEN = (InvalidSample((_ints(3),), {}, DTypeError, "does not take int32"),)

_FAR = Sample((np.array([-95.0, 0.0, 95.0], np.float32),), differentiable=())

# Arithmetic.
add = elementwise(
    "add",
    lambda a, b: a + b,
    lambda g, y, a, b: (g, g),
    (*_PAIRS, _INT_PAIR),
    _BAD_PAIRS,
    doc="Return ``a + b``.",
)
sub = elementwise(
    "sub",
    lambda a, b: a - b,
    lambda g, y, a, b: (g, -g),
    (*_PAIRS, _INT_PAIR),
    _BAD_PAIRS,
    doc="Return ``a - b``.",
)
mul = elementwise(
    "mul",
    lambda a, b: a * b,
    lambda g, y, a, b: (g * b, g * a),
    (*_PAIRS, _INT_PAIR),
    _BAD_PAIRS,
    doc="Return ``a * b``.",
)
div = elementwise(
    "div",
    lambda a, b: a / b,
    lambda g, y, a, b: (g / b, -g * y / b),
    (*_PAIRS, _INT_PAIR),
    _BAD_PAIRS,
    doc="Return ``a / b``.",
)
mod = elementwise(
    "mod",
    lambda a, b: e.call("mod", a, b),
    None,
    (Sample((_ints(6), _ints(6))),),
    _BAD_PAIRS,
    doc="Return the remainder of ``a / b``, with the sign of ``a``. No gradient flows through it.",
)
pow: Constructor = elementwise(
    "pow",
    lambda a, b: e.call("pow", a, b),
    lambda g, y, a, b: (g * b * pow(a, b - 1.0), g * y * log(a)),
    (
        Sample((_floats(9, low=0.2, high=3.0), _floats(9))),
        Sample((_floats(4, 3, low=0.2, high=3.0), _floats(1))),
    ),
    _BAD_PAIRS,
    doc="Return ``a`` to the power ``b``; NaN for a negative ``a`` and a fractional ``b``.",
)
neg = elementwise(
    "neg",
    lambda x: -x,
    lambda g, y, x: -g,
    _unary(),
    doc="Return ``-x``.",
)
square = elementwise(
    "square",
    lambda x: x * x,
    lambda g, y, x: g * (x * 2.0),
    _unary(),
    doc="Return ``x * x``.",
)
reciprocal = elementwise(
    "reciprocal",
    lambda x: 1.0 / x,
    lambda g, y, x: -g * square(y),
    _KINKED,
    doc="Return ``1 / x``.",
)
absolute = elementwise(
    "abs",
    e.absolute,
    lambda g, y, x: g * sign(x),
    _KINKED,
    doc="Return the absolute value of ``x``.",
)
sign: Constructor = elementwise(
    "sign",
    lambda x: e.call("sign", x),
    None,
    _KINKED,
    doc="Return -1, 0 or 1: the sign of ``x``. No gradient flows through it.",
)
floor = elementwise(
    "floor",
    lambda x: e.call("floor", x),
    None,
    _unary(),
    doc="Round down to a whole number. No gradient flows through it.",
)
ceil = elementwise(
    "ceil",
    lambda x: e.call("ceil", x),
    None,
    _unary(),
    doc="Round up to a whole number. No gradient flows through it.",
)
round = elementwise(
    "round",
    lambda x: e.call("round", x),
    None,
    _unary(),
    doc="Round to the nearest whole number, halves to even. No gradient flows through it.",
)
maximum = elementwise(
    "maximum",
    lambda a, b: e.call("maximum", a, b),
    lambda g, y, a, b: (where(greater_equal(a, b), g, 0.0), where(less(a, b), g, 0.0)),
    _PAIRS,
    _BAD_PAIRS,
    doc="Return the larger of ``a`` and ``b``.",
)
minimum = elementwise(
    "minimum",
    lambda a, b: e.call("minimum", a, b),
    lambda g, y, a, b: (where(less_equal(a, b), g, 0.0), where(greater(a, b), g, 0.0)),
    _PAIRS,
    _BAD_PAIRS,
    doc="Return the smaller of ``a`` and ``b``.",
)
squared_difference = elementwise(
    "squared_difference",
    lambda a, b: (a - b) * (a - b),
    lambda g, y, a, b: (g * (a - b) * 2.0, g * (b - a) * 2.0),
    _PAIRS,
    _BAD_PAIRS,
    doc="Return ``(a - b) ** 2``.",
)

# Exponentials and trigonometry.
exp = elementwise(
    "exp",
    e.exp,
    lambda g, y, x: g * y,
    _unary(),
    _INT_GIVEN,
    doc="Return e to the power ``x``.",
)
log: Constructor = elementwise(
    "log",
    e.log,
    lambda g, y, x: g / x,
    _POSITIVE,
    _INT_GIVEN,
    doc="Return the natural logarithm of ``x``.",
)
sqrt = elementwise(
    "sqrt",
    e.sqrt,
    lambda g, y, x: g / (y * 2.0),
    _POSITIVE,
    _INT_GIVEN,
    doc="Return the square root of ``x``.",
)
rsqrt = elementwise(
    "rsqrt",
    lambda x: 1.0 / e.sqrt(x),
    lambda g, y, x: g * y / x * -0.5,
    _POSITIVE,
    _INT_GIVEN,
    doc="Return ``1 / sqrt(x)``.",
)
sin = elementwise(
    "sin",
    lambda x: e.call("sin", x),
    lambda g, y, x: g * cos(x),
    _unary(),
    doc="Return the sine of ``x``, in radians.",
)
cos: Constructor = elementwise(
    "cos",
    lambda x: e.call("cos", x),
    lambda g, y, x: -g * sin(x),
    _unary(),
    doc="Return the cosine of ``x``, in radians.",
)

# Comparisons and logic: gradients stop here.
equal = elementwise(
    "equal",
    lambda a, b: e.call("eq", a, b),
    None,
    (_INT_PAIR, Sample((_BOOLS, _BOOLS.T.copy()))),
    _BAD_PAIRS,
    doc="Return whether ``a == b``, as bool.",
)
not_equal = elementwise(
    "not_equal",
    lambda a, b: e.call("ne", a, b),
    None,
    (_INT_PAIR,),
    _BAD_PAIRS,
    doc="Return whether ``a != b``, as bool.",
)
_ORDERED = (*_PAIRS, _INT_PAIR)
less: Constructor = elementwise(
    "less",
    lambda a, b: a < b,
    None,
    _ORDERED,
    _BAD_PAIRS,
    doc="Return whether ``a < b``, as bool.",
)
less_equal: Constructor = elementwise(
    "less_equal",
    lambda a, b: a <= b,
    None,
    _ORDERED,
    _BAD_PAIRS,
    doc="Return whether ``a <= b``, as bool.",
)
greater: Constructor = elementwise(
    "greater",
    lambda a, b: a > b,
    None,
    _ORDERED,
    _BAD_PAIRS,
    doc="Return whether ``a > b``, as bool.",
)
greater_equal: Constructor = elementwise(
    "greater_equal",
    lambda a, b: a >= b,
    None,
    _ORDERED,
    _BAD_PAIRS,
    doc="Return whether ``a >= b``, as bool.",
)
logical_and = elementwise(
    "logical_and",
    lambda a, b: e.call("and", a, b),
    None,
    (Sample((_BOOLS, _BOOLS.T.copy())),),
    doc="Return whether both ``a`` and ``b`` are true.",
)
logical_or = elementwise(
    "logical_or",
    lambda a, b: e.call("or", a, b),
    None,
    (Sample((_BOOLS, _BOOLS.T.copy())),),
    doc="Return whether ``a`` or ``b`` is true.",
)
logical_not = elementwise(
    "logical_not",
    lambda x: e.call("not", x),
    None,
    (Sample((_BOOLS,)),),
    doc="Return whether ``x`` is false.",
)
is_finite = elementwise(
    "is_finite",
    e.isfinite,
    None,
    (Sample((np.array([1.0, np.nan, np.inf, -np.inf, 0.0], np.float32),)),),
    doc="Return whether ``x`` is neither NaN nor infinite, as bool.",
)
is_nan = elementwise(
    "is_nan",
    lambda x: e.call("isnan", x),
    None,
    (Sample((np.array([1.0, np.nan, np.inf, -np.inf, 0.0], np.float32),)),),
    doc="Return whether ``x`` is NaN, as bool.",
)

# Activations.
relu = elementwise(
    "relu",
    lambda x: e.where(x < 0.0, 0.0, x),
    lambda g, y, x: where(y > 0.0, g, 0.0),
    _KINKED,
    doc="Rectified linear unit: ``max(x, 0)``.",
)
tanh = elementwise(
    "tanh",
    e.tanh,
    lambda g, y, x: g * (1.0 - square(y)),
    (*_unary(), _FAR),
    doc="Hyperbolic tangent.",
)
# Written so that exp never overflows: its argument is never positive.
sigmoid = elementwise(
    "sigmoid",
    lambda x: e.where(x < 0.0, e.exp(-e.absolute(x)), 1.0) / (1.0 + e.exp(-e.absolute(x))),
    lambda g, y, x: g * y * (1.0 - y),
    (*_unary(), _FAR),
    doc="Logistic function: ``1 / (1 + exp(-x))``.",
)
softplus = elementwise(
    "softplus",
    lambda x: e.where(x < 0.0, 0.0, x) + e.log(1.0 + e.exp(-e.absolute(x))),
    lambda g, y, x: g * sigmoid(x),
    _unary(),
    doc="Smooth rectifier: ``log(1 + exp(x))``.",
)
silu = elementwise(
    "silu",
    lambda x: x * e.where(x < 0.0, e.exp(-e.absolute(x)), 1.0) / (1.0 + e.exp(-e.absolute(x))),
    lambda g, y, x: g * (sigmoid(x) + y * (1.0 - sigmoid(x))),
    _unary(),
    doc="Sigmoid linear unit, or swish: ``x * sigmoid(x)``.",
)
elu = elementwise(
    "elu",
    lambda x: e.where(x < 0.0, e.exp(x) - 1.0, x),
    lambda g, y, x: where(x < 0.0, g * (y + 1.0), g),
    _KINKED,
    doc="Exponential linear unit: ``x`` where positive, else ``exp(x) - 1``.",
)
# Klambauer et al. 2017, Self-Normalizing Neural Networks.
_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805
selu = elementwise(
    "selu",
    lambda x: e.where(x < 0.0, (e.exp(x) - 1.0) * _ALPHA, x) * _SCALE,
    lambda g, y, x: where(x < 0.0, g * (y + _ALPHA * _SCALE), g * _SCALE),
    _KINKED,
    doc="Scaled exponential linear unit (Klambauer et al. 2017), for self-normalizing networks.",
)
# Hendrycks and Gimpel 2016, in the tanh form.
_GELU = math.sqrt(2.0 / math.pi)
gelu = elementwise(
    "gelu",
    lambda x: 0.5 * x * (1.0 + e.tanh(_GELU * (x + 0.044715 * (x * x * x)))),
    lambda g, y, x: g * _gelu_derivative(x),
    _unary(),
    doc="Gaussian error linear unit (Hendrycks and Gimpel 2016), in its tanh approximation.",
)


def _gelu_derivative(x: Tensor) -> Tensor:
    t = tanh((x + square(x) * x * 0.044715) * _GELU)
    inner = (square(x) * (3 * 0.044715) + 1.0) * _GELU
    return (t + 1.0) * 0.5 + x * 0.5 * (1.0 - square(t)) * inner


where: Constructor = elementwise(
    "where",
    lambda condition, a, b: e.where(condition, a, b),
    lambda g, y, c, a, b: (None, where(c, g, 0.0), where(c, 0.0, g)),
    (
        Sample((_BOOLS, _floats(2, 2), _floats(2, 2)), differentiable=(1, 2)),
        Sample((_BOOLS, _floats(2), _floats(1)), differentiable=(1, 2)),
    ),
    (InvalidSample((_floats(2), _floats(2), _floats(2)), {}, DTypeError, "must be bool"),),
    doc="``a`` where ``condition`` holds, else ``b``.",
)


def leaky_relu(x: Any, negative_slope: float = 0.2, name: str | None = None) -> Tensor:
    """``x`` where positive, else ``negative_slope * x``."""
    tensor = as_tensor(x)
    return where(tensor < 0.0, tensor * negative_slope, tensor, name=name)


_CAST = register(
    elementwise_op(
        "cast",
        lambda attrs: (e.Cast(attrs["dtype"], e.Leaf(0)),),
        lambda node, grads: [cast(grads[0], node.inputs[0].dtype)],
        (
            Sample((_ints(5),), {"dtype": "float32"}, differentiable=()),
            Sample((np.arange(11, dtype=np.uint8),), {"dtype": "float32"}, differentiable=()),
            Sample(
                (np.array([0.0, 1.5, -2.5], np.float32),), {"dtype": "int32"}, differentiable=()
            ),
            Sample((_BOOLS,), {"dtype": "float32"}, differentiable=()),
        ),
    )
)


def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor:
    """``x`` with its elements converted to ``dtype`` (floats to integers toward zero)."""
    tensor = as_tensor(x)
    target = dtype_of(dtype).name
    if tensor.dtype == target:
        return tensor
    return add_node(_CAST, [tensor], {"dtype": target}, name).output
