"""The content of model files that visitors add to the page."""

from __future__ import annotations

import warnings
from typing import NotRequired, TypedDict

from playgrad.errors import PlaygradError
from playgrad.graph.tensor import Tensor
from playgrad.interchange.readers import reader_of
from playgrad.page.question import question
from playgrad.page.workspace import Workspace


class ModelFileQuestion(TypedDict):
    """`sequence_length`: that of `load_model`."""

    name: str
    payload: NotRequired[bytes]
    sequence_length: NotRequired[int]


class ModelTensor(TypedDict):
    """The shape of one sample; null for a free size."""

    shape: list[int | None]
    dtype: str


class ModelFile(TypedDict):
    """`sequence_length`: the steps of samples, for a file that leaves them open; `compiled`: the
    file has the settings of compile."""

    parameters: int
    layers: int
    sequence_length: int | None
    compiled: bool
    inputs: list[ModelTensor]
    outputs: list[ModelTensor]


@question("model_file", "workspace")
def model_file(_: Workspace, request: ModelFileQuestion) -> ModelFile:
    """Return the model that ``pg.load_model`` reads from a file, whose name decides the format.

    The model is discarded: a program that uses the file reads it again.

    Raises:
        SequenceLengthError: the request needs a ``sequence_length``.
        CheckpointError: the file is damaged, or has parts that playgrad lacks.
        GraphError: the description of its layers is damaged.
    """
    name, length = request["name"], request.get("sequence_length")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the program that loads the model will show them
            content = bytes(request.get("payload") or b"")
            model = reader_of(name).model(content, length)
    except PlaygradError as error:
        error.message = f"{name}: {error.message}"
        error.hint = error.hint or "Save or export it again, or choose another file."
        raise
    try:
        return {
            "parameters": model.count_params(),
            "layers": len(model.layers),
            "sequence_length": length,
            "compiled": model.compile_settings() is not None,
            "inputs": [_described(tensor) for tensor in model.inputs],
            "outputs": [_described(tensor) for tensor in model.outputs],
        }
    finally:
        model.close()


def _described(tensor: Tensor) -> ModelTensor:
    """Return the shape of one sample, with None for sizes that are free, and the dtype."""
    return {"shape": list(tensor.shape[1:]), "dtype": tensor.dtype}
