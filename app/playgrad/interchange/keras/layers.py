"""The layers that playgrad and Keras have in common, and how Keras describes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from playgrad.errors import ExportError
from playgrad.nn import constraints, initializers, regularizers
from playgrad.nn.layer import record_of

ACTIVATIONS = frozenset({
    "elu", "exponential", "gelu", "hard_sigmoid", "hard_silu", "hard_tanh", "linear", "log_sigmoid",
    "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softplus",
    "softsign", "tanh",
})  # fmt: skip
"""Activations that have the same name and meaning in Keras."""
PARTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "_initializer": ("keras.initializers", initializers.get),
    "_regularizer": ("keras.regularizers", regularizers.get),
    "_constraint": ("keras.constraints", constraints.get),
}
"""Module and reading function of arguments by the endings of their names."""
_OWN = {
    "name",
    "causal",
    "data_format",
    "synchronized",
    "use_cudnn",
    "flash_attention",
    "attention_axes",
}
"""Arguments that decide nothing in Keras, or that calls have there."""


def keras_layer(kind: str, name: str, config: Mapping[str, Any], rank: int) -> dict[str, Any]:
    """Return the description of a layer in a Keras file.

    Args:
        rank: the rank of its first input.

    Raises:
        ExportError: Keras has no equivalent of the layer or of an argument.
    """
    class_name = record_of(kind).keras
    if not class_name:
        raise ExportError(
            f"layer '{name}': Keras has no equivalent of a layer of kind '{kind}'.",
            hint="Export the model as ONNX, which has its operations.",
        )
    kept: dict[str, Any] = {"name": name}
    for key, value in config.items():
        if key in _OWN and value != "channels_first":
            continue
        if key.endswith("activation") and value is not None and value not in ACTIVATIONS:
            raise ExportError(f"layer '{name}': Keras has no activation {value!r}.")
        kept[key] = _part(key, value, name)
        if isinstance(value, Mapping) and "config" in value:  # the layer within a wrapper
            inner = rank - 1 if kind == "time_distributed" else rank
            kept[key] = keras_layer(value["kind"], f"{name}_{key}", value["config"], inner)
    if kind == "normalization" and kept["mean"] is None:
        # Statistics of `adapt` are weights in both libraries.
        del kept["mean"], kept["variance"]
    if kind == "prelu" and kept["shared_axes"]:
        # Keras does not count them from the end.
        kept["shared_axes"] = [axis % rank for axis in kept["shared_axes"]]
    if kind in ("layer_normalization", "rms_normalization") and isinstance(kept["axis"], list):
        # The weights of Keras have the axes in this order.
        kept["axis"] = sorted(axis % rank for axis in kept["axis"])
    return described("keras.layers", class_name, kept)


def _part(key: str, value: Any, layer: str) -> Any:
    """Return an argument, as Keras describes it if it is an initializer or the like.

    Raises:
        ExportError: its class is one of the program.
    """
    for ending, (module, get) in PARTS.items():
        if value is not None and key.endswith(ending):
            part = get(value)
            if not type(part).__module__.startswith("playgrad."):
                raise ExportError(f"layer '{layer}': Keras has no {key} {type(part).__name__}.")
            arguments = {name: each for name, each in part.config().items() if name != "kind"}
            return described(module, type(part).__name__, arguments)
    return value


def described(module: str, class_name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as Keras serializes it."""
    return {
        "module": module,
        "class_name": class_name,
        "config": dict(config),
        "registered_name": None,
    }


def snake_case(name: str) -> str:
    """Return the name of a class as Keras writes it in the paths of weights."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
