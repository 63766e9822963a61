"""Activation functions, each written once as an expression like all elementwise operations."""

from __future__ import annotations

import math
from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import as_tensor
from playgrad.ops.elementwise.definitions import square, where
from playgrad.ops.elementwise.elementwise_op import elementwise
from playgrad.ops.elementwise.samples import FAR, KINKED, unary
from playgrad.ops.expression import expr as e

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
# Written so that exp never overflows: its argument is never positive.
sigmoid = elementwise(
    "sigmoid",
    lambda x: e.where(x < 0.0, e.exp(-e.absolute(x)), 1.0) / (1.0 + e.exp(-e.absolute(x))),
    lambda g, y, x: g * y * (1.0 - y),
    (*unary(), FAR),
    doc="Return the logistic function ``1 / (1 + exp(-x))``.",
)
softplus = elementwise(
    "softplus",
    lambda x: e.where(x < 0.0, 0.0, x) + e.log(1.0 + e.exp(-e.absolute(x))),
    lambda g, y, x: g * sigmoid(x),
    unary(),
    doc="Return ``log(1 + exp(x))``, a smooth rectifier.",
)
silu = elementwise(
    "silu",
    lambda x: x * e.where(x < 0.0, e.exp(-e.absolute(x)), 1.0) / (1.0 + e.exp(-e.absolute(x))),
    lambda g, y, x: g * (sigmoid(x) + y * (1.0 - sigmoid(x))),
    unary(),
    doc="Return the sigmoid linear unit ``x * sigmoid(x)``, or swish.",
)
elu = elementwise(
    "elu",
    lambda x: e.where(x < 0.0, e.exp(x) - 1.0, x),
    lambda g, y, x: where(x < 0.0, g * (y + 1.0), g),
    KINKED,
    doc="Return the exponential linear unit: ``x`` where positive, else ``exp(x) - 1``.",
)
_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805
selu = elementwise(
    "selu",
    lambda x: e.where(x < 0.0, (e.exp(x) - 1.0) * _ALPHA, x) * _SCALE,
    lambda g, y, x: where(x < 0.0, g * (y + _ALPHA * _SCALE), g * _SCALE),
    KINKED,
    doc="Return the scaled exponential linear unit of ``x`` (Klambauer et al. 2017).",
)
_GELU = math.sqrt(2.0 / math.pi)
gelu = elementwise(
    "gelu",
    lambda x: 0.5 * x * (1.0 + e.tanh(_GELU * (x + 0.044715 * (x * x * x)))),
    lambda g, y, x: g * _gelu_derivative(x),
    unary(),
    doc="Return the Gaussian error linear unit of ``x``, tanh form (Hendrycks and Gimpel 2016).",
)


def _gelu_derivative(x: Tensor) -> Tensor:
    t = tanh((x + square(x) * x * 0.044715) * _GELU)
    inner = (square(x) * (3 * 0.044715) + 1.0) * _GELU
    return (t + 1.0) * 0.5 + x * 0.5 * (1.0 - square(t)) * inner


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
