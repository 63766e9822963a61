"""Attention follows the masks that layers attach to sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn.masks import mask_of

Array = np.ndarray[Any, Any]
STEPS, WIDTH = 5, 4
LENGTHS = np.array([5, 3, 1])
SEEN = np.arange(STEPS) < LENGTHS[:, None]
TOKENS = np.where(SEEN, np.random.default_rng(3).integers(1, 9, (3, STEPS)), 0).astype(np.int32)
QUERIES = np.random.default_rng(4).normal(size=(3, 2, WIDTH)).astype(np.float32)


def attention() -> nn.MultiHeadAttention:
    return nn.MultiHeadAttention(2, 3, name="attention")


CASES = {
    "self": lambda x, query, seen: attention()(
        x, **({} if seen is None else {"query_mask": seen, "value_mask": seen})
    ),
    "other": lambda x, query, seen: attention()(query, x, value_mask=seen),
    "key": lambda x, query, seen: attention()(query, x, x, value_mask=seen, key_mask=seen),
    "encoder": lambda x, query, seen: nn.TransformerEncoder(6, 2)(x, padding_mask=seen),
    "decoder": lambda x, query, seen: nn.TransformerDecoder(6, 2)(x, decoder_padding_mask=seen),
    "cross": lambda x, query, seen: nn.TransformerDecoder(6, 2)(
        query, x, encoder_padding_mask=seen
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_padding_is_not_seen(case: str) -> None:
    """The masks of `Embedding` do what the same masks do as arguments."""
    call: Callable[..., Any] = CASES[case]

    def model(padding: bool) -> tuple[pg.Model, bool]:
        with pg.Graph(seed=1).as_default():
            tokens = pg.Input((STEPS,), dtype="int32")
            query = pg.Input((2, WIDTH))
            seen = pg.Input((STEPS,), dtype="bool")
            x = nn.Embedding(9, WIDTH, mask_zero=padding)(tokens)
            y = call(x, query, None if padding else seen)
            masked = mask_of(y) is not None
            return pg.Model([tokens, query, seen], [y, query + 0.0, pg.cast(seen, "int32")]), masked

    attached, masked = model(True)
    explicit, _ = model(False)
    explicit.set_weights(attached.named_weights())
    inputs = [TOKENS, QUERIES, SEEN]
    result, expected = (each.predict(inputs)[0] for each in (attached, explicit))
    np.testing.assert_allclose(result, expected, atol=1e-6)
    assert masked == (case not in ("other", "key", "cross")), "the result has the mask of the query"
    unmasked = explicit.predict([TOKENS, QUERIES, np.ones_like(SEEN)])[0]
    assert (case == "decoder") == np.allclose(
        result[SEEN] if masked else result, unmasked[SEEN] if masked else unmasked
    )
    for each in (attached, explicit):
        each.close()


def test_given_mask_replaces_the_attached_one() -> None:
    with pg.Graph().as_default() as graph:
        tokens = pg.Input((STEPS,), dtype="int32")
        x = nn.Embedding(9, WIDTH, mask_zero=True)(tokens)
        every = pg.constant(np.ones((3, STEPS), bool))
        layer = nn.MultiHeadAttention(1, 4)
        scores = [
            layer.attention_scores(pg.ones_like(x), x),
            layer.attention_scores(pg.ones_like(x), x, value_mask=every),
        ]
    with pg.Session(graph, "cpu") as session:
        hidden, seen = (np.asarray(a)[1, 0] for a in session.run(scores, {tokens: TOKENS}))
    assert (hidden[:, 3:] == 0).all()
    assert (seen > 0).all()


def test_padding_does_not_change_a_classification() -> None:
    """The content of the padding does not matter to a transformer with positions."""
    with pg.Graph(seed=2).as_default():
        tokens = pg.Input((STEPS,), dtype="int32")
        x = nn.Embedding(9, WIDTH, mask_zero=True)(tokens)
        x = nn.Add()([x, nn.PositionEmbedding(STEPS)(x)])
        x = nn.TransformerEncoder(6, 2)(x)
        model = pg.Model(tokens, nn.Dense(2)(nn.GlobalAveragePooling1D()(x)))
    result = model.predict(TOKENS)
    weights = model.named_weights()
    weights["embedding_1/embeddings"][0] = 7.0  # the vector of padding
    model.set_weights(weights)
    np.testing.assert_allclose(model.predict(TOKENS), result, atol=1e-6)
    model.close()
