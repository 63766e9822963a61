"""`keras_bytes`: networks as files of Keras 3."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import ExportError
from playgrad.graph.source import warn_user
from playgrad.interchange.keras.compiling import compile_config, optimizer_variables
from playgrad.interchange.keras.graph import CallGraph, KerasCall
from playgrad.interchange.keras.layers import CLASSES, described, keras_layer
from playgrad.interchange.keras.weights import Stored, stored
from playgrad.interchange.settings import CompileSettings
from playgrad.io.hdf5.writer import Tree, hdf5_bytes

Array = np.ndarray[Any, Any]
VERSION = "3.15.1"
"""Of Keras, as in the tests."""


def keras_bytes(
    architecture: Mapping[str, Any],
    weights: Mapping[str, Array],
    settings: CompileSettings | None = None,
) -> bytes:
    """Return the content of a ``.keras`` file.

    Args:
        architecture: the network as ``model.layer_graph`` describes it.
        weights: the arrays by layer and name, such as ``dense_1/kernel``.
        settings: those of training; None for none. If Keras has no equivalent, they are left out
            with a warning.

    Raises:
        ExportError: Keras has no equivalent of a layer.
    """
    graph = CallGraph(architecture)
    order = graph.layers()
    config = {
        "name": architecture["name"],
        "layers": [_layer(graph, call) for call in order],
        "input_layers": _one_or_list([graph.place(t) for t in architecture["inputs"]]),
        "output_layers": _one_or_list([graph.place(t) for t in architecture["outputs"]]),
    }
    model = described("keras.src.models.functional", "Functional", config)
    compiled = _compiled(settings)
    groups = _groups(graph, order, weights)
    if settings is not None and compiled is not None:
        model["compile_config"] = compiled
        trained = {name: weights[name] for name in weights if name in settings.trained}
        arrays = [a for each in _groups(graph, order, trained).values() for a in each]
        groups["optimizer/vars"] = optimizer_variables(settings, arrays)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": VERSION}))
        archive.writestr("config.json", json.dumps(model))
        archive.writestr("model.weights.h5", hdf5_bytes(_tree(groups)))
    return file.getvalue()


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
    name = graph.name(call)
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


def _groups(graph: CallGraph, order: Sequence[KerasCall], weights: Mapping[str, Array]) -> Stored:
    """Return the arrays by the paths of their groups, which are called after classes of layers."""
    groups: Stored = {}
    seen: dict[str, int] = {}
    for call in order:
        data = None if call.layer is None else graph.config["layers"][call.layer]
        path = _snake_case("InputLayer" if data is None else CLASSES[data["kind"]])
        count = seen[path] = seen.get(path, -1) + 1
        group = f"layers/{path}_{count}" if count else f"layers/{path}"
        groups[f"{group}/vars"] = []
        if data is not None:
            prefix = f"{graph.name(call)}/"
            own = {k.removeprefix(prefix): a for k, a in weights.items() if k.startswith(prefix)}
            for place, arrays in stored(data["kind"], data["config"], own).items():
                groups[f"{group}/{place}"] = arrays
    return groups


def _tree(groups: Stored) -> Tree:
    """Return the groups in each other, with their arrays by number."""
    root: dict[str, Any] = {"vars": {}}
    for path, arrays in groups.items():
        group = root
        for name in path.split("/"):
            group = group.setdefault(name, {})
        group.update((str(number), array) for number, array in enumerate(arrays))
    return root


def _snake_case(name: str) -> str:
    """Return the name of a class as Keras writes it in the paths of weights."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
