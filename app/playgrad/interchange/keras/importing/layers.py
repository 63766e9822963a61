"""Layers from their descriptions in files of Keras."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from playgrad.errors import CheckpointError, PlaygradError
from playgrad.interchange.keras.layers import ACTIVATIONS, PARTS, snake_case
from playgrad.nn.layer import RECORDED, Layer

_NEUTRAL: tuple[Any, ...] = (None, False, "channels_last", [1])
"""Values of arguments that playgrad does not have, which change nothing."""
_DEPENDENT = frozenset({"renorm_momentum"})
"""Arguments that do nothing where another one is neutral."""
_ACTIVATIONS = (*ACTIVATIONS, "keras2_hard_sigmoid")
"""Those of Keras 3, and one that only files of TensorFlow.js have."""
_OTHER_KINDS = {"L1L2": "l1_l2"}


def keras_class(data: Any, package: str) -> str:
    """Return the class of a serialized object of Keras itself.

    Args:
        package: the part of Keras that it must belong to, such as "layers"; "" for any.

    Raises:
        CheckpointError: the data is damaged, or describes an object of a program.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("class_name"), str):
        raise CheckpointError("the Keras file is damaged: an object has no class.")
    module = str(data.get("module")).split(".")
    if module[0] == "keras" and package and package not in module:
        raise CheckpointError(
            f"the Keras file has '{data['class_name'][:80]}' where playgrad does not read it."
        )
    if module[0] != "keras":
        raise CheckpointError(
            f"the Keras file has '{data['class_name'][:80]}', which is part of a program.",
            hint="Classes of Keras itself are read; nothing in a file is executed.",
        )
    return str(data["class_name"])


def keras_config(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a serialized object.

    Raises:
        CheckpointError: it has none.
    """
    config = data.get("config")
    if not isinstance(config, Mapping):
        raise CheckpointError("the Keras file is damaged: an object has no configuration.")
    return config


def read_layer(data: Any, name: str | None = None) -> Layer:
    """Return a new layer.

    Args:
        data: its description.
        name: its name, in place of that in the file.

    Raises:
        CheckpointError: playgrad does not have the layer or one of its arguments.
    """
    class_name = keras_class(data, "layers")
    config = keras_config(data)
    place = f"layer '{str(config.get('name'))[:80]}' ({class_name[:80]}) of the Keras file"
    kind = next((each for each in RECORDED.values() if each.record.keras == class_name), None)
    if kind is None:
        raise CheckpointError(
            f"{place}: playgrad has no such layer.",
            hint="It is a program, and nothing in a file is executed."
            if class_name == "Lambda"
            else None,
        )
    arguments = _arguments(config, {*inspect.signature(kind.__init__).parameters}, place)
    if name is not None:
        arguments["name"] = name
    try:
        return kind.from_config(arguments)
    except PlaygradError as error:
        raise CheckpointError(f"{place}: {error.message}", hint=error.hint) from None
    except Exception as error:  # constructors can raise anything for damaged data
        raise CheckpointError(
            f"{place} is damaged: {type(error).__name__} {str(error)[:200]}."
        ) from None


def _arguments(config: Mapping[str, Any], known: set[str], place: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for key, value in config.items():
        if key == "dtype":
            _expect_float32(value, place)
        elif key in known or key == "trainable":
            arguments[key] = _argument(key, value, place)
        elif value not in _NEUTRAL and key not in _DEPENDENT:
            raise CheckpointError(f"{place}: playgrad has no {key[:80]}={value!r:.80}.")
    return arguments


def _expect_float32(policy: Any, place: str) -> None:
    name = policy
    if isinstance(policy, Mapping):
        keras_class(policy, "")
        name = keras_config(policy).get("name")
    if name not in (None, "float32"):
        raise CheckpointError(f"{place} computes in {name!r:.40}, playgrad in float32.")


def _argument(key: str, value: Any, place: str) -> Any:
    is_object = isinstance(value, Mapping) and "class_name" in value
    for ending, (module, _) in PARTS.items():
        if key.endswith(ending) and is_object:
            class_name = keras_class(value, module.rpartition(".")[2])
            kind = _OTHER_KINDS.get(class_name) or snake_case(class_name)
            arguments = {k: v for k, v in keras_config(value).items() if v is not None}
            return {"kind": kind, **arguments}
    if key.endswith("activation") and (is_object or value not in (None, *_ACTIVATIONS)):
        raise CheckpointError(f"{place}: playgrad has no activation {value!r:.80}.")
    if key == "axis" and isinstance(value, list) and len(value) == 1:
        return value[0]
    return read_layer(value) if is_object else value
