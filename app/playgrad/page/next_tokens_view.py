"""The next tokens that a model of text expects, as the page shows them.

They are computed from the variables as they are between two steps, and change none of them.
"""

from __future__ import annotations

import math
import time
from typing import Any

from playgrad.data.vocabulary import newest_vocabulary
from playgrad.errors import DataError, ShapeError
from playgrad.inspection.next_tokens import NextTokens, next_tokens
from playgrad.inspection.writers import Writer, codes_of, last_target, writer_of
from playgrad.models.text_form import text_form
from playgrad.page.built_model import BuiltModel
from playgrad.page.excerpt_sample import excerpt_sample
from playgrad.page.restored_model import RestoredModel
from playgrad.page.text_view import problem_of
from playgrad.runtime.hooks import Request

View = dict[str, Any]
TOP = 5
"""Tokens that are listed for each position."""
MOST_TOKENS = 200
"""Of a text; what follows is not looked at."""


def next_tokens_view(model: Any, request: Request) -> View:
    """Return what the model expects after each position of a text, or of a sample for None."""
    began = time.perf_counter()
    text, sample = request["text"], int(request["sample"])
    view = _view(model, text, sample, float(request["temperature"]))
    return {"next_tokens": {**view, "seconds": time.perf_counter() - began}}


def _view(model: Any, text: str | None, sample: int, temperature: float) -> View:
    if isinstance(model, RestoredModel):
        return {"shows": "none", "reason": "restored"}
    if isinstance(model, BuiltModel):  # whose data may be anything
        form = text_form(model)
        can_write = form is not None and newest_vocabulary(form.tokens) is not None
        return {"shows": "none", "reason": "untrained" if can_write else "text"}
    writer = writer_of(model)
    found = None if writer is None else excerpt_sample(model, sample)
    if writer is None or found is None:
        return {"shows": "none", "reason": "text"}
    x, y, about = found
    vocabulary = writer.vocabulary
    of_data = [*codes_of(x[0], writer.form), last_target(y[0], writer.form)]
    view: View = {
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
    }
    try:
        codes = of_data if text is None else vocabulary.encode(text).tolist()
        shown = codes[:MOST_TOKENS]
        seen = next_tokens(model, shown, TOP, temperature, vocabulary, {})
    except (DataError, ShapeError) as error:  # the text does not fit
        return view | {"problem": problem_of(error)}
    perplexity = seen.perplexity
    return view | {
        "total": len(codes),
        "tokens": [vocabulary.tokens[code] for code in shown],
        "predictions": [_prediction(writer, seen, row) for row in range(len(seen.positions))],
        "perplexity": perplexity if math.isfinite(perplexity) else None,
    }


def _prediction(writer: Writer, seen: NextTokens, row: int) -> View:
    chances, came = seen.probabilities[row], int(seen.actual[row])

    def expected(token: int) -> View:
        return {"token": writer.vocabulary.tokens[token], "chance": float(chances[token])}

    return {
        "position": int(seen.positions[row]),
        "top": [expected(token) for token in seen.top[row].tolist()],
        "came": None if came < 0 else {**expected(came), "rank": int(seen.ranks[row])},
    }
