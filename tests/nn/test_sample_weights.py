"""Weights of samples and classes, and validation data that is split off, as in Keras."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn
from tests.nn.small_models import DEVICES, LABELS, X, Y, classifier, line

WEIGHTS = np.random.default_rng(1).uniform(0, 3, size=50).astype(np.float32)


@pytest.mark.parametrize("device", DEVICES)
def test_losses_are_multiplied_by_sample_weights(device: str) -> None:
    model = line(pg.optim.SGD(0.05), device)
    model.build((4,))
    w = {
        name: torch.tensor(value, requires_grad=True)
        for name, value in model.named_weights().items()
    }
    optimizer = torch.optim.SGD(list(w.values()), 0.05)
    losses = []
    for _ in range(4):
        prediction = (torch.tensor(X) @ w["dense_1/kernel"] + w["dense_1/bias"])[:, 0]
        loss = (torch.tensor(WEIGHTS) * (prediction - torch.tensor(Y)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    history = model.fit(X, Y, 50, 3, 0, sample_weight=WEIGHTS)
    np.testing.assert_allclose(history.losses, losses[:3], rtol=1e-4)
    np.testing.assert_allclose(
        model.evaluate(X, Y, 20, sample_weight=WEIGHTS), losses[3], rtol=1e-4
    )
    loss = model.train_on_batch(X, Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(loss, losses[3], rtol=1e-4)
    for name, value in model.named_weights().items():
        np.testing.assert_allclose(value, w[name].detach().numpy(), rtol=1e-3, atol=1e-5)
    # Without weights, the next training is as before.
    np.testing.assert_allclose(model.fit(X, Y, 50, 1, 0).losses, model_loss(w), rtol=1e-3)
    model.close()


def model_loss(w: dict[str, torch.Tensor]) -> list[float]:
    prediction = (torch.tensor(X) @ w["dense_1/kernel"] + w["dense_1/bias"])[:, 0]
    return [((prediction - torch.tensor(Y)) ** 2).mean().item()]


def test_class_weights_are_weights_of_samples() -> None:
    def run(**weights: Any) -> tuple[Any, Any, Any]:
        with pg.Graph(seed=2).as_default():
            model = classifier()
            history = model.fit(X, LABELS, 10, 2, 0, validation_data=(X, LABELS), **weights)
            batch = model.train_on_batch(X, LABELS, **weights, return_dict=True)
        model.close()
        return history.losses, batch["loss"], history.history["accuracy"]

    by_class = run(class_weight={1: 4.0})
    by_sample = run(sample_weight=np.where(LABELS == 1, 4.0, 1.0))
    for a, b in zip(by_class, by_sample, strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.any(by_class[0] != run()[0])


def test_class_weights_accept_one_hot_and_binary_targets() -> None:
    losses = []
    for targets, loss in (
        (np.eye(2, dtype=np.float32)[LABELS], nn.CategoricalCrossentropy(from_logits=True)),
        (LABELS, nn.SparseCategoricalCrossentropy(from_logits=True)),
    ):
        with pg.Graph(seed=2).as_default():
            model = pg.Sequential([nn.Dense(2)])
            model.compile("sgd", loss, device="cpu")
            losses.append(model.fit(X, targets, 10, 1, 0, class_weight={0: 0.5}).losses)
            model.close()
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_validation_split_takes_the_last_samples() -> None:
    def run(x: Any, y: Any, **validation: Any) -> nn.History:
        with pg.Graph(seed=2).as_default():
            model = line()
            history = model.fit(x, y, 10, 2, 0, **validation)
        model.close()
        return history

    split = run(X, Y, validation_split=0.2, sample_weight=WEIGHTS)
    apart = run(
        X[:40], Y[:40], sample_weight=WEIGHTS[:40], validation_data=(X[40:], Y[40:], WEIGHTS[40:])
    )
    np.testing.assert_array_equal(split.losses, apart.losses)
    assert split.history == apart.history


def test_sample_weights_agree_on_several_devices() -> None:
    losses = []
    for strategy in (None, pg.parallel.DataParallel(2), pg.parallel.Pipeline(2, 2)):
        with pg.Graph(seed=2).as_default():
            model = pg.Sequential([nn.Dense(3), nn.Dense(1)])
            model.compile("sgd", "mse", device="cpu", strategy=strategy)
            losses.append(model.fit(X, Y, 10, 1, 0, sample_weight=WEIGHTS).losses)
            model.close()
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)
    np.testing.assert_allclose(losses[2], losses[0], rtol=1e-4)


def test_wrong_weights_and_splits_are_refused() -> None:
    model = classifier()
    for arguments, words in (
        ({"sample_weight": WEIGHTS[:10]}, r"each of the 50 samples, but its shape is \(10,\)"),
        ({"sample_weight": -WEIGHTS}, "sample_weight must hold finite numbers of at least 0"),
        ({"sample_weight": WEIGHTS * np.nan}, "sample_weight must hold finite numbers"),
        ({"class_weight": {0: -1}}, "class_weight must hold finite numbers of at least 0"),
        ({"class_weight": {0: 1}, "sample_weight": WEIGHTS}, "exclude each other"),
        ({"validation_split": 1.0}, "validation_split must be at least 0 and below 1"),
        ({"validation_split": 0.99}, "leaves no samples to train with"),
        ({"validation_split": 0.1, "validation_data": (X, LABELS)}, "exclude each other"),
        ({"validation_data": (X, LABELS, WEIGHTS[:9])}, "the sample_weight of validation_data"),
        ({"validation_data": (X,)}, "must be a pair"),
    ):
        with pytest.raises(pg.DataError, match=words):
            model.fit(X, LABELS, verbose=0, **arguments)
    with pytest.raises(pg.DataError, match="of 5 samples leaves no samples to train with"):
        model.fit(X[:5], LABELS[:5], verbose=0, validation_split=0.9)
    model.close()
