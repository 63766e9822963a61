"""The next tokens that a model of text expects, as the page shows them.

They are computed from the variables as they are between two steps, and change none of them.
"""

from __future__ import annotations

import math
import time
from typing import Annotated, Literal, TypedDict

from playgrad.data.vocabulary import newest_vocabulary
from playgrad.errors import DataError, ShapeError
from playgrad.inspection.next_tokens import NextTokens, next_tokens
from playgrad.inspection.writers import Writer, codes_of, last_target, writer_of
from playgrad.models.text_form import text_form
from playgrad.page.built_model import BuiltModel
from playgrad.page.excerpt_sample import SampleNumber, excerpt_sample
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel
from playgrad.page.text_view import Expected, problem_of

TOP = 5
"""Tokens that are listed for each position."""
MOST_TOKENS = 200
"""The longest text that is read; the rest is ignored."""


class NextTokensQuestion(TypedDict):
    """`text`: null for that of the sample."""

    text: str | None
    sample: int
    temperature: float


class RankedToken(Expected):
    rank: int


class NextToken(TypedDict):
    """The tokens expected after a position, from 0; `came`: the token that follows, if one does."""

    position: int
    top: list[Expected]
    came: RankedToken | None


class NoNextTokens(TypedDict):
    """`untrained`: the program has not trained the model; `text`: it does not write text."""

    shows: Literal["none"]
    reason: Literal["restored", "untrained", "text"]
    seconds: float


class ExpectedTokens(TypedDict):
    """`least`: tokens before the first prediction; `length`: positions of the model; `tokens`: the
    first ones, of `total`; `problem`: why the text does not fit."""

    shows: Literal["tokens"]
    unit: Literal["character", "word"]
    least: int
    length: int
    sample: SampleNumber
    text: str
    total: int
    tokens: list[str]
    predictions: list[NextToken]
    perplexity: float | None
    problem: str | None
    seconds: float


NextTokensView = Annotated[NoNextTokens | ExpectedTokens, "NextTokensView"]


@question("next_tokens", "shown", at_checkpoint=True)
def next_tokens_view(
    model: LiveModel | RestoredModel, request: NextTokensQuestion
) -> NextTokensView:
    """Return the model's predictions after each position of a text, or of a sample for None."""
    began = time.perf_counter()
    view = _view(model, request["text"], request["sample"], request["temperature"])
    view["seconds"] = time.perf_counter() - began
    return view


def _view(
    model: LiveModel | RestoredModel, text: str | None, sample: int, temperature: float
) -> NoNextTokens | ExpectedTokens:
    if isinstance(model, RestoredModel):
        return {"shows": "none", "reason": "restored", "seconds": 0.0}
    if isinstance(model, BuiltModel):  # whose data may be anything
        form = text_form(model)
        can_write = form is not None and newest_vocabulary(form.tokens) is not None
        return {"shows": "none", "reason": "untrained" if can_write else "text", "seconds": 0.0}
    writer = writer_of(model)
    found = None if writer is None else excerpt_sample(model, sample)
    if writer is None or found is None:
        return {"shows": "none", "reason": "text", "seconds": 0.0}
    x, y, about = found
    vocabulary = writer.vocabulary
    of_data = [*codes_of(x[0], writer.form), last_target(y[0], writer.form)]
    view: ExpectedTokens = {
        "shows": "tokens",
        "unit": vocabulary.unit,
        "least": writer.form.least,
        "length": writer.form.length,
        "sample": about,
        "text": vocabulary.decode(of_data) if text is None else text,
        "total": 0,
        "tokens": [],
        "predictions": [],
        "perplexity": None,
        "problem": None,
        "seconds": 0.0,
    }
    try:
        codes = of_data if text is None else vocabulary.encode(text).tolist()
        shown = codes[:MOST_TOKENS]
        seen = next_tokens(model, shown, TOP, temperature, vocabulary, {})
    except (DataError, ShapeError) as error:  # the text does not fit
        view["problem"] = problem_of(error)
        return view
    perplexity = seen.perplexity
    view["total"] = len(codes)
    view["tokens"] = [vocabulary.tokens[code] for code in shown]
    view["predictions"] = [_prediction(writer, seen, row) for row in range(len(seen.positions))]
    view["perplexity"] = perplexity if math.isfinite(perplexity) else None
    return view


def _prediction(writer: Writer, seen: NextTokens, row: int) -> NextToken:
    chances, came = seen.probabilities[row], int(seen.actual[row])

    def expected(token: int) -> Expected:
        return {"token": writer.vocabulary.tokens[token], "chance": float(chances[token])}

    return {
        "position": int(seen.positions[row]),
        "top": [expected(token) for token in seen.top[row].tolist()],
        "came": None if came < 0 else {**expected(came), "rank": int(seen.ranks[row])},
    }
