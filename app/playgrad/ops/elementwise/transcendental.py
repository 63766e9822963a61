"""Logarithms of other bases, trigonometric and hyperbolic functions, and the error function.

Results are NaN outside the domain of a function, as in NumPy. Angles are in radians.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from playgrad.graph.opdef import Sample, lookup
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node
from playgrad.ops.elementwise.definitions import (
    absolute,
    cos,
    equal,
    exp,
    maximum,
    rsqrt,
    sqrt,
    square,
    where,
)
from playgrad.ops.elementwise.elementwise_op import elementwise
from playgrad.ops.elementwise.samples import (
    BAD_PAIRS,
    NOT_FLOATING,
    PAIRS,
    POSITIVE,
    random_floats,
    unary,
)
from playgrad.ops.expression import expr as e

_WITHIN_ONE = unary(random_floats(23, low=-0.9, high=0.9))
_NEAR_ZERO = Sample((np.array([1e-6, -1e-5, 1e-3], np.float32),), differentiable=())

log1p = elementwise(
    "log1p",
    e.log1p,
    lambda g, y, x: g / (x + 1.0),
    (*unary(random_floats(23, low=-0.9, high=4.0)), _NEAR_ZERO),
    NOT_FLOATING,
    doc="Return ``log(1 + x)``, exact for small ``x``.",
)
expm1 = elementwise(
    "expm1",
    e.expm1,
    lambda g, y, x: g * (y + 1.0),
    (*unary(), _NEAR_ZERO),
    NOT_FLOATING,
    doc="Return ``exp(x) - 1``, exact for small ``x``.",
)
log2 = elementwise(
    "log2",
    lambda x: e.call("log2", x),
    lambda g, y, x: g / (x * math.log(2.0)),
    POSITIVE,
    NOT_FLOATING,
    doc="Return the logarithm of ``x`` to base 2: -inf for 0, NaN below 0.",
)
log10 = elementwise(
    "log10",
    lambda x: e.call("log10", x),
    lambda g, y, x: g / (x * math.log(10.0)),
    POSITIVE,
    NOT_FLOATING,
    doc="Return the logarithm of ``x`` to base 10: -inf for 0, NaN below 0.",
)

tan = elementwise(
    "tan",
    lambda x: e.call("tan", x),
    lambda g, y, x: g / square(cos(x)),
    unary(random_floats(23, low=-1.2, high=1.2)),
    NOT_FLOATING,
    doc="Return the tangent of ``x``, in radians.",
)
arcsin = elementwise(
    "arcsin",
    lambda x: e.call("arcsin", x),
    lambda g, y, x: g * rsqrt(1.0 - square(x)),
    _WITHIN_ONE,
    NOT_FLOATING,
    doc="Return the inverse sine of ``x``, from -pi / 2 to pi / 2; NaN outside -1 to 1.",
)
arccos = elementwise(
    "arccos",
    lambda x: e.call("arccos", x),
    lambda g, y, x: -g * rsqrt(1.0 - square(x)),
    _WITHIN_ONE,
    NOT_FLOATING,
    doc="Return the inverse cosine of ``x``, from 0 to pi; NaN outside -1 to 1.",
)
arctan = elementwise(
    "arctan",
    lambda x: e.call("arctan", x),
    lambda g, y, x: g / (square(x) + 1.0),
    unary(),
    NOT_FLOATING,
    doc="Return the inverse tangent of ``x``, from -pi / 2 to pi / 2.",
)


def _arctan2_gradient(g: Tensor, angle: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return (x, -y) / (x² + y²), 0 at the origin, in units of the larger one, whose square may
    overflow or be 0."""
    # By its name: operations on arrays are a layer above.
    largest = maximum(absolute(x), absolute(y))
    size = add_node(lookup("stop_gradient"), [largest]).output
    size = where(equal(size, 0.0), 1.0, size)
    down, along = y / size, x / size
    squares = square(along) + square(down)
    squares = where(equal(squares, 0.0), 1.0, squares)
    return g * (along / squares) / size, -g * (down / squares) / size


arctan2 = elementwise(
    "arctan2",
    lambda y, x: e.call("arctan2", y, x),
    _arctan2_gradient,
    PAIRS,
    BAD_PAIRS,
    doc="Return the angle of the point with coordinates ``x`` and ``y``, from -pi to pi.",
)

sinh = elementwise(
    "sinh",
    lambda x: e.call("sinh", x),
    lambda g, y, x: g * cosh(x),
    (*unary(), _NEAR_ZERO),
    NOT_FLOATING,
    doc="Return the hyperbolic sine of ``x``.",
)
cosh: Callable[..., Tensor] = elementwise(
    "cosh",
    lambda x: e.call("cosh", x),
    lambda g, y, x: g * sinh(x),
    unary(),
    NOT_FLOATING,
    doc="Return the hyperbolic cosine of ``x``.",
)
arcsinh = elementwise(
    "arcsinh",
    lambda x: e.call("arcsinh", x),
    lambda g, y, x: g * rsqrt(square(x) + 1.0),
    (*unary(), _NEAR_ZERO),
    NOT_FLOATING,
    doc="Return the inverse hyperbolic sine of ``x``.",
)
arccosh = elementwise(
    "arccosh",
    lambda x: e.call("arccosh", x),
    lambda g, y, x: g / (sqrt(x - 1.0) * sqrt(x + 1.0)),
    unary(random_floats(23, low=1.1, high=4.0)),
    NOT_FLOATING,
    doc="Return the inverse hyperbolic cosine of ``x``; NaN below 1.",
)
arctanh = elementwise(
    "arctanh",
    lambda x: e.call("arctanh", x),
    lambda g, y, x: g / (1.0 - square(x)),
    (*_WITHIN_ONE, _NEAR_ZERO),
    NOT_FLOATING,
    doc="Return the inverse hyperbolic tangent of ``x``; NaN outside -1 to 1.",
)

erf = elementwise(
    "erf",
    lambda x: e.call("erf", x),
    lambda g, y, x: g * exp(-square(x)) * (2.0 / math.sqrt(math.pi)),
    (*unary(), _NEAR_ZERO),
    NOT_FLOATING,
    doc="Return the error function of ``x``: ``2 / sqrt(pi)`` times the integral of "
    "``exp(-t * t)`` from 0 to ``x``.",
)
