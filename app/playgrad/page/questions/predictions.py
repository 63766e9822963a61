"""Questions about the trained model's predictions for inputs that the page composes."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from playgrad.errors import GraphError
from playgrad.inspection.outputs import softmax
from playgrad.page.inspected_sample import drawn_sample
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel


class PredictQuestion(TypedDict):
    """`pixels`: from 0 to 1, row by row."""

    pixels: list[float]


class PredictionForm(TypedDict):
    probabilities: list[float]
    label: int


class OutputsQuestion(TypedDict):
    """`x`: a list of the numbers of each input, such as a position of a game."""

    x: list[list[float]]


@question("predict", "answering", at_checkpoint=True)
def predict(model: LiveModel | RestoredModel, request: PredictQuestion) -> PredictionForm:
    """Classify a drawing.

    Raises:
        GraphError: the drawing does not have as many pixels as the model's input.
    """
    scores = model.predict(drawn_sample(model, request["pixels"]))[0]
    probabilities = softmax(scores) if model.gives_logits else scores
    return {
        "probabilities": [float(p) for p in probabilities.reshape(-1)],
        "label": int(np.argmax(probabilities)),
    }


@question("outputs", "answering", at_checkpoint=True)
def outputs(model: LiveModel | RestoredModel, request: OutputsQuestion) -> bytes:
    """Return the first output for inputs as they are, as float32.

    Raises:
        GraphError: the model takes inputs of another size.
    """
    x, shape = np.asarray(request["x"], model.input_dtype), model.input_shape[1:]
    sizes = [size for size in shape if size is not None]
    if len(sizes) < len(shape) or x.ndim != 2 or x.shape[1] != int(np.prod(sizes)):
        raise GraphError(
            f"the model takes inputs of shape {shape}, but got {x.shape[-1]} numbers for each."
        )
    values = model.predict(x.reshape(len(x), *sizes))
    first = values[0] if isinstance(values, (list, tuple)) else values
    return np.ascontiguousarray(first, "<f4").tobytes()
