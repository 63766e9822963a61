"""`tfjs_bytes`: networks as layers models of TensorFlow.js."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.data.input_description import KEY, InputDescription
from playgrad.errors import ExportError
from playgrad.interchange.keras.graph import CallGraph, KerasCall
from playgrad.interchange.tfjs.layers import tfjs_layer, weight_name
from playgrad.interchange.tfjs.masks import expect_equal_masks

Array = np.ndarray[Any, Any]
_WEIGHTS = "weights.bin"
_DTYPES = {"float32": "float32", "bool": "bool"} | dict.fromkeys(
    ("int32", "uint8", "int8"), "int32"
)
"""TensorFlow.js' dtypes of inputs: it has none for bytes."""


def tfjs_bytes(
    architecture: Mapping[str, Any],
    weights: Mapping[str, Array],
    described: InputDescription | None = None,
) -> bytes:
    """Return the content of a zip file with ``model.json`` and the weights.

    Args:
        architecture: the network as ``model.layer_graph`` describes it.
        weights: the arrays by layer and name, such as ``dense_1/kernel``.
        described: how a picture becomes the input, if it is known.

    Raises:
        ExportError: TensorFlow.js has no equivalent of a layer.
    """
    graph = CallGraph(architecture)
    expect_equal_masks(graph)
    config = {
        "name": architecture["name"],
        "layers": [_layer(graph, call) for call in graph.layers()],
        "input_layers": [graph.place(tensor) for tensor in architecture["inputs"]],
        "output_layers": [graph.place(tensor) for tensor in architecture["outputs"]],
    }
    arrays = [np.ascontiguousarray(array, "<f4") for array in weights.values()]
    model: dict[str, Any] = {
        "format": "layers-model",
        "generatedBy": "playgrad",
        "convertedBy": None,
        "modelTopology": {
            "keras_version": "2.15.0",  # of the description of layers
            "backend": "tensorflow",
            "model_config": {"class_name": "Functional", "config": config},
        },
        "weightsManifest": [
            {
                "paths": [_WEIGHTS],
                "weights": [
                    {"name": name, "shape": list(array.shape), "dtype": "float32"}
                    for name, array in zip(_names(graph, weights), arrays, strict=True)
                ],
            }
        ],
    }
    if described is not None:
        model["userDefinedMetadata"] = {KEY: described.as_dict()}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model.json", json.dumps(model))
        archive.writestr(_WEIGHTS, b"".join(array.tobytes() for array in arrays))
    return file.getvalue()


def _layer(graph: CallGraph, call: KerasCall) -> dict[str, Any]:
    name = graph.name(call)
    if call.layer is None:
        if call.options["dtype"] not in _DTYPES:
            raise ExportError(f"TensorFlow.js has no inputs of {call.options['dtype']}: '{name}'.")
        config = {
            "batch_input_shape": call.options["shape"],
            "dtype": _DTYPES[call.options["dtype"]],
            "sparse": False,
            "name": name,
        }
        return {"class_name": "InputLayer", "config": config, "name": name, "inbound_nodes": []}
    data = graph.config["layers"][call.layer]
    calls = [each for each in graph.calls if each.layer == call.layer]
    nodes = [[[*graph.place(tensor), {}] for tensor in each.inputs] for each in calls]
    shape, result = (graph.config["tensors"][each[0]][0] for each in (call.inputs, call.outputs))
    if any(graph.config["tensors"][each.outputs[0]][0] != result for each in calls):
        result = [None] * len(result)
    layer = tfjs_layer(data["kind"], name, data["config"], shape, result)
    return {**layer, "name": name, "inbound_nodes": nodes}


def _names(graph: CallGraph, weights: Mapping[str, Array]) -> list[str]:
    layers = {layer["name"]: layer for layer in graph.config["layers"]}
    names = []
    for full in weights:
        owner, _, name = full.partition("/")
        names.append(weight_name(layers[owner]["kind"], layers[owner]["config"], owner, name))
    return names
