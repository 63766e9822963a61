"""Weights of Keras for the layers of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError, shape_text
from playgrad.graph.spec import TensorSpec
from playgrad.interchange.keras.graph import CallGraph
from playgrad.interchange.keras.weights import weight_places
from playgrad.io.hdf5.reader import Hdf5File
from playgrad.io.weights import check_match
from playgrad.nn.layer import Layer

Array = np.ndarray[Any, Any]
Places = Mapping[str, tuple[str, tuple[int, ...]]]
_SAME = "Load them into a model with the same layers, of the same sizes."


def weights_for_model(
    content: bytes, layer_graph: Mapping[str, Any], specs: Mapping[str, TensorSpec]
) -> dict[str, Array]:
    """Return the weights in a ``.weights.h5`` file by the names that they have in a model.

    As in Keras, layers are matched by their classes and their order, not by their names.

    Args:
        layer_graph, specs: of the model.

    Raises:
        CheckpointError: the file is damaged, or of another model.
        ExportError: Keras has no equivalent of the model.
    """
    graph = CallGraph(layer_graph)
    shapes = {name: spec.static_shape for name, spec in specs.items()}
    places = graph.weight_places(graph.layers(), shapes)
    return read_weights(Hdf5File(content), places, specs)


def weights_of_layers(file: Hdf5File, layers: Mapping[str, Layer]) -> dict[str, Array]:
    """Return the weights of layers by name, such as ``dense_1/kernel``.

    Args:
        layers: those that have been called, by the paths of their weights in the file.

    Raises:
        CheckpointError: the weights in the file do not fit the layers.
    """
    places: dict[str, tuple[str, tuple[int, ...]]] = {}
    specs: dict[str, TensorSpec] = {}
    for path, layer in layers.items():
        own = layer.weight_specs()
        shapes = {name: spec.static_shape for name, spec in own.items()}
        for name, (place, shape) in weight_places(layer.kind, layer.get_config(), shapes).items():
            places[f"{layer.name}/{name}"] = (f"{path}/{place}", shape)
            specs[f"{layer.name}/{name}"] = own[name]
    return read_weights(file, places, specs)


def read_weights(
    file: Hdf5File, places: Places, specs: Mapping[str, TensorSpec]
) -> dict[str, Array]:
    """Return the arrays at ``places``, in the shapes of ``specs``.

    Raises:
        CheckpointError: an array is missing, has another shape, or belongs to no weight.
    """
    for name, (path, shape) in places.items():
        if path not in file.entries:
            raise CheckpointError(
                f"the Keras file has no weight '{name}': '{path}' is missing.", hint=_SAME
            )
        if file.entries[path].shape != shape:
            raise CheckpointError(
                f"'{name}' has shape {shape_text(file.entries[path].shape)} in the Keras file, "
                f"but {shape_text(shape)} in the model.",
                hint=_SAME,
            )
    known = {path for path, _ in places.values()}
    for path in file.entries:
        if path.startswith("layers/") and path not in known and not _is_state(path):
            raise CheckpointError(f"the Keras file has '{path}', not in the model.", hint=_SAME)
    arrays = {
        name: file.read(path).reshape(specs[name].static_shape)
        for name, (path, _) in places.items()
    }
    return check_match(arrays, specs)


def _is_state(path: str) -> bool:
    """Return whether an array is the state of random numbers, or the count of a normalization."""
    parts = path.split("/")
    return "seed_generator" in parts or (
        parts[-3].startswith("normalization") and parts[-2:] == ["vars", "2"]
    )
