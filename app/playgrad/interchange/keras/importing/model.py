"""`model_from_keras`: files of Keras 3 as models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from playgrad.errors import (
    CheckpointError,
    PlaygradError,
    SequenceLengthError,
    ShapeError,
    shape_text,
)
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.source import warn_user
from playgrad.graph.tensor import Tensor
from playgrad.interchange.keras.importing.compiling import read_compile_config
from playgrad.interchange.keras.importing.file import KerasFile
from playgrad.interchange.keras.importing.graph import ModelReader
from playgrad.interchange.keras.importing.reading import Reading
from playgrad.interchange.keras.importing.weights import set_moments, weights_of_layers
from playgrad.models.model import Model
from playgrad.nn.layer import Layer

_NOT_BUILT = "the model of the Keras file cannot be built"


def model_from_keras(file: str | Path | bytes, sequence_length: int | None = None) -> Model:
    """Return the model of a ``.keras`` file, compiled if it was.

    Models inside others become part of the whole. The optimizer begins anew. If playgrad lacks a
    setting of ``compile``, there is a warning, and the model is not compiled.

    Args:
        file: its path or content.
        sequence_length: as in `load_model`.

    Raises:
        CheckpointError: the file cannot be read, is damaged, or has something that playgrad does
            not have.
        SequenceLengthError: it needs a ``sequence_length``.
    """
    source = KerasFile(file)
    try:
        model, called = built_model(
            source.config, sequence_length, lambda layers: set_moments(source.weights, layers)
        )
        model.set_weights(weights_of_layers(source.weights, called))
        model.layers_of_keras = called
    except CheckpointError:
        raise
    except PlaygradError as error:
        raise CheckpointError(f"{_NOT_BUILT}: {error.message}", hint=error.hint) from None
    _compile(model, source)
    model.input_description = source.input
    return model


def built_model(
    config: Any,
    sequence_length: int | None,
    prepare: Callable[[Mapping[str, Layer]], None] = lambda layers: None,
) -> tuple[Model, dict[str, Layer]]:
    """Return the model of a description, and those of its layers that are called, by their paths.

    Args:
        prepare: is called with the layers before they are.

    Raises:
        CheckpointError, SequenceLengthError: as for `model_from_keras`.
        PlaygradError: the layers do not fit each other.
    """
    graph = Graph()
    with at_top(graph):
        reading = Reading(graph, sequence_length)
        reader = ModelReader(config, reading)
        prepare(reader.layers)
        inputs = reader.inputs()
        if sequence_length is not None and not reading.is_open:
            _expect_length(inputs, sequence_length)
        try:
            outputs = reader.outputs(inputs)
        except ShapeError as error:
            is_unknown = "needs to know dimension" in error.message
            if not (is_unknown and reading.is_open and sequence_length is None):
                raise
            raise SequenceLengthError(
                f"{_NOT_BUILT}: {error.message}",
                inputs=[(each.shape[1:], each.dtype) for each in inputs],
                hint="Pass the number of steps: load_model(file, sequence_length=50).",
            ) from None
        model = Model(inputs, outputs, reader.name)
        layers = set(model.layers)
        return model, {path: layer for path, layer in reader.layers.items() if layer in layers}


def _expect_length(inputs: Sequence[Tensor], sequence_length: int) -> None:
    """Raise CheckpointError unless an input, of which none is open, has so many steps."""
    sizes = [each.shape[1] for each in inputs if each.spec.rank > 1]
    if sequence_length not in sizes:
        shapes = " and ".join(shape_text(each.shape[1:]) for each in inputs)
        raise CheckpointError(
            f"sequence_length is {sequence_length:,}, but the Keras file fixes the shape of its "
            f"samples: {shapes}.",
            hint="Leave it out, or load the file that was saved with Input((None, ...)).",
        )


def _compile(model: Model, source: KerasFile) -> None:
    config = source.config.get("compile_config")
    if not config:
        return
    try:
        model.compile(**read_compile_config(config))
    except (PlaygradError, ValueError, TypeError) as error:
        warn_user(f"The model is not compiled as it was in Keras: {error}")
