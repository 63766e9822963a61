"""The text that a model writes while it learns: a sample, and what it expects next."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.vocabulary import Vocabulary, newest_vocabulary
from playgrad.errors import DataError, ShapeError
from playgrad.inspection.outputs import softmax
from playgrad.models.generating import TextForm, text_form, writing
from playgrad.training.excerpt import Excerpt

Array = np.ndarray[Any, Any]
View = dict[str, Any]

LONGEST_PROMPT = 24
"""Tokens of the prompt that is taken from the data, if the model needs no more."""
MOST_TOKENS = {"character": 200, "word": 50}
SECONDS = 0.1
TEMPERATURE = 0.5
EXPECTED = 6
"""Tokens that are listed with their probabilities."""


@dataclass(frozen=True)
class Writer:
    """A model that continues text, with the vocabulary of its tokens."""

    model: Any
    form: TextForm
    vocabulary: Vocabulary


def writer_of(model: Any) -> Writer | None:
    """Return a model as a writer, if its program made a vocabulary with as many tokens as it
    chooses from, and its data are sequences of tokens with those that follow; None for others.
    """
    form = text_form(model) if model.train_excerpt is not None else None
    vocabulary = None if form is None else newest_vocabulary(form.tokens)
    if form is None or vocabulary is None:
        return None
    follows = _predicts_what_follows(model.train_excerpt, form)
    return Writer(model, form, vocabulary) if follows else None


def text_view(writer: Writer, sample: dict[str, Any] | None) -> View:
    """Return text that the model writes, as `pg.generate` does.

    Args:
        sample: ``prompt``, None for one from the data; ``temperature``; ``seed``; and
            ``seconds``, after which no further token is begun.
    """
    vocabulary, least = writer.vocabulary, writer.form.least
    codes = _codes(writer.model.train_excerpt.x[0], writer.form)
    usual = vocabulary.decode(codes[: max(least, min(len(codes), LONGEST_PROMPT))])
    chosen = {"prompt": None, "temperature": TEMPERATURE, "seed": 0, "seconds": SECONDS}
    chosen |= sample or {}
    prompt = usual if chosen["prompt"] is None else str(chosen["prompt"])
    view: View = {
        "shows": "text",
        "data": {
            "prompt": usual,
            "unit": vocabulary.unit,
            "tokens": len(vocabulary),
            "least": least,
        },
        "prompt": prompt,
        "predicted": "",
        "expected": [],
        "problem": None,
    }
    try:
        return view | _written(writer, prompt, chosen)
    except (DataError, ShapeError) as error:  # the prompt does not fit
        problem = f"{error.message} {error.hint or ''}".strip()
        return view | {"problem": problem[0].upper() + problem[1:]}


def _written(writer: Writer, prompt: str, chosen: dict[str, Any]) -> View:
    """Return the tokens that follow a prompt, and the probabilities of the first of them."""
    vocabulary = writer.vocabulary
    codes: list[int] = []
    expected: list[dict[str, Any]] = []
    ends = time.perf_counter() + float(chosen["seconds"])
    tokens = writing(
        writer.model,
        vocabulary.encode(prompt).tolist(),
        temperature=float(chosen["temperature"]),
        seed=int(chosen["seed"]),
    )
    for token, scores in tokens:
        if not codes:
            expected = _most_probable(vocabulary, softmax(scores))
        codes.append(token)
        if len(codes) == MOST_TOKENS[vocabulary.unit] or time.perf_counter() >= ends:
            break
    gap = " " if vocabulary.words else ""
    return {"predicted": gap + vocabulary.decode(codes), "expected": expected}


def _most_probable(vocabulary: Vocabulary, chances: Array) -> list[dict[str, Any]]:
    best = np.argsort(-chances, kind="stable")[:EXPECTED]
    return [{"token": vocabulary.tokens[each], "chance": float(chances[each])} for each in best]


def _codes(x: Array, form: TextForm) -> list[int]:
    """Return the tokens of an input."""
    codes: list[int] = (x.argmax(axis=-1) if form.one_hot else x).astype(np.int64).tolist()
    return codes


def _predicts_what_follows(excerpt: Excerpt, form: TextForm) -> bool:
    """Return whether the data are tokens, and targets at each position are those of the next."""
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
