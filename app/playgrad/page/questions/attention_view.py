"""The weights of attention for one sample, as the page shows them.

They are computed from the variables as they are between two steps, and change none of them.
"""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal, TypedDict, cast

import numpy as np

from playgrad.inspection.attention import attention_weights, attentions
from playgrad.inspection.tokens import tokens_of
from playgrad.networks.network import Network
from playgrad.page.excerpt_sample import SampleNumber, excerpt_sample, why_no_sample
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel

Array = np.ndarray[Any, Any]
MOST_HEADS = 16
MOST_POSITIONS = 128
"""The limit of queries, and of keys: the first ones are sent."""


class AttentionQuestion(TypedDict):
    """`layer`: a name, or any other text for the first layer with attention."""

    sample: int
    layer: str


class NoAttention(TypedDict):
    """`attention`: the network has none; `program`: it has no data for the model."""

    shows: Literal["none"]
    reason: Literal["restored", "data", "program", "attention"]
    seconds: float


class AttentionLayer(TypedDict):
    name: str
    heads: int


class AttentionSize(TypedDict):
    heads: int
    queries: int
    keys: int


class AttentionMaps(TypedDict):
    """`weights` (heads, queries, keys): float32, the first ones, of `total`; tokens: at the
    positions, if the sequence is that of the sample."""

    shows: Literal["maps"]
    layers: list[AttentionLayer]
    layer: str
    sample: SampleNumber
    total: AttentionSize
    heads: int
    queries: int
    keys: int
    query_tokens: list[str] | None
    key_tokens: list[str] | None
    weights: bytes
    seconds: float


AttentionView = Annotated[NoAttention | AttentionMaps, "AttentionView"]


@question("attention", "shown", at_checkpoint=True)
def attention_view(model: LiveModel | RestoredModel, request: AttentionQuestion) -> AttentionView:
    """Return the weights of one use of attention for a sample, that named or the first."""
    began = time.perf_counter()
    view = _view(model, request["sample"], request["layer"])
    view["seconds"] = time.perf_counter() - began
    return view


def _view(model: LiveModel | RestoredModel, sample: int, name: str) -> NoAttention | AttentionMaps:
    if isinstance(model, RestoredModel):
        return {"shows": "none", "reason": "restored", "seconds": 0.0}
    network = cast(Network, model)  # a built one passes everything on
    uses = attentions(network)
    if not uses:
        return {"shows": "none", "reason": "attention", "seconds": 0.0}
    found = excerpt_sample(model, sample)
    if found is None:
        return {"shows": "none", "reason": why_no_sample(model), "seconds": 0.0}
    x, _, about = found
    chosen = name if name in uses else next(iter(uses))
    weights = attention_weights(network, [x], {}, [chosen])[chosen][0]
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
        "seconds": 0.0,
    }


def _labels(tokens: list[str] | None, positions: int) -> list[str] | None:
    """Return the tokens at the positions that are shown, if the sequence is that of the sample."""
    return tokens[:MOST_POSITIONS] if tokens is not None and len(tokens) == positions else None
