"""The text that a model writes while it learns: a sample, and its predictions of what is next."""

from __future__ import annotations

import time
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from playgrad.data.vocabulary import Vocabulary
from playgrad.errors import DataError, ShapeError
from playgrad.inspection.outputs import softmax
from playgrad.inspection.writers import Writer, codes_of
from playgrad.models.generating import writing

Array = np.ndarray[Any, Any]

LONGEST_PROMPT = 24
"""Tokens of the prompt that is taken from the data, if the model needs no more."""
MOST_TOKENS = {"character": 200, "word": 50}
SECONDS = 0.1
TEMPERATURE = 0.5
EXPECTED = 6
"""Tokens that are listed with their probabilities."""


class SampleForm(TypedDict):
    """`prompt`: null for that from the data; `seconds`: no further token is begun after them."""

    prompt: str | None
    temperature: float
    seed: int
    seconds: float


class Expected(TypedDict):
    token: str
    chance: float


class TextData(TypedDict):
    """`prompt`: one from the data; `tokens`: of the vocabulary; `least`: of a prompt."""

    prompt: str
    unit: Literal["character", "word"]
    tokens: int
    least: int


class TextTask(TypedDict):
    """The text that the model writes after the prompt, its predictions there, most probable first,
    and the problem with the prompt."""

    shows: Literal["text"]
    version: int
    seconds: float
    data: NotRequired[TextData]
    prompt: str
    predicted: str
    expected: list[Expected]
    problem: str | None


def text_view(
    writer: Writer, sample: SampleForm | None, version: int, needs_data: bool
) -> TextTask:
    """Return text that the model writes, as `pg.generate` does.

    Args:
        version: the version of the data.
        needs_data: whether the page does not have it.
    """
    vocabulary, least = writer.vocabulary, writer.form.least
    codes = codes_of(writer.model.train_excerpt.x[0], writer.form)
    usual = vocabulary.decode(codes[: max(least, min(len(codes), LONGEST_PROMPT))])
    chosen = sample or SampleForm(prompt=None, temperature=TEMPERATURE, seed=0, seconds=SECONDS)
    prompt = usual if chosen["prompt"] is None else chosen["prompt"]
    view: TextTask = {
        "shows": "text",
        "version": version,
        "seconds": 0.0,
        "prompt": prompt,
        "predicted": "",
        "expected": [],
        "problem": None,
    }
    if needs_data:
        view["data"] = {
            "prompt": usual,
            "unit": vocabulary.unit,
            "tokens": len(vocabulary),
            "least": least,
        }
    try:
        view["predicted"], view["expected"] = _written(writer, prompt, chosen)
    except (DataError, ShapeError) as error:  # the prompt does not fit
        view["problem"] = problem_of(error)
    return view


def problem_of(error: DataError | ShapeError) -> str:
    """Return the problems with a text, as sentences."""
    problem = f"{error.message} {error.hint or ''}".strip()
    return problem[0].upper() + problem[1:]


def _written(writer: Writer, prompt: str, chosen: SampleForm) -> tuple[str, list[Expected]]:
    """Return the tokens that follow a prompt, and the probabilities of the first of them."""
    vocabulary = writer.vocabulary
    codes: list[int] = []
    expected: list[Expected] = []
    ends = time.perf_counter() + chosen["seconds"]
    tokens = writing(
        writer.model,
        vocabulary.encode(prompt).tolist(),
        temperature=chosen["temperature"],
        seed=chosen["seed"],
    )
    for token, scores in tokens:
        if not codes:
            expected = _most_probable(vocabulary, softmax(scores))
        codes.append(token)
        if len(codes) == MOST_TOKENS[vocabulary.unit] or time.perf_counter() >= ends:
            break
    gap = " " if vocabulary.words else ""
    return gap + vocabulary.decode(codes), expected


def _most_probable(vocabulary: Vocabulary, chances: Array) -> list[Expected]:
    best = np.argsort(-chances, kind="stable")[:EXPECTED]
    return [{"token": vocabulary.tokens[each], "chance": float(chances[each])} for each in best]
