"""Activation functions by name."""

from __future__ import annotations

from collections.abc import Callable

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise import activations as elementwise
from playgrad.ops.elementwise.definitions import clip, exp
from playgrad.ops.reductions.softmax import log_softmax, softmax

Activation = Callable[[Tensor], Tensor]


def linear(x: Tensor) -> Tensor:
    """Return ``x``."""
    return x


def keras2_hard_sigmoid(x: Tensor) -> Tensor:
    """Return ``clip(0.2 * x + 0.5, 0, 1)``, the hard sigmoid of Keras 2 and TensorFlow.js."""
    return clip(x * 0.2 + 0.5, 0.0, 1.0)


BY_NAME: dict[str, Activation] = {
    "linear": linear,
    "relu": elementwise.relu,
    "relu6": elementwise.relu6,
    "leaky_relu": elementwise.leaky_relu,
    "elu": elementwise.elu,
    "celu": elementwise.celu,
    "selu": elementwise.selu,
    "gelu": elementwise.gelu,
    "silu": elementwise.silu,
    "swish": elementwise.silu,
    "hard_silu": elementwise.hard_silu,
    "hard_swish": elementwise.hard_silu,
    "mish": elementwise.mish,
    "sigmoid": elementwise.sigmoid,
    "hard_sigmoid": elementwise.hard_sigmoid,
    "keras2_hard_sigmoid": keras2_hard_sigmoid,
    "log_sigmoid": elementwise.log_sigmoid,
    "tanh": elementwise.tanh,
    "hard_tanh": elementwise.hard_tanh,
    "softplus": elementwise.softplus,
    "softsign": elementwise.softsign,
    "exponential": exp,
    "softmax": softmax,
    "log_softmax": log_softmax,
}

_LAYERS = {"prelu": "PReLU", "rrelu": "RReLU"}
"""Activations that are layers."""


def get(value: str | Activation | None) -> Activation:
    """Return the activation called ``value``; None means ``linear``. A function is returned as is.

    Raises:
        GraphError: there is no activation of that name.
    """
    if value is None:
        return linear
    if callable(value):
        return value
    if isinstance(value, str) and value in _LAYERS:
        raise GraphError(
            f"{value!r} is not a function: it has weights or random numbers of its own.",
            hint=f"Leave out the activation, and put nn.{_LAYERS[value]}() after the layer.",
        )
    if not isinstance(value, str) or value not in BY_NAME:
        raise GraphError(
            f"there is no activation {value!r}.", hint=f"Use one of: {', '.join(BY_NAME)}."
        )
    return BY_NAME[value]
