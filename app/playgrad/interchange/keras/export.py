"""`keras_bytes`: networks as files of Keras 3."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.data.input_description import InputDescription
from playgrad.errors import ExportError
from playgrad.graph.source import warn_user
from playgrad.interchange.keras.compiling import compile_config, optimizer_variables
from playgrad.interchange.keras.graph import CallGraph, KerasCall
from playgrad.interchange.keras.importing.file import INPUT
from playgrad.interchange.keras.layers import described, keras_layer
from playgrad.io.hdf5.writer import hdf5_bytes
from playgrad.networks.compile_settings import CompileSettings

Array = np.ndarray[Any, Any]
VERSION = "3.15.1"
"""The version of Keras that the tests use."""


def keras_bytes(
    architecture: Mapping[str, Any],
    weights: Mapping[str, Array],
    settings: CompileSettings | None = None,
    pixels: InputDescription | None = None,
) -> bytes:
    """Return the content of a ``.keras`` file.

    Args:
        architecture: the network as ``model.layer_graph`` describes it.
        weights: the arrays by layer and name, such as ``dense_1/kernel``.
        settings: the arguments of `compile`; None for none. If Keras has no equivalent, they are
            left out with a warning.
        pixels: how a picture becomes the input, if it is known.

    Raises:
        ExportError: Keras has no equivalent of a layer.
    """
    graph = CallGraph(architecture, without=".")
    order = graph.layers()
    config = {
        "name": architecture["name"],
        "layers": [_layer(graph, call) for call in order],
        "input_layers": _one_or_list([graph.place(t) for t in architecture["inputs"]]),
        "output_layers": _one_or_list([graph.place(t) for t in architecture["outputs"]]),
    }
    model = described("keras.src.models.functional", "Functional", config)
    compiled = _compiled(settings)
    tree = _tree(graph, order, weights)
    shapes = {name: array.shape for name, array in weights.items()}
    if settings is not None and compiled is not None:
        model["compile_config"] = compiled
        trained = [
            weights[name].reshape(shape)
            for name, (_, shape) in graph.weight_places(order, shapes).items()
            if name in settings.trained
        ]
        variables = optimizer_variables(settings, trained)
        tree["optimizer"] = {"vars": {str(n): array for n, array in enumerate(variables)}}
    if graph.renamed:
        names = ", ".join(f"'{name}' is '{other}'" for name, other in graph.renamed.items())
        warn_user(
            f"In the Keras file, {names}: Keras with PyTorch takes no dots in names of layers."
        )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": VERSION}))
        archive.writestr("config.json", json.dumps(model))
        archive.writestr("model.weights.h5", hdf5_bytes(tree))
        if pixels is not None:
            archive.writestr(INPUT, pixels.to_json())  # Keras ignores other members
    return file.getvalue()


def keras_weights_bytes(architecture: Mapping[str, Any], weights: Mapping[str, Array]) -> bytes:
    """Return the content of a ``.weights.h5`` file; the arguments are as in `keras_bytes`."""
    graph = CallGraph(architecture, without=".")
    return hdf5_bytes(_tree(graph, graph.layers(), weights))


def _one_or_list(places: list[Any]) -> list[Any]:
    """Return what a model of Keras takes, or returns: a list only if there are several."""
    return places if len(places) > 1 else places[0]


def _compiled(settings: CompileSettings | None) -> dict[str, Any] | None:
    try:
        return None if settings is None else compile_config(settings)
    except ExportError as error:
        warn_user(f"The Keras file has no compile settings: {error.message}")
        return None


def _layer(graph: CallGraph, call: KerasCall) -> dict[str, Any]:
    name = graph.name_in_file(call)
    if call.layer is None:
        config = {
            "batch_shape": call.options["shape"],
            "dtype": call.options["dtype"],
            "name": name,
        }
        layer = described("keras.layers", "InputLayer", config)
        return {**layer, "name": name, "inbound_nodes": []}
    data = graph.config["layers"][call.layer]
    nodes = [
        {"args": graph.arguments(each), "kwargs": each.options}
        for each in graph.calls
        if each.layer == call.layer
    ]
    rank = len(graph.config["tensors"][call.inputs[0]][0])
    layer = keras_layer(data["kind"], name, data["config"], rank)
    return {**layer, "name": name, "inbound_nodes": nodes}


def _tree(
    graph: CallGraph, order: Sequence[KerasCall], weights: Mapping[str, Array]
) -> dict[str, Any]:
    """Return the weights in the groups of Keras."""
    root: dict[str, Any] = {"vars": {}}
    shapes = {name: array.shape for name, array in weights.items()}
    places = graph.weight_places(order, shapes)
    paths = [f"{group}/vars" for group in graph.groups(order).values()]
    for path in [*paths, *(path.rpartition("/")[0] for path, _ in places.values())]:
        _group(root, path)
    for name, (path, shape) in places.items():
        group, _, number = path.rpartition("/")
        _group(root, group)[number] = weights[name].reshape(shape)
    for group, call in zip(graph.groups(order).values(), order, strict=True):
        variables = _group(root, f"{group}/vars")
        if variables and graph.kind(call) == "normalization":
            variables["2"] = np.zeros((), np.int32)  # the number of samples
    return root


def _group(root: dict[str, Any], path: str) -> dict[str, Any]:
    for name in path.split("/"):
        root = root.setdefault(name, {})
    return root
