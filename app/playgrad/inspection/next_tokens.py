"""The next tokens that a model of text expects after each position of a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.vocabulary import Vocabulary
from playgrad.errors import DataError, ShapeError, shape_text
from playgrad.inspection.activations import Factors, compute
from playgrad.inspection.outputs import softmax
from playgrad.inspection.text_table import ruled_table
from playgrad.models.text_form import TextForm, checked_text_form
from playgrad.training.prepare_data import prepare_inputs

Array = np.ndarray[Any, Any]
MOST_SCORES = 1 << 24
"""That are computed at a time, if there are more tokens than the model has positions."""
_MARKS = {" ": "space", "\n": "line end", "\t": "tab"}


@dataclass(frozen=True, eq=False)
class NextTokens:
    """Probabilities of the next token after positions of a sequence. It prints as a table.

    Attributes:
        tokens: the sequence, (tokens,).
        positions: of the last token that each prediction sees, from 0, (predictions,).
        probabilities: of every token to come next, (predictions, vocabulary).
        top: the most probable tokens, the first of them first, (predictions, k).
        actual: the token that came, (predictions,); −1 after the last one.
        ranks: of the token that came among all, (predictions,): 1 for the most probable; 0 after
            the last one.
        vocabulary: of the tokens, if it is known.
    """

    tokens: Array
    positions: Array
    probabilities: Array
    top: Array
    actual: Array
    ranks: Array
    vocabulary: Vocabulary | None = None

    @property
    def actual_probabilities(self) -> Array:
        """The probabilities of the tokens that came, without one after the last token."""
        came = self.actual >= 0
        chances: Array = self.probabilities[came, self.actual[came]]
        return chances

    @property
    def perplexity(self) -> float:
        """The inverse of the geometric mean of `actual_probabilities`; NaN if there are none."""
        chances = self.actual_probabilities
        if not len(chances):
            return float("nan")
        with np.errstate(divide="ignore"):
            return float(np.exp(-np.log(chances).mean()))

    def __str__(self) -> str:
        rows = [("position", "token", "next", "probability", "rank", "most probable")]
        for row, position in enumerate(self.positions):
            chances, came = self.probabilities[row], self.actual[row]
            best = ", ".join(f"{self._name(each)} {chances[each]:.1%}" for each in self.top[row])
            actual = ("", "", "")
            if came >= 0:
                actual = (self._name(came), f"{chances[came]:.1%}", str(self.ranks[row]))
            rows.append((str(position), self._name(self.tokens[position]), *actual, best))
        return "\n".join(ruled_table(rows))

    __repr__ = __str__

    def _name(self, token: int) -> str:
        if self.vocabulary is None:
            return str(token)
        name = self.vocabulary.tokens[token]
        return _MARKS.get(name, name)


def next_tokens(
    model: Any,
    tokens: Any,
    top_k: int,
    temperature: float,
    vocabulary: Vocabulary | None,
    factors: Factors,
) -> NextTokens:
    """Return the probabilities of the next token; see `Inspection.next_tokens`."""
    form = checked_text_form(model, "next_tokens()")
    codes = _checked(tokens, form, vocabulary)
    if not temperature >= 0:
        raise DataError(f"temperature must be at least 0, got {temperature}.")
    if top_k < 1:
        raise DataError(f"top_k must be at least 1, got {top_k}.")
    scores = form.scores(_outputs(model, form, codes, factors))
    order = np.argsort(-scores, axis=1, kind="stable")
    positions = np.arange(len(codes) - len(scores), len(codes))
    actual = np.append(codes[positions[:-1] + 1], -1)
    is_actual = order == actual[:, None]
    ranks = np.where(is_actual.any(axis=1), is_actual.argmax(axis=1) + 1, 0)
    chances = _probabilities(scores, order, temperature)
    return NextTokens(codes, positions, chances, order[:, :top_k], actual, ranks, vocabulary)


def _checked(tokens: Any, form: TextForm, vocabulary: Vocabulary | None) -> Array:
    """Return the numbers of a sequence of tokens."""
    if vocabulary is not None and len(vocabulary) != form.tokens:
        raise ShapeError(
            f"the model chooses from {form.tokens} tokens, but the vocabulary has "
            f"{len(vocabulary)}."
        )
    if isinstance(tokens, str):
        if vocabulary is None:
            raise DataError(
                "a text needs the vocabulary of its tokens.",
                hint="Pass vocabulary=, or vocabulary.encode(text).",
            )
        tokens = vocabulary.encode(tokens)
    codes = np.asarray(tokens)
    if codes.ndim != 1:
        raise ShapeError(
            "the tokens must be one sequence of whole numbers, but have shape "
            f"{shape_text(codes.shape)}.",
            hint="Call next_tokens() for each row.",
        )
    form.check_length(len(codes))
    if codes.dtype.kind not in "iu":
        raise DataError(f"tokens are whole numbers, got {codes.dtype.name}.")
    strange = codes[(codes < 0) | (codes >= form.tokens)]
    if len(strange):
        raise DataError(f"tokens are from 0 to {form.tokens - 1}, but there is {strange[0]}.")
    return codes.astype(np.int32)


def _outputs(model: Any, form: TextForm, codes: Array, factors: Factors) -> Array:
    """Return the outputs after each position at which the model predicts, (predictions, tokens).

    The first window of the sequence gives the tokens after all of its positions, and each further
    one that after its last.
    """
    padding = max(form.length - len(codes), 0)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(codes, (0, padding)), form.length)

    def predict(rows: slice) -> Array:
        xs = prepare_inputs(model, form.inputs(windows[rows]), "tokens")
        return compute(model, model.outputs, xs, factors)[0]

    if not form.each:
        return predict(slice(None))
    size = max(1, MOST_SCORES // (form.length * form.tokens))
    parts = [predict(slice(0, 1))[0, : len(codes)]]
    for first in range(1, len(windows), size):
        parts.append(predict(slice(first, first + size))[:, -1])
    return np.concatenate(parts)


def _probabilities(scores: Array, order: Array, temperature: float) -> Array:
    if temperature == 0:
        certain = np.zeros_like(scores)
        np.put_along_axis(certain, order[:, :1], 1, axis=1)
        return certain
    return softmax((scores - scores.max(axis=1, keepdims=True)) / temperature)
