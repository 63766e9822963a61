"""Losses along other axes, labels that do not count, and dropout of a noise shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
SCORES = rng.normal(size=(6, 5, 3)).astype(np.float32)
LABELS = rng.integers(0, 3, (6, 5))


def softmax(x: Array, axis: int = -1) -> Array:
    powers = np.exp(x - x.max(axis, keepdims=True))
    result: Array = powers / powers.sum(axis, keepdims=True)
    return result


def value(loss: nn.Loss, y_true: Array, y_pred: Array) -> Array:
    """The loss of each sample; labels go through the checks of training."""
    checked = loss.check_targets(y_true, (None, *y_pred.shape[1:]), "y", "dense")
    with pg.Graph().as_default() as graph:
        result = loss.per_sample(pg.constant(checked), pg.constant(y_pred))
    with pg.Session(graph, "cpu") as session:
        array: Array = session.run(result)
    return array


@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("from_logits", [True, False])
def test_classes_may_lie_along_any_axis(axis: int, from_logits: bool) -> None:
    probabilities = softmax(SCORES)
    y_pred = np.moveaxis(SCORES if from_logits else probabilities, -1, 1)
    chosen = np.take_along_axis(probabilities, LABELS[..., None], -1)[..., 0]
    expected = -np.log(chosen).mean(axis=1)
    sparse = nn.SparseCategoricalCrossentropy(from_logits, axis=axis)
    np.testing.assert_allclose(value(sparse, LABELS, y_pred), expected, rtol=1e-5)
    one_hot = np.moveaxis(np.eye(3, dtype=np.float32)[LABELS], -1, 1)
    dense = nn.CategoricalCrossentropy(from_logits, axis=axis)
    np.testing.assert_allclose(value(dense, one_hot, y_pred), expected, rtol=1e-5)


def test_similarity_and_binary_entropy_take_an_axis() -> None:
    other = rng.normal(size=SCORES.shape).astype(np.float32)
    products = (SCORES * other).sum(1)
    lengths = np.linalg.norm(SCORES, axis=1) * np.linalg.norm(other, axis=1)
    found = value(nn.CosineSimilarity(axis=1), other, SCORES)
    np.testing.assert_allclose(found, (-products / lengths).mean(axis=1), rtol=1e-5)
    binary, p = (other > 0).astype(np.float32), softmax(SCORES)
    each = -(binary * np.log(p) + (1 - binary) * np.log(1 - p)).mean(axis=(1, 2))
    found = value(nn.BinaryCrossentropy(axis=1), binary, p)
    np.testing.assert_allclose(found, each, rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 3, -3])
def test_nonexistent_axes_are_refused(axis: int) -> None:
    for loss in (
        nn.SparseCategoricalCrossentropy(axis=axis),
        nn.CategoricalCrossentropy(axis=axis),
        nn.BinaryCrossentropy(axis=axis),
        nn.CosineSimilarity(axis),
    ):
        y = LABELS if loss.target_dtype == "int32" else np.zeros_like(SCORES)
        with pytest.raises(pg.ShapeError, match=f"along axis {axis} needs predictions that have"):
            value(loss, y, softmax(SCORES))


@pytest.mark.parametrize("labels", [LABELS, LABELS[:, 0]])
@pytest.mark.parametrize("ignored", [-1, 255, 1])
@pytest.mark.parametrize("strategy", [None, pg.parallel.DataParallel(2)], ids=str)
def test_ignored_labels_do_not_affect_loss_and_gradient(
    labels: Array, ignored: int, strategy: Any
) -> None:
    """The mean over all labels of the batch that count; the gradient of the others is 0."""
    labels = np.where(rng.random(labels.shape) < 0.4, ignored, labels)
    x = SCORES if labels.ndim == 2 else SCORES[:, 0]
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(3)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True, ignore_class=ignored)
    model.compile(pg.optim.SGD(0.5), loss, device="cpu", strategy=strategy)
    model.build(x.shape[1:])
    kernel, bias = model.get_weights()
    kept = labels != ignored
    probabilities = softmax(x @ kernel + bias)
    targets = np.eye(3)[np.where(kept, labels, 0)]
    expected = -np.log((probabilities * targets).sum(-1))[kept].mean()
    assert model.evaluate(x, labels) == pytest.approx(expected, rel=1e-5)
    history = model.fit(x, labels, len(x), 1, 0)
    assert history.losses[0] == pytest.approx(expected, rel=1e-5)
    slopes = np.where(kept[..., None], probabilities - targets, 0.0) / kept.sum()
    step = 0.5 * x.reshape(-1, 3).T @ slopes.reshape(-1, 3)
    np.testing.assert_allclose(model.get_weights()[0], kernel - step, rtol=1e-4, atol=1e-6)
    with pytest.raises(pg.DataError, match="contains the label 7"):
        model.fit(x, np.full_like(labels, 7), verbose=0)
    model.close()


def test_ignored_labels_do_not_count_in_masked_sequences() -> None:
    words = np.array([[1, 2, 0, 0], [3, 1, 2, 0]])
    labels = np.array([[1, 9, 0, 0], [9, 0, 1, 9]])
    model = pg.Sequential([nn.Embedding(4, 3, mask_zero=True), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True, ignore_class=9)
    model.compile("sgd", loss, device="cpu")
    probabilities = softmax(model.predict(words))
    kept = (words > 0) & (labels != 9)
    chosen = np.take_along_axis(probabilities, np.where(kept, labels, 0)[..., None], -1)[..., 0]
    expected = -np.log(chosen)[kept].mean()
    assert model.evaluate(words, labels) == pytest.approx(expected, rel=1e-5)
    model.close()


def test_values_are_dropped_together() -> None:
    layer = nn.Dropout(0.5, noise_shape=(None, 1, 8))
    layer = nn.Dropout.from_config(layer.get_config())
    x = np.ones((30, 4, 8), np.float32)
    with pg.Graph(seed=1).as_default() as graph:
        y = layer(pg.constant(x), training=True)
        for sizes, words in (
            ((None, 1), "does not fit inputs"),
            ((None, 3, 8), "does not fit inputs"),
            ((1, 4, 8), "cannot drop the same values in all samples"),
        ):
            with pytest.raises(pg.ShapeError, match=words):
                nn.Dropout(0.5, sizes)(pg.constant(x), training=True)
    with pg.Session(graph, "cpu") as session:
        result = session.run(y)
    assert set(np.unique(result)) == {0.0, 2.0}
    np.testing.assert_array_equal(result, np.repeat(result[:, :1], 4, axis=1))
    assert len(np.unique(result[:, 0], axis=0)) > 20
    with pytest.raises(pg.ShapeError, match="a size in noise_shape of a Dropout layer must be"):
        nn.Dropout(0.5, (None, 0))
