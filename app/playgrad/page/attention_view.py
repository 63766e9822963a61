"""The weights of attention for one sample, as the page shows them.

They are computed from the variables as they are between two steps, and change none of them.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from playgrad.inspection.attention import attention_weights, attentions
from playgrad.inspection.tokens import tokens_of
from playgrad.page.excerpt_sample import excerpt_sample, why_no_sample
from playgrad.page.restored_model import RestoredModel
from playgrad.runtime.hooks import Request

Array = np.ndarray[Any, Any]
View = dict[str, Any]
MOST_HEADS = 16
MOST_POSITIONS = 128
"""Of queries, and of keys: the first ones are sent."""


def attention_view(model: Any, request: Request) -> View:
    """Return the weights of one use of attention for a sample, that named or the first."""
    began = time.perf_counter()
    view = _view(model, int(request["sample"]), request["layer"])
    return {"attention": {**view, "seconds": time.perf_counter() - began}}


def _view(model: Any, sample: int, name: str) -> View:
    if isinstance(model, RestoredModel):
        return {"shows": "none", "reason": "restored"}
    uses = attentions(model)
    if not uses:
        return {"shows": "none", "reason": "attention"}
    found = excerpt_sample(model, sample)
    if found is None:
        return {"shows": "none", "reason": why_no_sample(model)}
    x, _, about = found
    chosen = name if name in uses else next(iter(uses))
    weights = attention_weights(model, [x], {}, [chosen])[chosen][0]
    heads, to, origin = weights.shape
    shown = weights[:MOST_HEADS, :MOST_POSITIONS, :MOST_POSITIONS]
    tokens = tokens_of(model, x)
    return {
        "shows": "maps",
        "layers": [{"name": each, "heads": use.heads} for each, use in uses.items()],
        "layer": chosen,
        "sample": about,
        "total": {"heads": heads, "queries": to, "keys": origin},
        "heads": shown.shape[0],
        "queries": shown.shape[1],
        "keys": shown.shape[2],
        "query_tokens": _labels(tokens, to),
        "key_tokens": _labels(tokens, origin),
        "weights": np.ascontiguousarray(shown, "<f4").tobytes(),
    }


def _labels(tokens: list[str] | None, positions: int) -> list[str] | None:
    """Return the tokens at the positions that are shown, if the sequence is that of the sample."""
    return tokens[:MOST_POSITIONS] if tokens is not None and len(tokens) == positions else None
