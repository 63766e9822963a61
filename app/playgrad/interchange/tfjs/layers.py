"""The layers that playgrad and TensorFlow.js have in common, and how its files describe them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.errors import ExportError
from playgrad.interchange.keras.layers import PARTS
from playgrad.nn.layer import layer_type, record_of

Shape = list[int | None]
_RENAMED = {"negative_slope": "alpha"}
_WITHOUT_EFFECT = frozenset({"name", "seed", "unit_forget_bias", "trainable", "synchronized"})
"""Arguments that a prediction of trained weights does not depend on."""
_NEUTRAL = (("data_format", "channels_last"), ("use_cudnn", False), ("unroll", True))
"""Arguments and values that change no result, beside the defaults."""
_ACTIVATIONS = {
    name: name
    for name in (
        "elu", "gelu", "linear", "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid",
        "softmax", "softplus", "softsign", "tanh",
    )
} | {"silu": "swish", "keras2_hard_sigmoid": "hard_sigmoid"}  # fmt: skip
"""TensorFlow.js' names of activations."""
_WEIGHTS = {"depthwise_conv2d": {"kernel": "depthwise_kernel"}}
"""Its names of weights, where they differ."""


def tfjs_layer(
    kind: str, name: str, config: Mapping[str, Any], shape: Shape, result: Shape
) -> dict[str, Any]:
    """Return class and configuration of a layer as in a file of TensorFlow.js.

    Initializers, regularizers and constraints are left out.

    Args:
        shape, result: the shapes of its first input and of its result, with the batch.

    Raises:
        ExportError: TensorFlow.js has no equivalent of the layer or of an argument.
    """
    if kind == "flatten" and len(shape) < 3:  # where TensorFlow.js takes sequences and images only
        kind, config = "reshape", {"name": name, "target_shape": result[1:]}
    record = record_of(kind)
    if record.tfjs is None:
        raise ExportError(
            f"layer '{name}': TensorFlow.js has no equivalent of a layer of kind '{kind}'.",
            hint="Export the model as a page, which runs in any browser.",
        )
    taken = record.tfjs.split()
    defaults = inspect.signature(layer_type(kind).__init__).parameters
    kept: dict[str, Any] = {"name": name, "trainable": config.get("trainable", True)}
    for key, value in config.items():
        if key in taken:
            kept[_RENAMED.get(key, key)] = _argument(kind, key, value, name, shape, result)
        elif not _is_neutral(key, value, defaults):
            raise ExportError(f"layer '{name}': TensorFlow.js has no {key}={value!r}.")
    difference = _difference(kind, config, len(shape))
    if difference:
        raise ExportError(f"layer '{name}': TensorFlow.js has no {difference}.")
    return {"class_name": record.keras, "config": kept}


def _is_neutral(key: str, value: Any, defaults: Mapping[str, inspect.Parameter]) -> bool:
    """Return whether a prediction is the same without an argument."""
    return (
        key in _WITHOUT_EFFECT
        or key.endswith(tuple(PARTS))
        or (key, value) in _NEUTRAL
        or value == _plain(defaults[key].default)
    )


def _difference(kind: str, config: Mapping[str, Any], rank: int) -> str | None:
    """Return an argument that TensorFlow.js takes, but cannot compute, or computes otherwise."""
    if kind == "conv1d" and config["padding"] == "causal":
        return "padding='causal'"
    if kind == "up_sampling2d" and config["interpolation"] == "bilinear":
        return "interpolation='bilinear' with the pixels of Keras 3"
    if kind == "batch_normalization" and config["axis"] % rank != rank - 1:
        return f"axis={config['axis']} for batch normalization"
    if kind == "dot" and isinstance(config["axes"], list) and min(config["axes"]) < 0:
        return f"axes={config['axes']} that are counted from the end"
    if kind == "softmax" and config["axis"] % rank != rank - 1:
        return f"axis={config['axis']} for softmax"
    if kind == "gru" and config["reset_after"]:
        return "GRU with reset_after (nn.GRU(..., reset_after=False) has an equivalent)"
    return None


def _argument(kind: str, key: str, value: Any, layer: str, shape: Shape, result: Shape) -> Any:
    rank = len(shape)
    if key.endswith("activation") and value is not None:
        if value not in _ACTIVATIONS:
            raise ExportError(f"layer '{layer}': TensorFlow.js has no activation {value!r}.")
        return _ACTIVATIONS[value]
    if key == "layer":  # within a wrapper
        if kind == "time_distributed":
            shape, result = [shape[0], *shape[2:]], [result[0], *result[2:]]
        return tfjs_layer(value["kind"], f"{layer}_layer", value["config"], shape, result)
    if key == "target_shape" and None not in result[1:]:
        return result[1:]  # TensorFlow.js does not compute the size that -1 leaves open
    if key == "shared_axes" and value:
        return [axis % rank for axis in value]
    if key == "axis" and isinstance(value, Sequence):
        return sorted(axis % rank for axis in value)  # the order of the axes of its weights
    return value


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def weight_name(kind: str, config: Mapping[str, Any], layer: str, name: str) -> str:
    """Return TensorFlow.js' name of a weight.

    Args:
        kind, config: the kind and config of its layer.
        layer, name: the names of the layer and of the weight in it.
    """
    if kind == "bidirectional":
        part, _, inner = name.partition("/")
        return f"{layer}/{part}_{layer}_layer/{inner}"
    if kind == "time_distributed":
        inner = config["layer"]
        name = name.removeprefix("layer/")
        return f"{layer}/{_WEIGHTS.get(inner['kind'], {}).get(name, name)}"
    return f"{layer}/{_WEIGHTS.get(kind, {}).get(name, name)}"
