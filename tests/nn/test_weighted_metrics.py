"""Metrics in which samples count by their weights: ``weighted_metrics`` of ``compile``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.nn.small_models import DEVICES, LABELS, X, Y

WEIGHTS = np.random.default_rng(1).uniform(0, 3, size=50).astype(np.float32)
WEIGHTS[:5] = 0


def model_with(device: str = "cpu", strategy: Any = None, **metrics: Any) -> pg.Sequential:
    """Return a model of one yes/no output that does not learn."""
    model = pg.Sequential([nn.Dense(1, activation="sigmoid")])
    model.compile(
        pg.optim.SGD(0.0), "binary_crossentropy", device=device, strategy=strategy, **metrics
    )
    return model


@pytest.mark.parametrize("device", DEVICES)
def test_samples_count_by_their_weights(device: str) -> None:
    names = ["binary_accuracy", nn.Precision(), nn.RootMeanSquaredError(name="rmse")]
    model = model_with(device, metrics=["binary_accuracy"], weighted_metrics=names)
    logs = model.evaluate(X, LABELS, 20, sample_weight=WEIGHTS, return_dict=True)
    p, y, w = model.predict(X)[:, 0].astype(float), LABELS.astype(float), WEIGHTS.astype(float)
    hits, above = (p > 0.5) == (y > 0.5), p > 0.5
    assert list(logs) == [
        "loss", "binary_accuracy", "weighted_binary_accuracy", "precision", "rmse"
    ]  # fmt: skip
    assert logs["binary_accuracy"] == pytest.approx(hits.mean(), rel=1e-5)
    assert logs["weighted_binary_accuracy"] == pytest.approx((w * hits).sum() / w.sum(), rel=1e-5)
    assert logs["precision"] == pytest.approx((w * above * y).sum() / (w * above).sum(), rel=1e-5)
    squares = (w * (p - y) ** 2).sum() / w.sum()
    assert logs["rmse"] == pytest.approx(np.sqrt(squares), rel=1e-5)
    # Without weights all samples count the same.
    plain = model.evaluate(X, LABELS, 20, return_dict=True)
    assert plain["weighted_binary_accuracy"] == pytest.approx(plain["binary_accuracy"])
    batch = model.train_on_batch(X, LABELS, sample_weight=WEIGHTS, return_dict=True)
    for name in ("weighted_binary_accuracy", "precision", "rmse"):
        assert batch[name] == pytest.approx(logs[name], rel=1e-5)
    zero = model.evaluate(X, LABELS, sample_weight=0 * WEIGHTS, return_dict=True)
    assert zero["weighted_binary_accuracy"] == zero["precision"] == zero["loss"] == 0
    model.close()


@pytest.mark.parametrize("strategy", [None, pg.parallel.DataParallel(2)], ids=["one", "two"])
def test_epoch_metrics_apply_class_weights(strategy: Any) -> None:
    """The metric of an epoch is computed from its samples, not from the batches' metrics."""
    model = model_with(strategy=strategy, weighted_metrics="binary_accuracy")
    history = model.fit(X, LABELS, 10, 1, 0, class_weight={0: 0.5, 1: 4.0}, shuffle=False)
    hits = (model.predict(X)[:, 0] > 0.5) == (LABELS > 0.5)
    weights = np.where(LABELS == 1, 4.0, 0.5)
    expected = (weights * hits).sum() / weights.sum()
    assert history.history["binary_accuracy"] == [pytest.approx(expected, rel=1e-5)]
    model.close()


def test_several_outputs_have_their_own_weighted_metrics() -> None:
    with pg.Graph().as_default():
        x = pg.Input((4,))
        outputs = [nn.Dense(1, name="a")(x), nn.Dense(1, name="b")(x)]
        model = pg.Model(x, outputs)
    model.compile("sgd", "mse", ["mae"], device="cpu", weighted_metrics=[["mae"], ["mse"]])
    logs = model.evaluate(X, [Y, Y], sample_weight=WEIGHTS, return_dict=True)
    assert list(logs) == [
        "loss", "a_loss", "b_loss", "a_mae", "b_mae", "a_weighted_mae", "b_mse"
    ]  # fmt: skip
    error = np.abs(model.predict(X)[0][:, 0] - Y)
    expected = (WEIGHTS * error).sum() / WEIGHTS.sum()
    assert logs["a_weighted_mae"] == pytest.approx(expected, rel=1e-4)
    model.compile("sgd", "mse", device="cpu", weighted_metrics=[["mae"]] * 3)
    with pytest.raises(pg.GraphError, match="2 outputs, but 3 lists of weighted metrics"):
        model.evaluate(X, [Y, Y])
    model.close()


def test_steps_that_a_mask_keeps_count_by_the_weight_of_their_sample() -> None:
    tokens = np.array([[1, 2, 0], [3, 0, 0], [2, 2, 1]], np.int32)
    labels = np.array([[0, 1, 0], [1, 0, 0], [1, 1, 1]], np.int32)
    weights = np.array([1.0, 5.0, 0.5], np.float32)
    model = pg.Sequential([nn.Embedding(4, 3, mask_zero=True), nn.Dense(2)])
    model.compile(
        "sgd",
        nn.SparseCategoricalCrossentropy(from_logits=True),
        device="cpu",
        weighted_metrics=["accuracy"],
    )
    model.build((3,))
    logs = model.evaluate(tokens, labels, sample_weight=weights, return_dict=True)
    hits = model.predict(tokens).argmax(-1) == labels
    each = weights[:, None] * (tokens != 0)
    assert logs["accuracy"] == pytest.approx((each * hits).sum() / each.sum(), rel=1e-5)
    model.close()
