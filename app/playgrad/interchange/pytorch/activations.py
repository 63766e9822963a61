"""Activations as expressions of PyTorch."""

from __future__ import annotations

from functools import partial
from typing import Any

from playgrad.nn import activations
from playgrad.ops.elementwise import activations as elementwise

EXPRESSIONS = {
    "linear": "{x}",
    "relu": "F.relu({x})",
    "relu6": "F.relu6({x})",
    "leaky_relu": "F.leaky_relu({x}, 0.2)",
    "elu": "F.elu({x})",
    "celu": "F.celu({x})",
    "selu": "F.selu({x})",
    "gelu": "F.gelu({x})",
    "silu": "F.silu({x})",
    "swish": "F.silu({x})",
    "hard_silu": "F.hardswish({x})",
    "hard_swish": "F.hardswish({x})",
    "mish": "F.mish({x})",
    "sigmoid": "torch.sigmoid({x})",
    "hard_sigmoid": "F.hardsigmoid({x})",
    "log_sigmoid": "F.logsigmoid({x})",
    "tanh": "torch.tanh({x})",
    "hard_tanh": "F.hardtanh({x})",
    "softplus": "F.softplus({x})",
    "softsign": "F.softsign({x})",
    "exponential": "torch.exp({x})",
    "softmax": "F.softmax({x}, dim={axis})",
    "log_softmax": "F.log_softmax({x}, dim={axis})",
}
"""Equivalents in PyTorch, by the names of `playgrad.nn.activations`."""

_GELU_TANH = 'F.gelu({x}, approximate="tanh")'


def activation_expression(activation: Any, x: str, axis: int) -> str | None:
    """Return the text of an activation applied to ``x``; None if it has no equivalent.

    Args:
        activation: the activation passed to the layer: a name, a function or None.
        axis: the axis of the channels.
    """
    name = activation or "linear"
    if isinstance(activation, partial) and activation.func is elementwise.gelu:
        if activation.args or set(activation.keywords) > {"approximate"}:
            return None
        approximate = activation.keywords.get("approximate", False)
        return (_GELU_TANH if approximate else EXPRESSIONS["gelu"]).format(x=x)
    if callable(activation):
        names = (n for n, function in activations.BY_NAME.items() if function is activation)
        name = next(names, None)
    return EXPRESSIONS[name].format(x=x, axis=axis) if name in EXPRESSIONS else None
