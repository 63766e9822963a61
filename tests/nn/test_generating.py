"""Sequences written by a model, compared with choosing from full predictions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.models import generating
from playgrad.models.next_position import stored_positions
from tests.nn.small_models import GPU_BY_NIGHT


@pytest.fixture(scope="module")
def model() -> Iterator[pg.Model]:
    with pg.Graph().as_default():
        tokens = pg.Input((6,), dtype="int32")
        x = nn.Embedding(7, 8, "normal")(tokens)
        x = nn.Add()([x, nn.PositionEmbedding(6)(x)])
        model = pg.Model(tokens, nn.Dense(7)(nn.TransformerDecoder(16, 2)(x)))
    yield model
    model.close()


def test_greedy_choice_matches_the_whole_sequence(model: pg.Model) -> None:
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


def gpt() -> pg.Model:
    """A model in the functional form of GPT-2: attention as a layer of its own."""
    tokens = pg.Input((6,), dtype="int32")
    x = nn.Embedding(7, 8, "normal")(tokens)
    x = x * 2.0 + nn.PositionEmbedding(9, "normal")(x)
    normal = nn.LayerNormalization()(x)
    x = nn.Add()([x, nn.MultiHeadAttention(2, 5, value_dim=3)(normal, use_causal_mask=True)])
    encoder = nn.TransformerEncoder(16, 2, dropout=0.5, activation="gelu", normalize_first=True)
    x = nn.Dropout(0.5)(encoder(x, use_causal_mask=True))
    return pg.Model(tokens, nn.Dense(7)(nn.LayerNormalization()(x)))


def scores_one_by_one(model: pg.Model, tokens: list[int]) -> np.ndarray:
    stored = stored_positions(model)
    assert stored is not None
    return np.stack([stored.scores(tokens[: i + 1]) for i in range(len(tokens))])


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_stored_positions_give_the_scores_of_all_positions(device: str) -> None:
    with pg.Graph().as_default():
        model = gpt()
    model.compile(device=device)
    tokens = [3, 1, 6, 0, 2, 5]
    for _ in range(2):  # again with other weights
        expected = model.predict(np.array([tokens], np.int32))[0]
        np.testing.assert_allclose(scores_one_by_one(model, tokens), expected, atol=2e-5)
        model.set_weights({name: 1.5 * w for name, w in model.named_weights().items()})
    model.close()


def test_stored_positions_generate_the_same_tokens(
    model: pg.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pg.Graph().as_default():
        models = [model, gpt()]
    for each in models:
        stored = pg.generate(each, [3, 1], 8, 0.7, seed=5)  # more than the input holds
        with monkeypatch.context() as patch:
            patch.setattr(generating, "stored_positions", lambda _: None)
            again = pg.generate(each, [3, 1], 8, 0.7, seed=5)
        np.testing.assert_array_equal(stored, again)
    models[1].close()


def test_a_position_is_computed_once(model: pg.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "predict", lambda *_: pytest.fail("all positions are computed"))
    summary: list[str] = []
    model.summary(summary.append)
    pg.generate(model, [3, 1], 5)
    again: list[str] = []
    model.summary(again.append)
    assert again == summary


def test_other_models_compute_all_positions() -> None:
    def over_positions(x: pg.Tensor) -> pg.Tensor:
        return x - pg.reduce_mean(x, 1, keepdims=True)

    with pg.Graph().as_default():
        tokens = pg.Input((6,), dtype="int32")
        x = nn.Embedding(7, 8)(tokens)
        seen = pg.constant(np.ones((1, 6, 6), bool))
        masked = nn.TransformerDecoder(16, 2)
        others = [
            nn.TransformerEncoder(16, 2)(x),
            masked(x, decoder_attention_mask=seen),
            nn.TransformerDecoder(16, 2)(x, x),
            nn.LSTM(8, return_sequences=True)(x),
            nn.LayerNormalization(axis=1)(x),
            nn.Dense(8, activation=over_positions)(x),
            nn.Embedding(7, 8, mask_zero=True)(tokens),
            x + pg.constant(np.ones((6, 8), np.float32)),
            pg.flip(x, 1),
        ]
        models = [pg.Model(tokens, nn.Dense(7)(each)) for each in others]
    assert [stored_positions(each) for each in models] == [None] * len(models)
    assert pg.generate(models[0], [3, 1], 2).shape == (4,)
    models[0].close()


def test_mistakes_raise_explaining_errors(model: pg.Model) -> None:
    with pytest.raises(pg.ShapeError, match=r"one sequence of tokens, but has shape \(2, 2\)"):
        pg.generate(model, [[1, 2], [3, 4]], 2)
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
    with pg.Graph().as_default():
        x = pg.Input((4, 3))
        hot = pg.Model(x, nn.Dense(3)(nn.GRU(2)(x)))
    with pytest.raises(pg.ShapeError, match="from the 4 before it, but the prompt has 2"):
        pg.generate(hot, [1, 2], 2)
    with pytest.raises(pg.DataError, match="tokens are from 0 to 2, but the prompt has 3"):
        pg.generate(hot, [1, 2, 3, 0], 2)
    hot.close()


def test_models_may_take_one_hot_input_and_score_the_next_token() -> None:
    with pg.Graph().as_default():
        x = pg.Input((4, 3))
        model = pg.Model(x, nn.Dense(3)(nn.GRU(8)(x)))
    tokens = [0, 2, 1, 1]
    for _ in range(5):
        (scores,) = model.predict(np.eye(3, dtype=np.float32)[[tokens[-4:]]])
        tokens.append(int(scores.argmax()))
    np.testing.assert_array_equal(pg.generate(model, tokens[:4], 5, temperature=0), tokens)
    model.close()


def test_tokens_are_drawn_with_the_probabilities_of_a_softmax() -> None:
    with pg.Graph().as_default():
        codes = pg.Input((4,), dtype="int32")
        scores = nn.Dense(5)(nn.GRU(8, return_sequences=True)(nn.Embedding(5, 8)(codes)))
        before, after = pg.Model(codes, scores), pg.Model(codes, nn.Softmax()(scores))
    written = [pg.generate(each, [1, 2], 30, 0.7, seed=4) for each in (before, after)]
    np.testing.assert_array_equal(*written)
    before.close()
    after.close()
