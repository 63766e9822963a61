"""Files of models that people bring to the page: what is in one."""

from __future__ import annotations

import warnings
from typing import Any

from playgrad.errors import PlaygradError
from playgrad.graph.tensor import Tensor
from playgrad.interchange.readers import reader_of
from playgrad.runtime.hooks import Request


def model_file(request: Request) -> dict[str, Any]:
    """Return what ``pg.load_model`` makes of a file, whose name decides the format.

    The model is discarded: a program that uses the file reads it again.

    ``sequence_length`` of the request and of the answer are that of `load_model`, or None.

    Raises:
        SequenceLengthError: the request needs a ``sequence_length``.
        CheckpointError: the file is damaged, or has parts that playgrad lacks.
        GraphError: the description of its layers is damaged.
    """
    name, length = str(request["name"]), request.get("sequence_length")
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


def _described(tensor: Tensor) -> dict[str, Any]:
    """Return the shape of one sample, with None for sizes that are free, and the dtype."""
    return {"shape": list(tensor.shape[1:]), "dtype": tensor.dtype}
