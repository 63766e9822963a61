"""The text that a model writes while it learns: a sample, and what it expects next."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from playgrad.data.vocabulary import Vocabulary
from playgrad.errors import DataError, ShapeError
from playgrad.inspection.outputs import softmax
from playgrad.inspection.writers import Writer, codes_of
from playgrad.models.generating import writing

Array = np.ndarray[Any, Any]
View = dict[str, Any]

LONGEST_PROMPT = 24
"""Tokens of the prompt that is taken from the data, if the model needs no more."""
MOST_TOKENS = {"character": 200, "word": 50}
SECONDS = 0.1
TEMPERATURE = 0.5
EXPECTED = 6
"""Tokens that are listed with their probabilities."""


def text_view(writer: Writer, sample: dict[str, Any] | None) -> View:
    """Return text that the model writes, as `pg.generate` does.

    Args:
        sample: ``prompt``, None for one from the data; ``temperature``; ``seed``; and
            ``seconds``, after which no further token is begun.
    """
    vocabulary, least = writer.vocabulary, writer.form.least
    codes = codes_of(writer.model.train_excerpt.x[0], writer.form)
    usual = vocabulary.decode(codes[: max(least, min(len(codes), LONGEST_PROMPT))])
    chosen = {"prompt": None, "temperature": TEMPERATURE, "seed": 0, "seconds": SECONDS}
    chosen |= sample or {}
    prompt = usual if chosen["prompt"] is None else str(chosen["prompt"])
    view: View = {
        "shows": "text",
        "data": lambda: {
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
        return view | {"problem": problem_of(error)}


def problem_of(error: DataError | ShapeError) -> str:
    """Return what is wrong with a text, as sentences."""
    problem = f"{error.message} {error.hint or ''}".strip()
    return problem[0].upper() + problem[1:]


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
