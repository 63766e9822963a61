"""Arguments and names of metrics that Keras has, against its formulas over whole data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn import metrics

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)).astype(np.float32)
MANY = (rng.random((60, 3)) > 0.6).astype(np.float32)
CLASSES = rng.integers(0, 3, 60)


def evaluated(
    y: Array, loss: str, activation: str | None, made: list[Any], data: bool = False
) -> tuple[dict[str, float], Array, dict[str, list[float]]]:
    """Return the metrics of an evaluation, the predictions, and the history of a training."""
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(3, activation)])
        model.compile(pg.optim.SGD(0.1), loss, made, device="cpu")
    history = model.fit(X, y, 13, 2, 0, validation_data=(X, y)).history
    found: Any
    if data:
        streamed = pg.data.Dataset.from_tensor_slices((X, y)).batch(7)
        found = model.evaluate(streamed, return_dict=True)
    else:
        found = model.evaluate(X, y, batch_size=7, return_dict=True)
    predictions = model.predict(X)
    model.close()
    return found, predictions, history


def r2_scores(y: Array, predictions: Array) -> tuple[Array, Array]:
    variances = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    return 1 - ((y - predictions) ** 2).sum(axis=0) / variances, variances


@pytest.mark.parametrize("data", [False, True])
def test_r2_aggregates_several_outputs(data: bool) -> None:
    y = (X[:, :3] * [1, 2, 3] + rng.normal(size=(60, 3))).astype(np.float32)
    made = [
        nn.R2Score(),
        nn.R2Score(None, name="each"),
        nn.R2Score("variance_weighted_average", name="weighted"),
        nn.R2Score(num_regressors=4, name="adjusted"),
    ]
    found, predictions, history = evaluated(y, "mse", None, made, data)
    scores, variances = r2_scores(y, predictions)
    np.testing.assert_allclose(found["r2_score"], scores.mean(), rtol=1e-4)
    np.testing.assert_allclose([found[f"each_{i}"] for i in range(3)], scores, rtol=1e-4)
    weighted = (scores * variances).sum() / variances.sum()
    np.testing.assert_allclose(found["weighted"], weighted, rtol=1e-4)
    adjusted = 1 - (1 - scores.mean()) * (180 - 1) / (180 - 4 - 1)
    np.testing.assert_allclose(found["adjusted"], adjusted, rtol=1e-4)
    assert history["val_adjusted"][-1] == pytest.approx(found["adjusted"], rel=1e-4)


def test_more_regressors_than_data_give_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match="4 targets cannot be adjusted for 9 regressors"):
        score = nn.R2Score(num_regressors=9).result_of([0.5, 3.0, 1.0], 4)
    assert score == 0.75
    with pytest.raises(ValueError, match=r"class_aggregation must be one of None, 'uniform"):
        nn.R2Score("mean")
    with pytest.raises(ValueError, match="num_regressors must be at least 0, got -1"):
        nn.R2Score(num_regressors=-1)


def test_areas_are_averaged_over_weighted_labels() -> None:
    weights = [0.5, 0.0, 2.0]
    made: list[Any] = [
        nn.AUC(50, curve, multi_label=labels, label_weights=chosen, name=f"{curve}{labels}{i}")
        for curve in ("ROC", "PR")
        for labels in (True, False)
        for i, chosen in enumerate((None, weights))
    ]
    found, predictions, _ = evaluated(MANY, "bce", "sigmoid", made)

    def area(curve: str, columns: list[int], factors: list[float]) -> float:
        """The area of outputs as one classifier, whose results count by ``factors``."""
        metric = nn.AUC(50, curve)
        above = predictions[:, columns, None] > metric.thresholds
        true = MANY[:, columns, None] > 0.5
        share = np.array(factors)[None, :, None] / np.mean(factors)
        hits = (above & true) * share
        means = [hits.mean((0, 1)), (above * share).mean((0, 1)), (true * share).mean((0, 1))]
        result = metric.result(np.concatenate(means).tolist())
        assert isinstance(result, float)
        return result

    for curve in ("ROC", "PR"):
        each = [area(curve, [i], [1.0]) for i in range(3)]
        np.testing.assert_allclose(found[f"{curve}True0"], np.mean(each), rtol=1e-4)
        expected = np.average(each, weights=weights)
        np.testing.assert_allclose(found[f"{curve}True1"], expected, rtol=1e-4)
        joined = area(curve, [0, 1, 2], [1.0] * 3)
        np.testing.assert_allclose(found[f"{curve}False0"], joined, rtol=1e-4)
        joined = area(curve, [0, 1, 2], weights)
        np.testing.assert_allclose(found[f"{curve}False1"], joined, rtol=1e-4)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: nn.AUC(num_labels=3), "num_labels needs multi_label=True"),
        (lambda: nn.AUC(label_weights=[1, -1]), "label_weights must be numbers of at least 0"),
    ],
)
def test_invalid_label_options_are_refused(build: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build()


def test_mismatched_label_counts_are_refused() -> None:
    for metric in (
        nn.AUC(multi_label=True, num_labels=2),
        nn.AUC(multi_label=True, label_weights=[1, 1]),
    ):
        with pytest.raises(pg.ShapeError, match="for 2 labels, but the output has 3"):
            evaluated(MANY, "bce", "sigmoid", [metric])


def test_accuracies_are_found_under_keras_names() -> None:
    one_hot = np.eye(3, dtype=np.float32)[CLASSES]
    sparse: list[Any] = [
        nn.SparseCategoricalAccuracy(),
        nn.SparseTopKCategoricalAccuracy(2),
        "sparse_top_k_categorical_accuracy",
    ]
    found, predictions, _ = evaluated(
        CLASSES, "sparse_categorical_crossentropy", "softmax", sparse[:2]
    )
    order = np.argsort(-predictions, axis=1)
    right = (order[:, 0] == CLASSES).mean()
    near = (order[:, :2] == CLASSES[:, None]).any(axis=1).mean()
    assert found["sparse_categorical_accuracy"] == pytest.approx(right)
    assert found["sparse_top_k_categorical_accuracy"] == pytest.approx(near)
    named = [nn.CategoricalAccuracy(), nn.TopKCategoricalAccuracy(2)]
    found, again, _ = evaluated(one_hot, "categorical_crossentropy", "softmax", named)
    np.testing.assert_allclose(again, predictions, rtol=1e-4)
    assert found["categorical_accuracy"] == pytest.approx(right)
    assert found["top_k_categorical_accuracy"] == pytest.approx(near)
    assert metrics.get(sparse[2]).name == sparse[2]


def test_presorted_class_numbers_are_accepted() -> None:
    metric = nn.SparseTopKCategoricalAccuracy(2, from_sorted_ids=True)
    with pg.Graph().as_default() as graph:
        best = pg.constant(
            np.array([[2.0, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 1.0, 2.0]], np.float32)
        )
        result = metric(pg.constant(np.array([0, 0, 0], np.int32)), best)
        with pytest.raises(pg.ShapeError, match=r"needs class numbers \(batch, n\) for labels"):
            metric(best, best)
    with pg.Session(graph, "cpu") as session:
        np.testing.assert_array_equal(session.run(result), [1.0, 0.0, 1.0])
