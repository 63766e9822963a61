"""Activation functions by name."""

from __future__ import annotations

from collections.abc import Callable

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise import activations as elementwise
from playgrad.ops.reductions.softmax import log_softmax, softmax

Activation = Callable[[Tensor], Tensor]


def linear(x: Tensor) -> Tensor:
    """Return ``x``."""
    return x


BY_NAME: dict[str, Activation] = {
    "linear": linear,
    "relu": elementwise.relu,
    "leaky_relu": elementwise.leaky_relu,
    "elu": elementwise.elu,
    "selu": elementwise.selu,
    "gelu": elementwise.gelu,
    "silu": elementwise.silu,
    "sigmoid": elementwise.sigmoid,
    "tanh": elementwise.tanh,
    "softplus": elementwise.softplus,
    "softmax": softmax,
    "log_softmax": log_softmax,
}


def get(value: str | Activation | None) -> Activation:
    """Return the activation called ``value``; None means ``linear``. A function is returned as is.

    Raises:
        GraphError: there is no activation of that name.
    """
    if value is None:
        return linear
    if callable(value):
        return value
    if not isinstance(value, str) or value not in BY_NAME:
        raise GraphError(
            f"there is no activation {value!r}.", hint=f"Use one of: {', '.join(BY_NAME)}."
        )
    return BY_NAME[value]
