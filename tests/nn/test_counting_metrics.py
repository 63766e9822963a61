"""Metrics from many counts: areas under curves, F scores, confusion matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.nn.small_models import X

Array = np.ndarray[Any, Any]
random = np.random.default_rng(6)
BITS = (random.random((50, 1)) > 0.4).astype(np.float32)
CLASSES = random.integers(0, 3, 50)
ONE_HOT = np.eye(3, dtype=np.float32)[CLASSES]


def rank_area(scores: Array, true: Array) -> float:
    """Return the exact area under the ROC curve: how often a positive is above a negative."""
    above = scores[true > 0.5][:, None] - scores[true < 0.5][None]
    return float((above > 0).mean() + (above == 0).mean() / 2)


def precision_area(scores: Array, true: Array) -> float:
    """Return the area under precision over recall, one step for each positive."""
    order = np.argsort(-scores)
    precision = np.cumsum(true[order]) / np.arange(1, len(true) + 1)
    return float(precision[true[order] > 0.5].mean())


def f_scores(chosen: Array, true: Array, beta: float = 1.0) -> Array:
    hits = (chosen * true).sum(0)
    precision, recall = hits / chosen.sum(0), hits / true.sum(0)
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


@pytest.mark.gpu
def test_the_area_on_a_gpu_matches_an_exact_count() -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(1, "sigmoid")])
        model.compile("sgd", "binary_crossentropy", "auc", device="gpu")
    found = model.evaluate(X, BITS, batch_size=20, return_dict=True)
    exact = rank_area(model.predict(X)[:, 0], BITS[:, 0])
    assert found["auc"] == pytest.approx(exact, abs=0.02)
    model.close()


def test_areas_count_samples_over_all_batches() -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(1, "sigmoid")])
        areas = [
            "auc",
            nn.AUC(40, "PR", name="precision_recall"),
            nn.AUC(20, summation_method="minoring", name="lower"),
            nn.AUC(20, summation_method="majoring", name="upper"),
            nn.AUC(20, "PR", "minoring", name="lower_pr"),
            nn.AUC(thresholds=[0.5, 0.25], name="three"),
        ]
        model.compile("sgd", "binary_crossentropy", areas, device="cpu")
    history = model.fit(X, BITS, 25, 2, 0, validation_data=(X, BITS))
    scores, true = model.predict(X)[:, 0], BITS[:, 0]
    exact = rank_area(scores, true)
    found = model.evaluate(X, BITS, batch_size=20, return_dict=True)
    assert found["auc"] == pytest.approx(exact, abs=0.02)
    assert found["lower"] <= exact <= found["upper"] and found["upper"] - found["lower"] > 0.01
    assert found["precision_recall"] == pytest.approx(precision_area(scores, true), abs=0.05)
    assert found["lower_pr"] < found["precision_recall"]
    whole = model.train_on_batch(X, BITS, return_dict=True)
    for name, value in found.items():
        assert history.history[f"val_{name}"][-1] == pytest.approx(value, rel=1e-5)
        assert whole[name] == pytest.approx(value, rel=1e-5)
    assert set(found) == {"loss", "auc", *(area.name for area in areas[1:] if area != "auc")}
    model.close()


def counts_of(metric: nn.RatioMetric, true: list[float], predicted: list[float]) -> Any:
    with (graph := pg.Graph()).as_default():
        y_true, y_pred = (np.array(v, np.float32)[:, None] for v in (true, predicted))
        parts = metric.part_values(pg.constant(y_true), pg.constant(y_pred))
        means = [pg.reduce_mean(part, axis=0) for part in parts]
    with pg.Session(graph) as session:
        return metric.result(np.concatenate([np.atleast_1d(v) for v in session.run(means)]))


def test_more_thresholds_come_closer() -> None:
    scores = random.random(300)
    true = (random.random(300) < scores).astype(np.float32)
    found = counts_of(nn.AUC(5000), list(true), list(scores))
    assert found == pytest.approx(rank_area(scores, true), abs=1e-3)
    found = counts_of(nn.AUC(5000, "PR"), list(true), list(scores))
    assert found == pytest.approx(precision_area(scores, true), abs=0.01)


def test_small_areas_match_a_count_by_hand() -> None:
    true, predicted = [0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.3, 0.9]
    assert counts_of(nn.AUC(num_thresholds=3), true, predicted) == pytest.approx(0.75)
    logits = list(np.log(np.array(predicted) / (1 - np.array(predicted)) + 1e-20))
    assert counts_of(nn.AUC(3, from_logits=True), true, logits) == pytest.approx(0.75)
    assert counts_of(nn.AUC(3, "PR"), true, predicted) == pytest.approx(interpolated(), rel=1e-6)
    for nothing in ([0.0] * 4, [1.0] * 4):
        assert counts_of(nn.AUC(), nothing, predicted) == 0.0


def interpolated() -> float:
    """Integrate precision over recall from (0.5, 1 of 1) to (1, 2 of 4) numerically."""
    hits = np.linspace(1, 2, 200_001)
    precision = hits / (1 + 3 * (hits - 1))
    step = (precision[1:] + precision[:-1]).sum() / 2 * (hits[1] - hits[0])
    return float(0.5 + step / 2)


def test_f_scores_count_samples_over_all_batches() -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(3, "softmax")])
        scores = [
            nn.F1Score(),
            nn.F1Score("macro", name="macro"),
            nn.F1Score("micro", threshold=0.3, name="micro"),
            nn.FBetaScore("weighted", 2.0, name="weighted"),
        ]
        model.compile("sgd", "categorical_crossentropy", scores, device="cpu")
    history = model.fit(X, ONE_HOT, 10, 2, 0)
    prediction = model.predict(X)
    chosen = np.eye(3)[prediction.argmax(1)]
    found = model.evaluate(X, ONE_HOT, batch_size=7, return_dict=True)
    each = f_scores(chosen, ONE_HOT)
    wide = prediction > 0.3
    expected = {f"f1_score_{i}": score for i, score in enumerate(each)} | {
        "macro": each.mean(),
        "micro": f_scores(wide.reshape(-1, 1), ONE_HOT.reshape(-1, 1))[0],
        "weighted": f_scores(chosen, ONE_HOT, 2.0) @ ONE_HOT.mean(0),
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-5), name
        assert len(history.history[name]) == 2
    assert set(found) == {"loss", *expected}
    model.close()


def test_scores_without_predictions_are_0() -> None:
    assert nn.F1Score().result([0.0, 0.5, 0.0, *[0.0, 0.5, 0.0] * 2]) == [0.0, 1.0, 0.0]
    assert nn.F1Score("weighted").result([0.0] * 6) == 0.0


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_the_confusion_matrix_counts_weighted_classes(device: str) -> None:
    predicted = random.integers(0, 4, 50)
    weights = random.random(50).astype(np.float32)
    with (graph := pg.Graph()).as_default():
        counts = pg.confusion_matrix(CLASSES, predicted, 4)
        weighted = pg.confusion_matrix(CLASSES, predicted, 4, weights)
    with pg.Session(graph, device=device) as session:
        results = session.run([counts, weighted])
    expected = np.zeros((2, 4, 4))
    np.add.at(expected[0], (CLASSES, predicted), 1)
    np.add.at(expected[1], (CLASSES, predicted), weights)
    assert results[0].dtype == np.int32
    for result, matrix in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, matrix, rtol=1e-5)


def test_wrong_use_raises_explaining_errors() -> None:
    for metric, words in (
        (lambda: nn.AUC(1), "num_thresholds must be at least 2, got 1"),
        (lambda: nn.AUC(curve="PRGAIN"), "curve must be one of ROC, PR, got 'PRGAIN'"),
        (lambda: nn.AUC(summation_method="mean"), "must be one of interpolation, minoring"),
        (lambda: nn.AUC(thresholds=[2.0]), "thresholds must lie between 0 and 1"),
        (lambda: nn.F1Score("samples"), "average must be None, micro, macro or weighted"),
        (lambda: nn.FBetaScore(beta=0), "beta must be above 0, got 0"),
        (lambda: nn.F1Score(threshold=1.5), "threshold must be above 0 and at most 1"),
    ):
        with pytest.raises(ValueError, match=words):
            metric()
    model = pg.Sequential([nn.Reshape((2, 2)), nn.Dense(3)])
    model.compile("sgd", "mse", nn.F1Score(), device="cpu")
    with pytest.raises(pg.ShapeError, match=r"f1_score needs an output of shape \(batch, classes"):
        model.fit(np.zeros((4, 4), np.float32), np.zeros((4, 2, 3), np.float32), verbose=0)
    model.close()
