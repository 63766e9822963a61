"""Models that continue texts, with the vocabulary of their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.data.vocabulary import Vocabulary, newest_vocabulary
from playgrad.models.text_form import TextForm, text_form

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Writer:
    """A model that continues text, with the vocabulary of its tokens."""

    model: Any
    form: TextForm
    vocabulary: Vocabulary


def writer_of(model: Any) -> Writer | None:
    """Return a model as a writer, if its program made a vocabulary with as many tokens as it
    chooses from, and its data are sequences of tokens, each with the next tokens; None for others.
    """
    form = text_form(model) if model.train_excerpt is not None else None
    vocabulary = None if form is None else newest_vocabulary(form.tokens)
    if form is None or vocabulary is None:
        return None
    follows = _predicts_what_follows(model.train_excerpt, form)
    return Writer(model, form, vocabulary) if follows else None


def codes_of(x: Array, form: TextForm) -> list[int]:
    """Return the tokens of an input."""
    codes: list[int] = (x.argmax(axis=-1) if form.one_hot else x).astype(np.int64).tolist()
    return codes


def last_target(y: Array, form: TextForm) -> int:
    """Return the token after the last position, of the targets of one sample."""
    if y.shape[-1:] == (form.tokens,) and y.ndim == 1 + form.each and form.tokens > 1:
        y = y.argmax(axis=-1)
    return int(y.reshape(-1)[-1])


def _predicts_what_follows(excerpt: Excerpt, form: TextForm) -> bool:
    """Return whether the data are tokens, and the target at each position is the next token."""
    x, y = excerpt.x, excerpt.y
    shape: Sequence[int] = (form.length, form.tokens) if form.one_hot else (form.length,)
    if x.shape[1:] != tuple(shape):
        return False
    codes = x.argmax(axis=-1) if form.one_hot else x
    if codes.min() < 0 or codes.max() >= form.tokens or (codes != np.round(codes)).any():
        return False
    if not form.each:
        return True
    if y.shape == (len(x), form.length, form.tokens):
        y = y.argmax(axis=-1)
    if y.size != codes.size:
        return False
    return bool((y.reshape(codes.shape)[:, :-1] == codes[:, 1:]).all())
