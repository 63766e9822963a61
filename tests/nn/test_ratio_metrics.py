"""Metrics of a whole data set: exact whatever the batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn import metrics
from tests.nn.small_models import LABELS, X, Y

random = np.random.default_rng(2)
MANY = (random.random((50, 3)) > 0.7).astype(np.float32)


def share(a: Any, b: Any) -> float:
    return float(a.sum() / b.sum())


def test_precision_and_recall_count_all_samples() -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(3, "sigmoid")])
        names = ["precision", nn.Recall(0.3), "binary_accuracy", nn.Precision(0.3, name="wide")]
        model.compile(pg.optim.SGD(0.5), "binary_crossentropy", names, device="cpu")
    history = model.fit(X, MANY, 7, 3, 0, validation_data=(X, MANY))
    prediction = model.predict(X)
    expected = {
        "precision": share((prediction > 0.5) * MANY, prediction > 0.5),
        "recall": share((prediction > 0.3) * MANY, MANY),
        "binary_accuracy": ((prediction > 0.5) == (MANY > 0.5)).mean(),
        "wide": share((prediction > 0.3) * MANY, prediction > 0.3),
    }
    found = model.evaluate(X, MANY, batch_size=7, return_dict=True)
    batch = model.train_on_batch(X, MANY, return_dict=True)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5)
        np.testing.assert_allclose(batch[name], value, rtol=1e-5)
        np.testing.assert_allclose(history.history[f"val_{name}"][-1], value, rtol=1e-5)
        assert len(history.history[name]) == 3
    assert set(found) == {"loss", *expected}
    model.close()


def test_precision_and_recall_take_a_class_or_the_top_k() -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(3, "sigmoid")])
    makers: dict[str, Any] = {"precision": nn.Precision, "recall": nn.Recall}
    asked: list[dict[str, Any]] = [
        {"class_id": 2},
        {"top_k": 2},
        {"top_k": 1, "class_id": 0},
        {"thresholds": 0.6, "top_k": 2},
    ]
    model.compile(
        "sgd",
        "bce",
        [
            make(**more, name=f"{n}_{i}")
            for n, make in makers.items()
            for i, more in enumerate(asked)
        ],
        device="cpu",
    )
    found = model.evaluate(X, MANY, batch_size=7, return_dict=True)
    scores = model.predict(X)
    order = np.argsort(-scores, axis=1)
    for i, more in enumerate(asked):
        predicted, true = scores > more.get("thresholds", -1 if "top_k" in more else 0.5), MANY
        if "top_k" in more:
            best = np.zeros_like(predicted)
            np.put_along_axis(best, order[:, : more["top_k"]], True, axis=1)
            predicted = predicted & best
        if "class_id" in more:
            predicted, true = predicted[:, more["class_id"]], true[:, more["class_id"]]
        hits = predicted * true
        np.testing.assert_allclose(found[f"precision_{i}"], share(hits, predicted), rtol=1e-5)
        np.testing.assert_allclose(found[f"recall_{i}"], share(hits, true), rtol=1e-5)
    for more in ({"class_id": 3}, {"top_k": 4}):
        model.compile("sgd", "bce", [nn.Precision(**more)], device="cpu")
        with pytest.raises(pg.ShapeError, match="needs more classes"):
            model.evaluate(X, MANY)
    with pytest.raises(ValueError, match="top_k must be a whole number of at least 1"):
        nn.Recall(top_k=0)
    model.close()


def test_regression_metrics_count_all_samples() -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(1)])
        model.compile("sgd", "mse", ["rmse", "r2_score"], device="cpu")
    watched: list[dict[str, float]] = []
    look = nn.LambdaCallback(on_steps_end=lambda step, logs: watched.append(dict(logs)))
    model.fit(X, Y, 10, 2, 0, callbacks=look)
    assert {"loss", "rmse", "r2_score"} == set(watched[-1])
    error = model.predict(X)[:, 0] - Y
    found = model.evaluate(X, Y, batch_size=7, return_dict=True)
    np.testing.assert_allclose(found["rmse"], np.sqrt((error**2).mean()), rtol=1e-5)
    np.testing.assert_allclose(found["r2_score"], 1 - (error**2).mean() / Y.var(), rtol=1e-4)
    model.close()


def test_metrics_are_0_without_positive_predictions() -> None:
    assert nn.Precision().result([0.0, 0.0]) == nn.Recall().result([0.0, 0.0]) == 0.0
    assert nn.R2Score().result([1.0, 4.0, 2.0]) == 0.0


def test_classes_are_known_by_their_names() -> None:
    assert isinstance(metrics.get("AUC"), nn.AUC)
    assert metrics.get("Precision").name == "precision"


NAMES = {
    "MSE": "mse",
    "BCE": "bce",
    "ACC": "accuracy",
    "F1Score": "f1_score",
    "FBetaScore": "fbeta_score",
    "f_beta_score": "f_beta_score",
    "R2Score": "r2_score",
    "KLDivergence": "kl_divergence",
    "SparseCategoricalAccuracy": "sparse_categorical_accuracy",
    "TopKCategoricalAccuracy": "top_k_categorical_accuracy",
    "RootMeanSquaredError": "root_mean_squared_error",
}


@pytest.mark.parametrize("name", NAMES)
def test_every_identifier_of_keras_names_a_metric(name: str) -> None:
    assert metrics.get(name).name == NAMES[name]
    assert metrics.get(NAMES[name]).name == NAMES[name]


def test_wrong_use_raises_explaining_errors() -> None:
    model = pg.Sequential([nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    for metric, words in (
        ("precision", r"precision needs targets of the shape.*one-hot targets"),
        ("r2_score", r"r2_score needs targets of the shape of the predictions"),
    ):
        model.compile("sgd", loss, metric, device="cpu")
        with pytest.raises(pg.ShapeError, match=words):
            model.fit(X, LABELS, verbose=0)
    with pytest.raises(ValueError, match="thresholds must be a number between 0 and 1, got 2"):
        nn.Recall(2)
    assert metrics.get("rmse").name == "rmse"
    model.close()
