"""Predictions for single samples: the numbers are NumPy's, and the model stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import DataError, GraphError
from playgrad.graph.graph import reset_default_graph
from playgrad.inspection import samples
from playgrad.inspection.outputs import NO_CLASS

Array = np.ndarray[Any, Any]
LOGITS = nn.SparseCategoricalCrossentropy(from_logits=True)
X = np.random.default_rng(0).normal(size=(90, 4)).astype(np.float32)
Y = (np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.0])).astype(np.int32)


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    yield
    reset_default_graph()


def trained(
    layers: list[nn.Layer], loss: Any = LOGITS, x: Array = X, y: Array = Y
) -> pg.Sequential:
    model = pg.Sequential(layers)
    model.compile(pg.optim.Adam(0.02), loss, device="cpu")
    model.fit(x, y, batch_size=30, epochs=3, verbose=0)
    return model


def numpy_scores(model: pg.Sequential, x: Array) -> Array:
    weights = {k: v.astype(np.float64) for k, v in model.named_weights().items()}
    hidden = np.tanh(x @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    result: Array = hidden @ weights["dense_2/kernel"] + weights["dense_2/bias"]
    return result


def test_the_confusion_matrix_and_losses_match_numpy() -> None:
    model = trained([nn.Dense(5, activation="tanh"), nn.Dense(3)])
    scores = numpy_scores(model, X)
    counts = np.zeros((3, 3), int)
    for truth, guess in zip(Y, scores.argmax(axis=1), strict=True):
        counts[truth, guess] += 1
    assert np.array_equal(samples.confusion(model, X, Y), counts)
    assert counts.trace() < 90  # some are wrong
    shifted = scores - scores.max(axis=1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(90), Y]
    judged = samples.predictions(model, X, Y)
    assert np.allclose(judged.losses, losses, rtol=1e-4, atol=1e-5)
    assert judged.losses.mean() == pytest.approx(model.evaluate(X, Y), rel=1e-4)
    order = samples.hardest(model, X, Y, 7)
    assert order[0] == losses.argmax()
    assert np.allclose(losses[order], np.sort(losses)[::-1][:7], rtol=1e-4)


LOSSES: dict[str, tuple[int, Any, Array]] = {
    "binary": (1, nn.BinaryCrossentropy(from_logits=True), Y > 0),
    "hinge": (1, "hinge", np.where(Y > 0, 1.0, -1.0)),
    "one-hot": (3, nn.CategoricalCrossentropy(from_logits=True), np.eye(3)[Y]),
    "huber": (1, "huber", X[:, :1] * 3),
    "a function": (1, lambda truth, guess: pg.mean(pg.abs(truth - guess), axis=-1), X[:, :1]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_sample_losses_match_the_training_loss(name: str) -> None:
    outputs, loss, y = LOSSES[name]
    model = trained([nn.Dense(5, activation="tanh"), nn.Dense(outputs)], loss, X, np.float32(y))
    judged = samples.predictions(model, X, np.float32(y))
    one_by_one = [model.evaluate(X[i : i + 1], np.float32(y[i : i + 1])) for i in range(8)]
    assert np.allclose(judged.losses[:8], one_by_one, rtol=1e-4, atol=1e-6)


def test_looking_changes_neither_weights_nor_the_course_of_the_training() -> None:
    def losses(looks: bool) -> list[float]:
        reset_default_graph()
        layers = [nn.Dense(8), nn.BatchNormalization(), nn.ReLU(), nn.Dropout(0.3), nn.Dense(3)]
        model = trained(layers)
        nodes, draws = len(model.graph.nodes), model.graph.random_ops
        before = model.named_weights()
        if looks:
            samples.confusion(model, X, Y)
            samples.hardest(model, X, Y)
        assert (len(model.graph.nodes), model.graph.random_ops) == (nodes, draws)
        for name, values in model.named_weights().items():
            assert np.array_equal(values, before[name])
        return list(model.fit(X, Y, batch_size=30, epochs=2, verbose=0).history["loss"])

    assert losses(looks=True) == losses(looks=False)


def test_nan_outputs_are_in_no_cell_and_count_as_hardest() -> None:
    model = trained([nn.Dense(3)])
    x = X.copy()
    model.set_weights({k: np.full_like(v, np.nan) for k, v in model.named_weights().items()})
    judged = samples.predictions(model, x, Y)
    assert (judged.predicted == NO_CLASS).all()
    assert samples.confusion_of(judged).sum() == 0
    assert samples.ranked(np.array([1, np.nan, 3, np.inf])).tolist() == [1, 3, 2, 0]


def test_one_class_and_one_sample_are_handled() -> None:
    model = trained([nn.Dense(3)], y=np.zeros(90, np.int32))
    counts = samples.confusion(model, X, np.zeros(90, np.int32))
    assert counts[0].sum() == counts.sum() == 90
    assert samples.confusion(model, X[:1], Y[:1]).sum() == 1
    assert samples.hardest(model, X[:1], Y[:1]).tolist() == [0]
    with pytest.raises(DataError, match="x is empty"):
        samples.confusion(model, X[:0], Y[:0])


def test_a_model_with_a_batch_size_gets_samples_of_any_number() -> None:
    inputs = pg.Input((4,), batch_size=32)
    model = pg.Model(inputs, nn.Dense(3)(inputs))
    model.compile("sgd", LOGITS, device="cpu")
    model.fit(X[:64], Y[:64], batch_size=32, verbose=0)
    weights = model.named_weights()
    scores = X @ weights["dense_1/kernel"] + weights["dense_1/bias"]
    judged = samples.judge(model, X, Y)
    assert np.array_equal(judged.predicted, scores.argmax(axis=1))


def test_outputs_other_than_one_class_or_number_are_refused() -> None:
    labels = np.float32(np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1))
    model = trained([nn.Dense(2)], nn.BinaryCrossentropy(from_logits=True), X, labels)
    with pytest.raises(GraphError, match="not one class or number for each sample"):
        samples.confusion(model, X, labels)
    numbers = trained([nn.Dense(1)], "mse", X, X[:, :1])
    with pytest.raises(GraphError, match="predicts numbers"):
        samples.confusion(numbers, X, X[:, :1])
    with pytest.raises(GraphError, match="no optimizer and loss"):
        samples.confusion(pg.Sequential([nn.Dense(2)]), X, Y)
