"""Losses, and their gradients, against Keras: also of predictions that no model should make."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn
from playgrad.nn import losses
from tests.interchange.keras_side import keras

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
PREDICTIONS = {
    "shares": rng.dirichlet(np.ones(4), 5),
    "shares that do not sum to 1": rng.random((5, 4)),
    "large numbers": 9 * rng.random((5, 4)),
    "numbers of both signs": rng.normal(size=(5, 4)),
    "certain": np.eye(4),
    "positions": rng.random((5, 3, 4)),
}
CASES = [
    *[nn.BinaryCrossentropy(*each) for each in ((False,), (True,), (False, 0.1))],
    *[nn.CategoricalCrossentropy(*each) for each in ((False,), (True,), (False, 0.1))],
    *[nn.SparseCategoricalCrossentropy(each) for each in (False, True)],
    nn.CategoricalHinge(),
    nn.CosineSimilarity(),
    nn.Hinge(),
    nn.Huber(),
    nn.KLDivergence(),
    nn.LogCosh(),
    nn.MeanAbsoluteError(),
    nn.MeanAbsolutePercentageError(),
    nn.MeanSquaredError(),
    nn.MeanSquaredLogarithmicError(),
    nn.Poisson(),
    nn.SquaredHinge(),
]


def of_playgrad(loss: nn.Loss, y: Array, predictions: Array) -> tuple[Array, Array]:
    """Return the losses of samples, and the gradient of their mean."""
    with pg.Graph().as_default() as graph:
        y_in = pg.placeholder(y.dtype.name, (None, *y.shape[1:]))
        p_in = pg.placeholder("float32", (None, *predictions.shape[1:]))
        values = loss.per_sample(y_in, p_in)
        gradient = pg.gradients(pg.reduce_mean(values), [p_in])[0]
    with pg.Session(graph, "cpu") as session:
        found = session.run([values, gradient], {y_in: y, p_in: predictions})
    return found[0], found[1]


def of_keras(loss: nn.Loss, y: Array, predictions: Array) -> tuple[Array, Array]:
    other = getattr(keras.losses, type(loss).__name__)(**loss.arguments())
    p = torch.tensor(predictions, requires_grad=True)
    each = other.call(keras.ops.convert_to_tensor(y), p)
    values = each.reshape(len(each), -1).mean(1)
    values.mean().backward()
    assert p.grad is not None
    return values.detach().numpy(), p.grad.numpy()


@pytest.mark.parametrize("kind", PREDICTIONS)
@pytest.mark.parametrize("loss", CASES, ids=lambda loss: f"{loss.kind} {loss.arguments()}")
def test_losses_of_any_predictions(loss: nn.Loss, kind: str) -> None:
    # Off the kinks of hinges, where gradients are a choice.
    off = np.arange(1, 5) / 1000 if "hinge" in loss.kind else 0.0
    predictions = (PREDICTIONS[kind] + off).astype(np.float32)
    labels = np.random.default_rng(1).integers(0, 4, predictions.shape[:-1])
    y: Array = labels.astype(np.int32)
    if loss.target_dtype != "int32":
        y = np.eye(4, dtype=np.float32)[y]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
        values, gradient = of_keras(loss, y, predictions)
    ours, ours_gradient = of_playgrad(loss, y, predictions)
    np.testing.assert_allclose(ours, values, rtol=1e-4, atol=2e-6)
    np.testing.assert_allclose(ours_gradient, gradient, rtol=1e-3, atol=1e-5)


def test_all_losses_are_compared() -> None:
    assert {type(loss) for loss in CASES} == {*losses.BY_KIND.values()} - {
        losses.CustomLoss,
        nn.CTC,  # compared with PyTorch in tests/ops/test_ctc.py
    }


def test_predictions_of_zero_are_finite() -> None:
    """Keras divides by their sum, and returns NaN."""
    zeros = np.zeros((2, 3), np.float32)
    for loss, y in (
        (nn.SparseCategoricalCrossentropy(), np.array([0, 2], np.int32)),
        (nn.CategoricalCrossentropy(), np.eye(3, dtype=np.float32)[:2]),
    ):
        values, gradient = of_playgrad(loss, y, zeros)
        np.testing.assert_allclose(values, -np.log(1e-7), rtol=1e-5)
        np.testing.assert_array_equal(gradient, 0)


def test_metrics_beside_a_hinge_see_the_targets_as_they_are() -> None:
    x = rng.normal(size=(6, 2)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.float32)
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd", "hinge", ["mse"], device="cpu")
    loss, squares = model.evaluate(x, y)
    predictions = model.predict(x)[:, 0]
    assert loss == pytest.approx(np.maximum(1 - (2 * y - 1) * predictions, 0).mean(), rel=1e-5)
    assert squares == pytest.approx(np.square(y - predictions).mean(), rel=1e-5)
    model.close()
