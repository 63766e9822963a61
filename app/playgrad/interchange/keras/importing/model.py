"""`model_from_keras`: files of Keras 3 as models."""

from __future__ import annotations

from pathlib import Path

from playgrad.errors import CheckpointError, PlaygradError, ShapeError
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.source import warn_user
from playgrad.interchange.keras.importing.compiling import read_compile_config
from playgrad.interchange.keras.importing.file import KerasFile
from playgrad.interchange.keras.importing.graph import ModelReader
from playgrad.interchange.keras.importing.reading import Reading
from playgrad.interchange.keras.importing.weights import set_moments, weights_of_layers
from playgrad.models.model import Model


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
    """
    source = KerasFile(file)
    try:
        model, reader = _built(source, sequence_length)
        layers = set(model.layers)
        called = {path: layer for path, layer in reader.layers.items() if layer in layers}
        model.set_weights(weights_of_layers(source.weights, called))
        model.layers_of_keras = called
    except CheckpointError:
        raise
    except PlaygradError as error:
        lacks_length = (
            isinstance(error, ShapeError) and "needs to know dimension 1 " in error.message
        )
        raise CheckpointError(
            f"the model of the Keras file cannot be built: {error.message}",
            hint="Pass the number of steps: load_model(file, sequence_length=50)."
            if lacks_length and sequence_length is None
            else error.hint,
        ) from None
    _compile(model, source)
    model.input_description = source.input
    return model


def _built(source: KerasFile, sequence_length: int | None) -> tuple[Model, ModelReader]:
    graph = Graph()
    with at_top(graph):
        reader = ModelReader(source.config, Reading(graph, sequence_length))
        set_moments(source.weights, reader.layers)
        inputs = reader.inputs()
        return Model(inputs, reader.outputs(inputs), reader.name), reader


def _compile(model: Model, source: KerasFile) -> None:
    config = source.config.get("compile_config")
    if not config:
        return
    try:
        model.compile(**read_compile_config(config))
    except (PlaygradError, ValueError, TypeError) as error:
        warn_user(f"The model is not compiled as it was in Keras: {error}")
