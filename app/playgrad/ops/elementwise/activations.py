"""Activation functions, each written once as an expression like all elementwise operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import as_tensor
from playgrad.ops.elementwise.definitions import (
    absolute,
    clip,
    exp,
    greater,
    less,
    logical_and,
    minimum,
    square,
    where,
)
from playgrad.ops.elementwise.elementwise_op import elementwise
from playgrad.ops.elementwise.samples import FAR, KINKED, unary
from playgrad.ops.elementwise.transcendental import erf, expm1
from playgrad.ops.expression import expr as e
from playgrad.ops.expression.logistic import logistic

# On both sides of the kinks of the piecewise activations, and away from them.
_HARD = unary(np.linspace(-7.3, 7.1, 31, dtype=np.float32))

relu = elementwise(
    "relu",
    lambda x: e.where(x < 0.0, 0.0, x),
    lambda g, y, x: where(y > 0.0, g, 0.0),
    KINKED,
    doc="Return the rectified linear unit ``max(x, 0)``. Its derivative at 0 is 0.",
)
tanh = elementwise(
    "tanh",
    e.tanh,
    lambda g, y, x: g * (1.0 - square(y)),
    (*unary(), FAR),
    doc="Return the hyperbolic tangent of ``x``.",
)
sigmoid = elementwise(
    "sigmoid",
    logistic,
    lambda g, y, x: g * y * (1.0 - y),
    (*unary(), FAR),
    doc="Return the logistic function ``1 / (1 + exp(-x))``.",
)
softplus = elementwise(
    "softplus",
    lambda x: e.where(x < 0.0, 0.0, x) + e.log1p(e.exp(-e.absolute(x))),
    lambda g, y, x: g * sigmoid(x),
    (*unary(), FAR),
    doc="Return ``log(1 + exp(x))``, a smooth rectifier.",
)
log_sigmoid = elementwise(
    "log_sigmoid",
    lambda x: e.where(x < 0.0, x, 0.0) - e.log1p(e.exp(-e.absolute(x))),
    lambda g, y, x: g * sigmoid(-x),
    (*unary(), FAR),
    doc="Return ``log(sigmoid(x))``, finite where sigmoid rounds to 0.",
)
silu = elementwise(
    "silu",
    lambda x: x * e.where(x < 0.0, e.exp(-e.absolute(x)), 1.0) / (1.0 + e.exp(-e.absolute(x))),
    lambda g, y, x: g * (sigmoid(x) + y * (1.0 - sigmoid(x))),
    unary(),
    doc="Return the sigmoid linear unit ``x * sigmoid(x)``, or swish.",
)


def _mish(x: e.Expr) -> e.Expr:
    """Return mish with one exponential: tanh(softplus(x)) is a ratio of polynomials of exp."""
    small = e.exp(-e.absolute(x))
    upper, lower = 1.0 + 2.0 * small, small * (small + 2.0)
    return x * e.where(x < 0.0, lower / (lower + 2.0), upper / (upper + 2.0 * (small * small)))


mish = elementwise(
    "mish",
    _mish,
    lambda g, y, x: g * _mish_derivative(x),
    (*unary(), FAR),
    doc="Return ``x * tanh(softplus(x))``, a self-regularized activation (Misra 2019).",
)


def _mish_derivative(x: Tensor) -> Tensor:
    x = clip(x, -100.0, 100.0)  # from which on it is 0 or 1; that of larger numbers overflows
    t = tanh(softplus(x))
    return t + x * (1.0 - square(t)) * sigmoid(x)


softsign = elementwise(
    "softsign",
    lambda x: x / (1.0 + e.absolute(x)),
    lambda g, y, x: g / square(absolute(x) + 1.0),
    KINKED,
    doc="Return ``x / (1 + abs(x))``.",
)
relu6 = elementwise(
    "relu6",
    lambda x: e.where(x < 0.0, 0.0, e.where(x > 6.0, 6.0, x)),
    lambda g, y, x: where(logical_and(greater(x, 0.0), less(x, 6.0)), g, 0.0),
    _HARD,
    doc="Return ``min(max(x, 0), 6)``.",
)
hard_sigmoid = elementwise(
    "hard_sigmoid",
    lambda x: e.where(x < -3.0, 0.0, e.where(x > 3.0, 1.0, x / 6.0 + 0.5)),
    lambda g, y, x: where(logical_and(greater(x, -3.0), less(x, 3.0)), g / 6.0, 0.0),
    _HARD,
    doc="Return ``relu6(x + 3) / 6``, an approximation of the sigmoid by three lines.",
)
hard_silu = elementwise(
    "hard_silu",
    lambda x: e.where(x < -3.0, 0.0, e.where(x > 3.0, x, x * (x + 3.0) / 6.0)),
    lambda g, y, x: g * where(less(x, -3.0), 0.0, where(greater(x, 3.0), 1.0, x / 3.0 + 0.5)),
    _HARD,
    doc="Return ``x * hard_sigmoid(x)``, or hard swish (Howard et al. 2019).",
)
hard_tanh = elementwise(
    "hard_tanh",
    lambda x: e.where(x < -1.0, -1.0, e.where(x > 1.0, 1.0, x)),
    lambda g, y, x: where(logical_and(greater(x, -1.0), less(x, 1.0)), g, 0.0),
    _HARD,
    doc="Return ``x`` limited to the range from -1 to 1.",
)
_elu = elementwise(
    "elu",
    lambda x: e.where(x < 0.0, e.expm1(x), x),
    lambda g, y, x: where(x < 0.0, g * (y + 1.0), g),
    (*KINKED, FAR),
)
_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805
selu = elementwise(
    "selu",
    lambda x: e.where(x < 0.0, e.expm1(x) * _ALPHA, x) * _SCALE,
    lambda g, y, x: where(x < 0.0, g * (y + _ALPHA * _SCALE), g * _SCALE),
    KINKED,
    doc="Return the scaled exponential linear unit of ``x`` (Klambauer et al. 2017).",
)
_GELU = math.sqrt(2.0 / math.pi)
_gelu = elementwise(
    "gelu",
    lambda x: 0.5 * x * (1.0 + e.call("erf", x * math.sqrt(0.5))),
    lambda g, y, x: (
        g * ((erf(x * math.sqrt(0.5)) + 1.0) * 0.5 + x * exp(square(x) * -0.5) * (0.5 * _GELU))
    ),
    (*unary(), FAR),
)
_gelu_tanh = elementwise(
    "gelu_tanh",
    lambda x: 0.5 * x * (1.0 + e.tanh(_GELU * (x + 0.044715 * (x * x * x)))),
    lambda g, y, x: g * _gelu_tanh_derivative(x),
    unary(),
)


def _gelu_tanh_derivative(x: Tensor) -> Tensor:
    x = clip(x, -30.0, 30.0)  # from which on it is 0 or 1; the powers of larger numbers overflow
    t = tanh((x + square(x) * x * 0.044715) * _GELU)
    inner = (square(x) * (3 * 0.044715) + 1.0) * _GELU
    return (t + 1.0) * 0.5 + x * 0.5 * (1.0 - square(t)) * inner


def gelu(x: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """Return the Gaussian error linear unit of ``x`` (Hendrycks and Gimpel 2016).

    Args:
        x: a tensor of any shape; float32 or float64.
        approximate: compute the older approximation by tanh, which differs by up to 5e-4. The
            exact form is ``x / 2 * (1 + erf(x / sqrt(2)))``.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    return (_gelu_tanh if approximate else _gelu)(x, name=name)


def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """Return the exponential linear unit: ``x`` where positive, else ``alpha * (exp(x) - 1)``.

    Args:
        x: a tensor of any shape; float32 or float64.
        alpha: minus the limit for negative values.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    if alpha == 1.0:
        return _elu(x, name=name)
    return _exponential(as_tensor(x), alpha, 1.0, name)


def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """Return ``x`` where positive, else ``alpha * (exp(x / alpha) - 1)`` (Barron 2017).

    Args:
        x: a tensor of any shape; float32 or float64.
        alpha: minus the limit for negative values, positive. The derivative is continuous.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    return _exponential(as_tensor(x), alpha, 1.0 / alpha, name)


def _exponential(x: Tensor, alpha: float, rate: float, name: str | None) -> Tensor:
    """Return ``x`` where positive, else ``alpha * (exp(rate * x) - 1)``.

    The exponential is taken of 0 where it is not used: infinite, it would have the gradient NaN.
    """
    return where(x < 0.0, expm1(minimum(x, 0.0) * rate) * alpha, x, name=name)


def leaky_relu(x: Any, negative_slope: float = 0.2, name: str | None = None) -> Tensor:
    """Return ``x`` where positive, else ``negative_slope * x``.

    Args:
        x: a tensor of any shape; float32 or float64.
        negative_slope: the slope for negative values.

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    tensor = as_tensor(x)
    return where(tensor < 0.0, tensor * negative_slope, tensor, name=name)
