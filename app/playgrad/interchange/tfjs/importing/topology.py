"""`keras_description`: the topology of a layers model as a file of Keras 3 describes it.

TensorFlow.js writes the format of Keras 2, in which places of tensors are lists, or of Keras 3 if
the converter took a file of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.errors import CheckpointError
from playgrad.interchange.tfjs.importing.file import DAMAGED, listed, mapped

_MODELS = ("Functional", "Model", "Sequential")
_NAMES = {"swish": "silu", "hard_sigmoid": "keras2_hard_sigmoid"}
"""Activations by TensorFlow.js' names, where they differ. Its hard sigmoid is that of Keras 2."""
_RENAMED = {("LeakyReLU", "alpha"): "negative_slope"}
_DROPPED = ("dtype", "batch_input_shape", "input_length", "implementation", "unroll")
"""Arguments of layers that have no effect here."""
_MODULES = {"_regularizer": "keras.regularizers", "_constraint": "keras.constraints"}
_RECURRENT = ("SimpleRNN", "LSTM", "GRU", "Bidirectional")


def keras_description(topology: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a model for the reader of Keras 3.

    Initializers are left out: the weights are in the file.

    Raises:
        CheckpointError: the topology is damaged, or computes what playgrad would compute otherwise.
    """
    return _model(mapped(topology.get("model_config", topology)))


def _model(data: Mapping[str, Any]) -> dict[str, Any]:
    class_name, config = data.get("class_name"), data.get("config")
    if isinstance(config, list):  # Sequential of early releases
        config = {"name": data.get("name", "sequential"), "layers": config}
    if class_name not in _MODELS or not isinstance(config, Mapping):
        raise CheckpointError(f"the TensorFlow.js file has a model of class {class_name!s:.80}.")
    layers = [mapped(each) for each in listed(config.get("layers"))]
    chains = {_name(each) for each in layers if each.get("class_name") == "Sequential"}
    described = {**config, "layers": [_member(each, chains) for each in layers]}
    if isinstance(config.get("output_layers"), list):
        described["output_layers"] = _places(config["output_layers"], layers, chains)
    if class_name == "Sequential":
        described["layers"] = [*_first_input(layers), *described["layers"]]
    return _object("keras", str(class_name), described)


def _member(data: Mapping[str, Any], chains: set[str]) -> dict[str, Any]:
    class_name = str(data.get("class_name"))
    if class_name in _MODELS:
        described = _model(data)
    elif class_name == "InputLayer":
        described = _object("keras.layers", class_name, mapped(data.get("config")))
    else:
        described = _layer(data)
    nodes = listed(data.get("inbound_nodes", []))
    described["inbound_nodes"] = [_node(each, class_name, chains) for each in nodes]
    return {**described, "name": _name(data)}


def _node(node: Any, class_name: str, chains: set[str]) -> Any:
    """Return a call with the places of its tensors as in Keras 3."""
    if not isinstance(node, list):  # it is one of Keras 3
        return node
    options: dict[str, Any] = {}
    tensors = []
    for place in node:
        parts = listed(place)
        if len(parts) not in (3, 4):
            raise CheckpointError(f"{DAMAGED}: a layer is called with {str(place)[:80]}.")
        options |= mapped(parts[3]) if len(parts) == 4 and parts[3] else {}
        history = _shifted(parts[:3], chains)
        tensors.append(_object("", "__keras_tensor__", {"keras_history": history}))
    if class_name in _RECURRENT and len(tensors) > 1:
        raise CheckpointError(
            f"the TensorFlow.js file calls a layer {class_name} with an initial state, which is "
            "not read."
        )
    return {"args": tensors if len(tensors) == 1 else [tensors], "kwargs": options}


def _places(value: list[Any], layers: list[Mapping[str, Any]], chains: set[str]) -> list[Any]:
    """Return the results of a model, counted as in Keras 3."""
    nodes = [node for each in layers for node in listed(each.get("inbound_nodes", []))]
    if any(not isinstance(node, list) for node in nodes):  # they are
        return value
    several = value if not value or isinstance(value[0], list) else [value]
    return [_shifted(listed(place), chains) for place in several]


def _shifted(place: list[Any], chains: set[str]) -> list[Any]:
    """Keras 2 counts the call that made a Sequential among its calls, Keras 3 does not."""
    is_later = len(place) == 3 and type(place[1]) is int and place[1] > 0
    if is_later and isinstance(place[0], str) and place[0] in chains:
        return [place[0], place[1] - 1, place[2]]
    return place


def _layer(data: Mapping[str, Any]) -> dict[str, Any]:
    class_name, config = str(data.get("class_name")), mapped(data.get("config"))
    kept: dict[str, Any] = {}
    for key, value in config.items():
        if key.endswith("activation"):
            kept[key] = _activation(value)
        elif _has_no_effect(key, value):
            continue
        elif key in ("layer", "backward_layer"):
            kept[key] = _layer(mapped(value))
        else:
            kept[_RENAMED.get((class_name, key), key)] = _argument(key, value)
    if class_name == "GRU":
        kept.setdefault("reset_after", False)
    if class_name == "UpSampling2D" and kept.get("interpolation", "nearest") != "nearest":
        raise CheckpointError(
            f"layer '{_name(data)[:80]}': TensorFlow.js places the pixels of its interpolation "
            "otherwise than playgrad.",
            hint="UpSampling2D with interpolation 'nearest' is read.",
        )
    return _object("keras.layers", class_name, kept)


def _has_no_effect(key: str, value: Any) -> bool:
    is_neutral = value is None or (key, value) == ("groups", 1)  # in all convolutions of Keras 2
    return is_neutral or key in _DROPPED or key.endswith("_initializer")


def _activation(value: Any) -> Any:
    if isinstance(value, Mapping):
        value = value.get("class_name")
    return "linear" if value is None else _NAMES.get(str(value), value)


def _argument(key: str, value: Any) -> Any:
    if key == "target_shape" and isinstance(value, list):
        return [-1 if size is None else size for size in value]
    for ending, module in _MODULES.items():
        if key.endswith(ending) and isinstance(value, Mapping):
            config = mapped(value.get("config"))
            arguments = {k: v for k, v in config.items() if k not in ("has_l1", "has_l2")}
            return _object(module, str(value.get("class_name")), arguments)
    return value


def _first_input(layers: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the input of a Sequential whose first layer has its shape."""
    if not layers or layers[0].get("class_name") == "InputLayer":
        return []
    first = layers[0]
    while first.get("class_name") in _MODELS:
        config = first.get("config")
        inner = listed(config.get("layers") if isinstance(config, Mapping) else config)
        if not inner:
            return []
        first = mapped(inner[0])
    config = mapped(first.get("config"))
    shape = config.get("batch_input_shape") or config.get("batch_shape")
    if shape is None:
        return []
    is_index = first.get("class_name") == "Embedding"
    dtype = "int32" if is_index else config.get("dtype") or "float32"
    name = f"{_name(layers[0])}_input"
    config = {"batch_shape": shape, "dtype": dtype, "name": name}
    return [_object("keras.layers", "InputLayer", config)]


def _object(module: str, class_name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    return {"module": module, "class_name": class_name, "config": dict(config)}


def _name(data: Mapping[str, Any]) -> str:
    config = data.get("config")
    return str(data.get("name") or (config.get("name") if isinstance(config, Mapping) else None))
