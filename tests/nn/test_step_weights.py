"""Weights of the steps of sequences in losses and metrics, as in Keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import DataError, ShapeError
from tests.nn.small_models import Array
from tests.nn.test_masked_objectives import LABELS, MASK, WORDS

WEIGHTS = np.random.default_rng(3).uniform(0, 3, WORDS.shape).astype(np.float32)


def tagger(masked: bool, device: str = "cpu", strategy: Any = None) -> pg.Sequential:
    with pg.Graph(seed=4).as_default():
        layers = [nn.Embedding(4, 5, mask_zero=masked), nn.Dense(3, "softmax")]
        model = pg.Sequential([pg.Input((4,), dtype="int32"), *layers])
    model.compile(
        pg.optim.SGD(0.1),
        "sparse_categorical_crossentropy",
        ["accuracy"],
        weighted_metrics=["accuracy"],
        device=device,
        strategy=strategy,
    )
    return model


def expected_logs(p: Array, labels: Array, weights: Array, kept: Array) -> list[float]:
    """Return the loss, the accuracy, and the accuracy by weights."""
    each = -np.log(np.take_along_axis(p, labels[..., None], -1)[..., 0])
    hits = p.argmax(-1) == labels
    loss = (weights * each)[kept].sum() / kept.sum()
    return [loss, hits[kept].mean(), (weights * hits)[kept].sum() / weights[kept].sum()]


@pytest.mark.parametrize(
    ("device", "masked"),
    [("cpu", False), ("cpu", True), pytest.param("gpu", True, marks=pytest.mark.gpu)],
)
def test_steps_count_by_their_weights(device: str, masked: bool) -> None:
    model = tagger(masked, device)
    kept = MASK if masked else np.ones_like(MASK)
    expected = expected_logs(model.predict(WORDS), LABELS, WEIGHTS, kept)
    logs = model.evaluate(WORDS, LABELS, 5, sample_weight=WEIGHTS)
    np.testing.assert_allclose(logs, expected, rtol=1e-5)
    losses = model.fit(WORDS, LABELS, 5, 2, 0, sample_weight=WEIGHTS).losses
    np.testing.assert_allclose(losses[0], expected[0], rtol=1e-5)
    assert losses[1] < losses[0]
    expected = expected_logs(model.predict(WORDS), LABELS, WEIGHTS, kept)
    streamed = pg.data.Dataset.from_tensor_slices((WORDS, LABELS, WEIGHTS)).batch(5)
    np.testing.assert_allclose(model.evaluate(streamed), expected, rtol=1e-5)
    batch = model.train_on_batch(WORDS, LABELS, sample_weight=WEIGHTS)
    np.testing.assert_allclose(batch, expected, rtol=1e-5)
    model.close()


def test_metrics_of_counts_and_several_devices() -> None:
    x = np.random.default_rng(0).normal(size=(6, 3, 2)).astype(np.float32)
    y = (x[..., :1] > 0).astype(np.float32)
    weights = np.random.default_rng(1).uniform(0, 2, (6, 3)).astype(np.float32)
    losses = []
    for strategy in (None, pg.parallel.DataParallel(2)):
        with pg.Graph(seed=4).as_default():
            model = pg.Sequential([nn.Dense(1, "sigmoid")])
        model.compile("sgd", "mse", weighted_metrics=["precision"], device="cpu", strategy=strategy)
        losses.append(model.fit(x, y, 6, 2, 0, sample_weight=weights).losses)
        p = model.predict(x)
        share = (weights[..., None] * (p > 0.5))[y == 1].sum() / (
            weights[..., None] * (p > 0.5)
        ).sum()
        logs = model.evaluate(x, y, sample_weight=weights)
        np.testing.assert_allclose(logs[1], share, rtol=1e-5)
        model.close()
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-5)


def test_weights_that_do_not_fit() -> None:
    model = tagger(masked=False)
    with pytest.raises(DataError, match=r"shape is \(5, 3\)\. For each step of sequences"):
        model.fit(WORDS, LABELS, verbose=0, sample_weight=WEIGHTS[:, :3])
    flat = pg.Sequential([nn.Dense(4)])
    flat.compile("sgd", "mse", device="cpu")
    with pytest.raises(ShapeError, match=r"takes a weight for each sample, not weights of shape"):
        flat.fit(WEIGHTS, WEIGHTS, verbose=0, sample_weight=WEIGHTS)
