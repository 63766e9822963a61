"""Activity regularizers of recurrent layers, of layers inside others, and of attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
X = rng.normal(size=(10, 4, 3)).astype(np.float32)
PENALTY = nn.L1L2(0.1, 0.2)


def of_samples(*results: Array) -> float:
    """The penalty of ``results``: the sum over each sample, the mean over samples."""
    parts = [(0.1 * np.abs(y) + 0.2 * y**2).reshape(len(y), -1).sum(axis=1) for y in results]
    return float(np.mean(sum(parts)))


def losses(inputs: pg.Tensor, output: pg.Tensor, batch: int = 10) -> tuple[float, float]:
    """Return the loss without errors of prediction: in evaluation and in a training step."""
    model = pg.Model(inputs, output)
    model.compile(pg.optim.SGD(0.0), "mse", device="cpu")
    y = model.predict(X)
    evaluated = model.evaluate(X, y, batch)
    trained = model.fit(X, y, batch, 1, 0, shuffle=False).losses.mean()
    return float(evaluated), float(trained)


def check(inputs: pg.Tensor, output: pg.Tensor, expected: float) -> None:
    np.testing.assert_allclose(losses(inputs, output), expected, rtol=1e-5)
    np.testing.assert_allclose(losses(inputs, output, 5), expected, rtol=1e-5)


@pytest.mark.parametrize("kind", [nn.SimpleRNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("sequences", [False, True])
def test_recurrent_layers_penalize_their_outputs(kind: Any, sequences: bool) -> None:
    layer = kind(5, activity_regularizer=PENALTY, return_sequences=sequences)
    layer = kind.from_config(layer.get_config())
    inputs = pg.Input((4, 3))
    output = layer(inputs)
    check(inputs, output, of_samples(pg.Model(inputs, output).predict(X)))


def test_returned_states_are_penalized() -> None:
    inputs = pg.Input((4, 3))
    results = nn.LSTM(5, activity_regularizer=PENALTY, return_state=True)(inputs)
    arrays = pg.Model(inputs, list(results)).predict(X)
    assert len(arrays) == 3
    check(inputs, results[0], of_samples(*arrays))


def test_both_directions_are_penalized() -> None:
    inputs = pg.Input((4, 3))
    inner = nn.GRU(5, activity_regularizer=PENALTY, return_sequences=True)
    results = nn.Bidirectional(inner, merge_mode=None)(inputs)
    arrays = pg.Model(inputs, list(results)).predict(X)
    check(inputs, nn.Add()(results), of_samples(*arrays))


def test_time_distributed_layers_are_penalized_at_each_step() -> None:
    inputs = pg.Input((4, 3))
    output = nn.TimeDistributed(nn.Dense(2, activity_regularizer=PENALTY))(inputs)
    direct = nn.Dense(2, activity_regularizer=PENALTY)
    check(inputs, output, of_samples(pg.Model(inputs, output).predict(X)))
    check(inputs, (same := direct(inputs)), of_samples(pg.Model(inputs, same).predict(X)))


def test_attention_penalizes_its_four_projections() -> None:
    """As in Keras, where query, key, value and output are layers that all have the regularizer."""
    inputs = pg.Input((4, 3))
    layer = nn.MultiHeadAttention(2, 3, activity_regularizer=PENALTY, bias_initializer="normal")
    output = layer(inputs, inputs)
    named = pg.Model(inputs, output).named_weights()
    weights = {name.rpartition("/")[2]: value for name, value in named.items()}
    products = [
        X @ weights[f"{role}_kernel"] + weights[f"{role}_bias"]
        for role in ("query", "key", "value")
    ]
    check(inputs, output, of_samples(*products, pg.Model(inputs, output).predict(X)))
    scores = layer.attention_scores(inputs, inputs)
    model = pg.Model(inputs, scores)
    model.compile("sgd", "mse", device="cpu")
    assert model.evaluate(X, model.predict(X)) == 0.0


@pytest.mark.parametrize("strategy", [pg.parallel.DataParallel(2), pg.parallel.Pipeline(2, 2)])
def test_penalties_agree_on_several_devices(strategy: Any) -> None:
    results = []
    for used in (None, strategy):
        with pg.Graph(seed=2).as_default():
            inner = nn.LSTM(3, activity_regularizer="l2")
            model = pg.Sequential([nn.Bidirectional(inner), nn.Dense(1)])
        model.compile(pg.optim.SGD(0.1), "mse", device="cpu", strategy=used)
        results.append(model.fit(X, X[:, 0, 0], 5, 2, 0).losses)
        model.close()
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4)
