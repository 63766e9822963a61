"""Models from files of weights, and from the text that `to_json` returns."""

from __future__ import annotations

from pathlib import Path

from playgrad import io
from playgrad.data.input_description import InputDescription
from playgrad.errors import CheckpointError, GraphError
from playgrad.io.packed_file import KEY as PACKED
from playgrad.json_text import parse_json
from playgrad.models.model import Model
from playgrad.models.sequential import Sequential
from playgrad.models.trainable import ARCHITECTURE
from playgrad.nn.kept_weights import KEY, kept_of

_CLASSES: dict[str, type[Model]] = {"Model": Model, "Sequential": Sequential}


def model_from_json(text: str | bytes) -> Model:
    """Return a new model with the structure that ``model.to_json()`` wrote.

    It has new layers with initial weights, in a graph of its own, and is not compiled. Weights are
    loaded with ``load_weights``.

    Raises:
        GraphError: the text is not that of a model, is damaged, or has an unknown layer.
    """
    try:
        data = parse_json(text)
    except ValueError as error:
        raise GraphError(f"the model is damaged: it is not JSON ({error}).") from None
    kind = data.get("class_name") if isinstance(data, dict) else None
    if kind not in _CLASSES or not isinstance(data.get("config"), dict):
        raise GraphError(
            "the text does not describe a model.", hint="Write it with model.to_json()."
        )
    return _CLASSES[kind].from_config(data["config"])


def model_from_weights(file: str | Path | bytes) -> Model:
    """Return the model whose weights ``model.save_weights`` wrote to a safetensors file.

    Training keeps the zeros and the shared values that it kept in the model that was saved.

    Raises:
        CheckpointError: the file cannot be read, is damaged, has weights alone, or weights that do
            not fit its layers.
        GraphError: the description of the layers is damaged, or has an unknown layer.
    """
    metadata = io.load_metadata(file)
    text = metadata.get(ARCHITECTURE)
    if text is None:
        raise CheckpointError(
            "the file has weights, but does not describe the layers that they belong to.",
            hint="Build the model, then call pg.load_model(file, model=model). Only safetensors "
            "files of playgrad describe layers, if no layer has a function as argument.",
        )
    model = model_from_json(text)
    try:
        model.load_weights(file)
        model.packs_weights = PACKED in metadata
        if KEY in metadata:
            _keep(model, metadata[KEY])
    except CheckpointError:
        model.close()
        raise
    model.input_description = InputDescription.from_metadata(metadata)
    return model


def _keep(model: Model, text: str) -> None:
    """Let the training of ``model`` keep the zeros and shared values that a file records."""
    variables = model.kept_variables()
    values = model.session.values(list(variables.values()))
    for name, keep in kept_of(text, dict(zip(variables, values, strict=True))).items():
        variables[name].keep = keep
