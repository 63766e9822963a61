"""`keras_bytes`: sequential networks as files of Keras 3."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.errors import ExportError
from playgrad.interchange.keras.layers import RECURRENT, keras_layer

Array = np.ndarray[Any, Any]


def keras_bytes(
    architecture: Mapping[str, Any], names: list[str], weights: Mapping[str, Array]
) -> bytes:
    """Return the content of a ``.keras`` file.

    Args:
        architecture: the description that ``model.to_json`` gives.
        names: the names of the layers.
        weights: the arrays by layer and name, such as ``dense_1/kernel``.

    Raises:
        ExportError: Keras has no equivalent of the model, or h5py is not installed.
    """
    if architecture["class_name"] != "Sequential":
        raise ExportError(
            "only Sequential models have an equivalent in the Keras files of playgrad.",
            hint="Export the model as ONNX, or build it as a Sequential.",
        )
    config = architecture["config"]
    build = config["build"]
    layers = [
        keras_layer(layer["kind"], name, layer["config"])
        for name, layer in zip(names, config["layers"], strict=True)
    ]
    shape = [build["batch_size"], *build["sample_shape"]]
    first = {"batch_shape": shape, "dtype": build["dtype"], "name": "input"}
    source = {
        "module": "keras.layers",
        "class_name": "InputLayer",
        "config": first,
        "registered_name": None,
    }
    model = {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": config["name"], "layers": [source, *layers]},
        "registered_name": None,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": "3.15.1"}))
        archive.writestr("config.json", json.dumps(model))
        archive.writestr("model.weights.h5", _weights(layers, weights))
    return file.getvalue()


def _weights(layers: list[dict[str, Any]], weights: Mapping[str, Array]) -> bytes:
    try:
        import h5py  # type: ignore[import-untyped]
    except ImportError as error:
        raise ExportError(
            "Keras files need h5py, which is not installed.",
            hint='Install it: pip install "playgrad[keras]"',
        ) from error
    file = io.BytesIO()
    seen: dict[str, int] = {}
    with h5py.File(file, "w") as store:
        store.create_group("vars")
        for layer in layers:
            kind, name = layer["class_name"], layer["config"]["name"]
            path = _snake_case(kind)
            count = seen[path] = seen.get(path, -1) + 1
            path = f"layers/{path}_{count}" if count else f"layers/{path}"
            group = store.create_group(f"{path}/cell/vars" if kind in RECURRENT else f"{path}/vars")
            own = [array for key, array in weights.items() if key.startswith(f"{name}/")]
            for index, array in enumerate(own):
                group[str(index)] = array
    return file.getvalue()


def _snake_case(name: str) -> str:
    """Return the name of a class as Keras writes it in the paths of weights."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
