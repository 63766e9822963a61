"""The shapes of models that continue sequences of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playgrad.dtypes import dtype


@dataclass(frozen=True)
class TextForm:
    """The shapes of a model that continues sequences of tokens.

    Attributes:
        length: positions of the input.
        tokens: how many there are to choose from.
        one_hot: whether the input is (batch, positions, tokens) instead of (batch, positions).
        each: whether there are scores after each position, and not only after the last.
        gives_probabilities: whether the output is that of a softmax.
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
    # Features of a table are no sequence.
    if not each and not one_hot and dtype(entry.dtype).floating:
        return None
    return TextForm(length, tokens, one_hot, each, output.node.op.name == "softmax")
