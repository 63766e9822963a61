"""`model_from_tfjs`: layers models of TensorFlow.js as models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError, ExportError, PlaygradError, shape_text
from playgrad.interchange.keras.graph import CallGraph
from playgrad.interchange.keras.importing.model import built_model
from playgrad.interchange.tfjs.importing.file import TfjsFile
from playgrad.interchange.tfjs.importing.topology import keras_description
from playgrad.interchange.tfjs.layers import weight_name
from playgrad.interchange.tfjs.masks import expect_equal_masks
from playgrad.models.model import Model
from playgrad.nn.layer import Layer

Array = np.ndarray[Any, Any]
_MOST_LISTED = 6
_MOST_PARTS = 12


def model_from_tfjs(file: str | Path | bytes, sequence_length: int | None = None) -> Model:
    """Return the model of a layers model of TensorFlow.js, which is not compiled.

    Models inside others become part of the whole.

    Args:
        file: the path of ``model.json`` beside its weights, of its folder, or of a ZIP archive with
            both; or the bytes of such an archive.
        sequence_length: as in `load_model`.

    Raises:
        CheckpointError: a file cannot be read, is damaged, or has something that playgrad does not
            have or computes otherwise.
        SequenceLengthError: it needs a ``sequence_length``.
    """
    source = TfjsFile(file)
    try:
        model, layers = built_model(keras_description(source.topology), sequence_length)
        try:
            _expect_equal_masks(model)
            model.set_weights(_weights(source.weights, list(layers.values())))
        except PlaygradError:
            model.close()
            raise
    except PlaygradError as error:
        error.message = error.message.replace("Keras file", "TensorFlow.js file")
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(
            f"the model of the TensorFlow.js file cannot be built: {error.message}", hint=error.hint
        ) from None
    model.input_description = source.input
    return model


def _expect_equal_masks(model: Model) -> None:
    try:
        expect_equal_masks(CallGraph(model.layer_graph()))
    except ExportError as error:
        raise CheckpointError(
            f"TensorFlow.js computes the masks of this model otherwise than playgrad: "
            f"{error.message}"
        ) from None


def _weights(arrays: Mapping[str, Array], layers: list[Layer]) -> dict[str, Array]:
    """Return the weights of layers by name, such as ``dense_1/kernel``.

    The weights of a layer are found by its name, and are in the order of Keras. The converter
    inserts names of cells: ``lstm_1/lstm_cell/kernel``.

    Raises:
        CheckpointError: a weight is missing, has another shape, or belongs to no layer.
    """
    owners = {str(layer.name): layer for layer in layers}
    of_layers: dict[str, list[str]] = {name: [] for name in owners}
    unknown: list[str] = []
    for name in arrays:
        owner = next((each for each in _possible_owners(name) if each in owners), None)
        (unknown if owner is None else of_layers[owner]).append(name)
    for owner, layer in owners.items():
        unknown += of_layers[owner][len(layer.weight_specs()) :]
    if unknown:
        raise CheckpointError(
            f"the TensorFlow.js file has weights that belong to no layer: {_listed(unknown)}."
        )
    weights: dict[str, Array] = {}
    for owner, layer in owners.items():
        weights |= _weights_of_layer(layer, owner, {n: arrays[n] for n in of_layers[owner]})
    return weights


def _weights_of_layer(layer: Layer, owner: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    specs, names = layer.weight_specs(), list(arrays)
    missing = [f"{owner}/{weight}" for weight in list(specs)[len(names) :]]
    if missing:
        raise CheckpointError(f"the TensorFlow.js file has no weight {_listed(missing)}.")
    for (weight, spec), name in zip(specs.items(), names, strict=True):
        theirs = weight_name(layer.kind, layer.get_config(), owner, weight)
        if name.rpartition("/")[2] != theirs.rpartition("/")[2]:
            raise CheckpointError(
                f"'{name[:80]}' in the TensorFlow.js file is not '{owner}/{weight}'."
            )
        if arrays[name].shape != spec.static_shape:
            raise CheckpointError(
                f"'{owner}/{weight}' has shape {shape_text(arrays[name].shape)} in the "
                f"TensorFlow.js file, but {shape_text(spec.static_shape)} in its layer."
            )
    return {f"{owner}/{weight}": arrays[name] for weight, name in zip(specs, names, strict=True)}


def _possible_owners(name: str) -> Iterator[str]:
    """Yield the parts of a name that may be the name of a layer, the likeliest first.

    Names of layers may have slashes, and names of models around them may come first.
    """
    parts = name.split("/", _MOST_PARTS)
    for start in range(len(parts) - 1):
        for end in range(len(parts) - 1, start, -1):
            yield "/".join(parts[start:end])


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_LISTED
    shown = ", ".join(f"'{name[:80]}'" for name in names[:_MOST_LISTED])
    return shown + (f" and {more} more" if more > 0 else "")
