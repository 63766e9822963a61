"""Losses and metrics of targets in another shape than the predictions: aligned, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn import losses, metrics
from playgrad.nn.ratio_metrics import RatioMetric

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
NUMBERS = rng.random(6).astype(np.float32)
CLASSES = rng.integers(0, 3, 6).astype(np.int32)
SHARES = rng.dirichlet(np.ones(3), 6).astype(np.float32)
SPARSE = ("sparse_categorical_crossentropy",)
OF_CLASSES = (
    "accuracy", "categorical_accuracy", "sparse_categorical_accuracy", "top_k_accuracy",
    "top_k_categorical_accuracy", "sparse_top_k_categorical_accuracy",
)  # fmt: skip
ALONG_AN_AXIS = (
    "r2_score", "fbeta_score", "f1_score", "categorical_crossentropy", "categorical_hinge",
    "cosine_similarity", "kl_divergence", *OF_CLASSES[3:],
)  # fmt: skip
ELEMENTWISE = sorted(
    {*losses.BY_KIND, *metrics.BY_KIND} - {"custom", "ctc", *SPARSE, *OF_CLASSES[1:]}
)
Made = nn.Loss | metrics.Metric


def made(kind: str) -> list[Made]:
    """Return the loss and the metric called so."""
    found: list[Made] = [losses.get(kind)] if kind in losses.BY_KIND else []
    return [*found, metrics.get(kind)]


def values(each: Made, y: Array, p: Array, is_known: bool = True) -> list[Array]:
    """Return the numbers of each sample, with a batch size that is known beforehand or not."""
    with pg.Graph().as_default() as graph:
        first = len(y) if is_known else None, len(p) if is_known else None
        y_in = pg.placeholder(y.dtype.name, (first[0], *y.shape[1:]))
        p_in = pg.placeholder("float32", (first[1], *p.shape[1:]))
        if isinstance(each, RatioMetric):
            tensors = list(each.part_values(y_in, p_in))
        elif isinstance(each, nn.Loss):
            tensors = [each.per_sample(y_in, p_in)]
        else:
            tensors = [each(y_in, p_in)]
    with pg.Session(graph, "cpu") as session:
        return [np.asarray(value) for value in session.run(tensors, {y_in: y, p_in: p})]


def check_same(one: list[Array], two: list[Array]) -> None:
    for a, b in zip(one, two, strict=True):
        assert a.shape == b.shape
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("kind", ELEMENTWISE)
def test_numbers_beside_a_column(kind: str, is_known: bool) -> None:
    """(batch,) against (batch, 1), which NumPy's rules broadcast to (batch, batch)."""
    y, p = np.round(NUMBERS), SHARES[:, :1]
    for each in made(kind):
        column = values(each, y[:, None], p)
        assert all(len(value) == 6 for value in column)
        check_same(values(each, y, p, is_known), column)
        if kind not in ALONG_AN_AXIS:
            check_same(values(each, y[:, None], p[:, 0], is_known), column)
            check_same(values(each, y, p[:, 0], is_known), column)
        assert np.ptp(column[0]) > 0 or kind in ALONG_AN_AXIS  # else a broadcast would not show


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("kind", [*SPARSE, *OF_CLASSES])
def test_class_numbers_beside_scores(kind: str, is_known: bool) -> None:
    for each in made(kind):
        if isinstance(each, metrics.TopKAccuracy):
            each.k = 2
        labels = values(each, CLASSES, SHARES)
        assert labels[0].shape == (6,) and np.ptp(labels[0]) > 0
        check_same(values(each, CLASSES[:, None], SHARES, is_known), labels)
        check_same(values(each, CLASSES, SHARES, is_known), labels)


@pytest.mark.parametrize("kind", sorted({*SPARSE, *OF_CLASSES, *ELEMENTWISE}))
def test_what_does_not_fit_is_refused(kind: str) -> None:
    """Also where NumPy's rules broadcast: one sample beside six, three samples of three classes."""
    wrong: list[tuple[Array, Array]] = [
        (NUMBERS[:1], SHARES[:, :1]),
        (NUMBERS[:, None], SHARES[:1, :1]),
        (SHARES[:, :2], SHARES),
        (SHARES[:1], SHARES),
        (NUMBERS[:4], SHARES[:3, :1]),
    ]
    if kind in (*SPARSE, *OF_CLASSES):
        wrong += [(CLASSES[:1], SHARES), (CLASSES[:1, None], SHARES), (CLASSES, SHARES[:1])]
    else:
        wrong += [(NUMBERS[:3], SHARES[:3]), (NUMBERS[:, None], SHARES)]
    for each in made(kind):
        for y, p in wrong:
            for is_known in (True, False):
                with pytest.raises(pg.ShapeError):
                    values(each, y if kind not in SPARSE else y.astype(np.int32), p, is_known)


def test_a_loop_of_ones_own() -> None:
    """A loss of (batch,) and (batch, 1) minimizes the errors of the samples."""
    x = rng.normal(size=(8, 2)).astype(np.float32)
    y = x @ np.array([1, -2], np.float32)
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([pg.Input((2,)), nn.Dense(1)])
    model.set_device("cpu")
    optimizer = pg.optim.SGD(0.3)

    @pg.function(model)
    def step(x: Any, y: Any) -> Any:
        loss = pg.reduce_mean(nn.MeanSquaredError()(y, model(x, training=True)))
        optimizer.minimize(loss)
        return loss

    for _ in range(60):
        loss = step(x, y)
    assert float(loss) < 1e-6
    model.close()


def test_a_metric_that_does_not_fit_the_targets_of_the_loss() -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(3, "softmax")])
    model.compile("sgd", "sparse_categorical_crossentropy", ["mse"], device="cpu")
    with pytest.raises(pg.ShapeError, match=r"mean_squared_error needs targets.*Use one-hot"):
        model.fit(SHARES[:3], CLASSES[:3], batch_size=3, verbose=0)
    model.close()


def test_a_target_without_a_batch_is_refused() -> None:
    with pg.Graph().as_default(), pytest.raises(pg.ShapeError, match="needs targets of the shape"):
        nn.MeanSquaredError()(1.0, pg.placeholder("float32", (None, 1)))
