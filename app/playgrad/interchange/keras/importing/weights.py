"""Weights of Keras for the layers of a model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from playgrad.errors import CheckpointError, shape_text
from playgrad.graph.spec import TensorSpec
from playgrad.interchange.keras.graph import CallGraph
from playgrad.interchange.keras.importing.nesting import is_nested, places_in_models
from playgrad.interchange.keras.weights import weight_places
from playgrad.io.hdf5.reader import Hdf5File
from playgrad.io.weights import check_match
from playgrad.nn.feature_normalization import Normalization
from playgrad.nn.layer import Layer

Array = np.ndarray[Any, Any]
Places = Mapping[str, tuple[str, tuple[int, ...]]]
_SAME = "Load them into a model with the same layers, of the same sizes."


class AdaptedMoments(NamedTuple):
    """The moments that a layer normalizes by."""

    name: str
    mean: Any
    variance: Any


def weights_for_model(
    content: bytes | Hdf5File,
    layers: Mapping[str, Layer],
    layer_graph: Callable[[], Mapping[str, Any]],
    specs: Mapping[str, TensorSpec],
) -> dict[str, Array]:
    """Return the weights in a ``.weights.h5`` file by the names that they have in a model.

    As in Keras, layers are matched by their classes and their order, not by their names.

    Args:
        content: the content of the file, or the part of a ``.keras`` file with the weights.
        layers: the layers of a model from a file of Keras, by the paths of their weights; else
            empty.
        layer_graph, specs: the graph and specs of the model.

    Raises:
        CheckpointError: the file is damaged, or of another model.
        ExportError: Keras has no equivalent of the model.
    """
    file = content if isinstance(content, Hdf5File) else Hdf5File(content)
    if layers:
        return weights_of_layers(file, layers)
    graph = CallGraph(layer_graph())
    shapes = {name: spec.static_shape for name, spec in specs.items()}
    order = graph.layers()
    groups = graph.groups(order)
    normalizations = {
        groups[graph.name(call)]: graph.config["layers"][call.layer]
        for call in order
        if graph.kind(call) == Normalization.kind
    }
    moments = {
        path: AdaptedMoments(layer["name"], layer["config"]["mean"], layer["config"]["variance"])
        for path, layer in normalizations.items()
    }
    places: Places = graph.weight_places(order, shapes)
    if is_nested(file):
        places = places_in_models(file, places, graph)
    return read_weights(file, places, specs, _checked(file, moments))


def weights_of_layers(file: Hdf5File, layers: Mapping[str, Layer]) -> dict[str, Array]:
    """Return the weights of layers by name, such as ``dense_1/kernel``.

    Args:
        layers: the layers that have been called, by the paths of their weights in the file.

    Raises:
        CheckpointError: the weights in the file do not fit the layers.
    """
    places: dict[str, tuple[str, tuple[int, ...]]] = {}
    specs: dict[str, TensorSpec] = {}
    first_states: dict[str, Array] = {}  # Keras does not save them
    for path, layer in layers.items():
        own = layer.weight_specs()
        states = {id(state) for state in getattr(layer, "states", ())}
        for name in [name for name in own if id(layer.variables.get(name)) in states]:
            first_states[f"{layer.name}/{name}"] = np.zeros(own.pop(name).static_shape, np.float32)
        shapes = {name: spec.static_shape for name, spec in own.items()}
        for name, (place, shape) in weight_places(layer.kind, layer.get_config(), shapes).items():
            places[f"{layer.name}/{name}"] = (f"{path}/{place}", shape)
            specs[f"{layer.name}/{name}"] = own[name]
    moments = {
        path: AdaptedMoments(layer.name or "", layer.mean, layer.variance)
        for path, layer in layers.items()
        if isinstance(layer, Normalization)
    }
    return read_weights(file, places, specs, _checked(file, moments)) | first_states


def set_moments(file: Hdf5File, layers: Mapping[str, Layer]) -> None:
    """Give layers that were adapted in Keras the moments in the file, where they are weights."""
    for path, layer in layers.items():
        places = [f"{path}/vars/{number}" for number in range(2)]
        if isinstance(layer, Normalization) and layer.mean is None and places[1] in file.entries:
            layer.mean, layer.variance = (file.read(place).tolist() for place in places)


def _checked(file: Hdf5File, layers: Mapping[str, AdaptedMoments]) -> set[str]:
    """Return the paths of moments in the file, whose values must equal the layers' moments.

    Raises:
        CheckpointError: they differ.
    """
    known: set[str] = set()
    for path, layer in layers.items():
        for number, own in enumerate((layer.mean, layer.variance)):
            place = f"{path}/vars/{number}"
            if place not in file.entries:
                continue
            array = file.read(place)
            if array.size != np.size(own) or not np.allclose(array.ravel(), np.ravel(own), 1e-5):
                raise CheckpointError(
                    f"'{layer.name}' has other moments in the Keras file, and the moments of a "
                    "model cannot change.",
                    hint="Pass nn.Normalization the mean and variance of the file, or read a file "
                    "of model.save('name.keras').",
                )
            known.add(place)
    return known


def read_weights(
    file: Hdf5File,
    places: Places,
    specs: Mapping[str, TensorSpec],
    others: Collection[str] = (),
) -> dict[str, Array]:
    """Return the arrays at ``places``, in the shapes of ``specs``.

    Args:
        others: the paths of arrays that are not weights here.

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
    known = {*others, *(path for path, _ in places.values())}
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
