"""Accumulated gradients, scaled losses, and weights that are set to their averages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn, optim
from tests.sweeps import slow

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
X = rng.normal(size=(48, 5)).astype(np.float32)
Y = (X @ rng.normal(size=(5, 2))).astype(np.float32)

MAKERS: list[Callable[..., optim.Optimizer]] = [
    optim.SGD,
    lambda **options: optim.SGD(0.05, 0.9, clipnorm=0.5, **options),
    optim.Adam,
    lambda **options: optim.AdamW(weight_decay=0.1, **options),
    lambda **options: optim.Adam(amsgrad=True, global_clipnorm=0.1, **options),
    optim.RMSprop,
    optim.Adagrad,
    lambda **options: optim.Adadelta(1.0, weight_decay=0.1, **options),
    optim.Adamax,
    optim.Lion,
]


def trained(
    optimizer: optim.Optimizer,
    batch: int,
    device: str = "cpu",
    strategy: Any = None,
    **options: Any,
) -> tuple[list[Array], Array]:
    with pg.Graph(seed=2).as_default():
        model = pg.Sequential([nn.Dense(4, "tanh", **options), nn.Dense(2)])
    model.compile(optimizer, "mse", device=device, strategy=strategy)
    history = model.fit(X, Y, batch, 2, 0, shuffle=False)
    weights = model.get_weights()
    model.close()
    return weights, history.losses


@pytest.mark.parametrize(
    ("make", "device"), [*((make, "cpu") for make in MAKERS), *slow((optim.Adam, "gpu"))]
)
def test_small_batches_update_like_large_ones(
    make: Callable[..., optim.Optimizer], device: str
) -> None:
    """The mean gradient of four batches equals that of one batch of four times the size."""
    whole, _ = trained(make(), 24, device)
    parts, losses = trained(make(gradient_accumulation_steps=4), 6, device)
    assert len(losses) == 16
    for expected, actual in zip(whole, parts, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_weights_change_at_the_end_of_a_round_only(device: str) -> None:
    with pg.Graph().as_default() as graph:
        w = pg.Variable([1.0, -2.0], "w")
        x = pg.placeholder("float32", (2,))
        optimizer = optim.SGD(optim.ExponentialDecay(0.5, 1, 0.5), gradient_accumulation_steps=3)
        update = optimizer.minimize(pg.reduce_sum(w * x))
    seen = []
    with pg.Session(graph, device) as session:
        for step in range(6):
            session.run(update, {x: np.array([step, 1.0], np.float32)})
            seen.append(session.value(w).tolist())
        assert session.value(optimizer.iterations) == 6
    # The schedule counts steps, as in Keras: the updates have the rates of steps 2 and 5.
    first, second = [0.875, -2.125], [0.875 - 4 / 64, -2.125 - 1 / 64]
    assert seen == [[1.0, -2.0], [1.0, -2.0], first, first, first, second]


@pytest.mark.parametrize(
    "strategy",
    [
        pg.parallel.DataParallel(2),
        pg.parallel.Pipeline(2, 2),
        pg.parallel.Overlap(4, always=True),
        pg.parallel.LocalSGD(2, every=1),
    ],
    ids=str,
)
def test_accumulation_agrees_with_every_strategy(strategy: Any) -> None:
    def make() -> optim.Optimizer:
        return optim.SGD(
            0.1,
            loss_scale_factor=64.0,
            gradient_accumulation_steps=2,
            use_ema=True,
            ema_momentum=0.5,
            ema_overwrite_frequency=2,
        )

    one, losses = trained(make(), 12)
    several, again = trained(make(), 12, strategy=strategy)
    if not isinstance(strategy, pg.parallel.LocalSGD):  # which shows its first device's
        np.testing.assert_allclose(again, losses, rtol=1e-4, atol=1e-5)
    for expected, actual in zip(one, several, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def test_an_asynchronous_pipeline_cannot_accumulate() -> None:
    pipeline = pg.parallel.Pipeline(2, 2, schedule="pipedream")
    with pytest.raises(pg.GraphError, match="asynchronous pipeline may depend only on"):
        trained(optim.SGD(gradient_accumulation_steps=2), 12, strategy=pipeline)


def test_a_scaled_loss_trains_the_same() -> None:
    plain, losses = trained(optim.Adam(0.01), 12)
    scaled, again = trained(optim.Adam(0.01, loss_scale_factor=1024.0), 12)
    np.testing.assert_allclose(again, losses, rtol=1e-5)  # as they are shown
    for expected, actual in zip(plain, scaled, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)
    with pg.Graph().as_default() as graph:
        w = pg.Variable([8.0], "w")
        grads = [(pg.constant(np.array([4.0], np.float32)), w)]
        update = optim.SGD(0.5, loss_scale_factor=2.0).apply_gradients(grads)
    with pg.Session(graph, "cpu") as session:
        session.run(update)
        assert session.value(w) == [7.0]


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_weights_are_set_to_their_averages(device: str) -> None:
    """By hand: w falls by 1 in each step, and every third step it becomes its average."""
    with pg.Graph().as_default() as graph:
        w = pg.Variable(np.array([10.0, 2.5], np.float32), "w", constraint=nn.NonNeg())
        optimizer = optim.SGD(1.0, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=3)
        update = optimizer.minimize(pg.reduce_sum(w))
    value, average = np.array([10.0, 2.5]), np.zeros(2)
    with pg.Session(graph, device) as session:
        for step in range(7):
            session.run(update)
            value = np.maximum(value - 1.0, 0.0)
            average = average * 0.5 + value * 0.5 if step else value
            value = average if step % 3 == 2 else value
            np.testing.assert_allclose(session.value(w), value, rtol=1e-6)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (
            lambda: optim.Adam(gradient_accumulation_steps=1),
            "gradient_accumulation_steps must be a whole number of at least 2, got 1",
        ),
        (
            lambda: optim.Adam(use_ema=True, ema_overwrite_frequency=0),
            "ema_overwrite_frequency must be a whole number of at least 1, got 0",
        ),
        (lambda: optim.SGD(loss_scale_factor=0), "loss_scale_factor must be a positive number"),
    ],
)
def test_invalid_values_are_refused(build: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build()


def test_an_overwrite_frequency_without_averages_warns() -> None:
    with pytest.warns(RuntimeWarning, match="ema_overwrite_frequency=5 does nothing without"):
        optim.SGD(ema_overwrite_frequency=5)
