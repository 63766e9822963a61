"""The shapes of models that continue sequences of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import DataError, ShapeError, shape_text

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class TextForm:
    """The shapes of a model that continues sequences of tokens.

    Attributes:
        length: positions of the input.
        tokens: how many there are to choose from.
        one_hot: whether the input is (batch, positions, tokens) instead of (batch, positions).
        each: whether there are scores after each position, and not only after the last.
        gives_probabilities: whether the output comes from a softmax.
    """

    length: int
    tokens: int
    one_hot: bool
    each: bool
    gives_probabilities: bool

    @property
    def least(self) -> int:
        """The number of tokens that the first prediction needs."""
        return 1 if self.each else self.length

    def inputs(self, tokens: Array) -> Array:
        """Return the inputs of the model for tokens (batch, positions)."""
        return np.eye(self.tokens, dtype=np.float32)[tokens] if self.one_hot else tokens

    def scores(self, outputs: Array) -> Array:
        """Return the scores before softmax that outputs of the model are, as float64."""
        scores = outputs.astype(np.float64)
        if self.gives_probabilities:
            return np.log(np.maximum(scores, np.finfo(np.float64).tiny))
        return scores

    def check_length(self, count: int) -> None:
        """Check that ``count`` tokens are enough for a prediction.

        Raises:
            DataError: there is no token.
            ShapeError: there are too few.
        """
        if not count:
            raise DataError("the prompt is empty.", hint="Give at least one token.")
        if count < self.least:
            raise ShapeError(
                f"the model predicts a token from the {self.length} before it, but the prompt has "
                f"{count}.",
                hint=f"Give at least {self.length} tokens.",
            )


def checked_text_form(model: Any, caller: str) -> TextForm:
    """Return the shapes of a model that continues sequences of tokens.

    Args:
        caller: the function that needs such a model: ``"generate()"``.

    Raises:
        ShapeError: the model has other shapes.
    """
    form = text_form(model)
    if form is None:
        raise ShapeError(
            f"{caller} needs a model from (batch, positions) to (batch, positions, tokens) or "
            f"(batch, tokens), got {shape_text(model.inputs[0].shape)} to "
            f"{shape_text(model.outputs[0].shape)}.",
        )
    return form


def text_form(model: Any) -> TextForm | None:
    """Return the shapes of a model that `generate` takes; None for other models."""
    if len(model.inputs) != 1 or len(model.outputs) != 1:
        return None
    entry, output = model.inputs[0], model.outputs[0]
    _, *inside = entry.shape
    _, *outside = output.shape
    if not inside or not outside or inside[0] is None or outside[-1] is None:
        return None
    length, tokens = inside[0], outside[-1]
    one_hot = len(inside) == 2 and inside[1] == tokens
    each = len(outside) == 2 and outside[0] == length
    if not (one_hot or len(inside) == 1) or not (each or len(outside) == 1):
        return None
    # Features of a table are not a sequence.
    if not each and not one_hot and dtype(entry.dtype).floating:
        return None
    return TextForm(length, tokens, one_hot, each, output.node.op.name == "softmax")
