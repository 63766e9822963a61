"""Sequences written by a model, compared with choosing from full predictions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn


@pytest.fixture(scope="module")
def model() -> Iterator[pg.Model]:
    with pg.Graph().as_default():
        tokens = pg.Input((6,), dtype="int32")
        x = nn.Embedding(7, 8, "normal")(tokens)
        x = nn.Add()([x, nn.PositionEmbedding(6)(x)])
        model = pg.Model(tokens, nn.Dense(7)(nn.TransformerDecoder(16, 2)(x)))
    yield model
    model.close()


def test_greedy_choice_is_that_of_the_whole_sequence(model: pg.Model) -> None:
    written = pg.generate(model, [3, 1], 4, temperature=0)
    assert written.dtype == np.int32 and written[:2].tolist() == [3, 1]
    scores = model.predict(written[None])[0]
    np.testing.assert_array_equal(scores.argmax(-1)[1:5], written[2:])
    longer = pg.generate(model, written, 2, temperature=0)
    last = model.predict(longer[None, 1:7])[0, -1]
    assert longer[7] == last.argmax() and longer[:6].tolist() == written.tolist()


def test_random_choice_follows_seed_and_top_k(model: pg.Model) -> None:
    first, again, other = (pg.generate(model, [3], 12, 1.5, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    greedy = pg.generate(model, [3], 5, temperature=0)
    np.testing.assert_array_equal(pg.generate(model, [3], 5, top_k=1), greedy)


def test_mistakes(model: pg.Model) -> None:
    with pytest.raises(pg.DataError, match="the prompt is empty"):
        pg.generate(model, [], 2)
    with pytest.raises(pg.DataError, match="temperature must be at least 0, got -1"):
        pg.generate(model, [1], 2, temperature=-1)
    with pytest.raises(pg.DataError, match="top_k must be at least 1, got 0"):
        pg.generate(model, [1], 2, top_k=0)
    with pg.Graph().as_default():
        x = pg.Input((4,))
        flat = pg.Model(x, nn.Dense(2)(x))
    with pytest.raises(pg.ShapeError, match=r"got \(\?, 4\) to \(\?, 2\)"):
        pg.generate(flat, [1], 2)
    flat.close()
