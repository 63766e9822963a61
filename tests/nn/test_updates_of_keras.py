"""Accumulated gradients, schedules and averages together, as Keras combines them, and the learning
rate in the history."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.interchange.keras_side import keras

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
X = rng.normal(size=(8, 3)).astype(np.float32)
Y = (X @ np.array([[1.0], [-2], [3]])).astype(np.float32)
START = rng.normal(size=(3, 1)).astype(np.float32)
Rate = Callable[[Any], Any]
"""A learning rate from the module of schedules, of Keras or of playgrad."""
RATES: dict[str, Rate] = {
    "a number": lambda schedules: 0.1,
    "exponential": lambda schedules: schedules.ExponentialDecay(0.1, 2, 0.5),
    "warm-up": lambda schedules: schedules.CosineDecay(0.05, 6, warmup_target=0.2, warmup_steps=2),
    "steps": lambda schedules: schedules.PiecewiseConstantDecay([2, 4], [0.1, 0.05, 0.01]),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "accumulated": {"gradient_accumulation_steps": 3},
    "accumulated, decayed": {"gradient_accumulation_steps": 2, "weight_decay": 0.05},
    "averaged": {"use_ema": True, "ema_momentum": 0.7},
    "averaged, overwritten": {"use_ema": True, "ema_momentum": 0.7, "ema_overwrite_frequency": 2},
    "all": {
        "gradient_accumulation_steps": 2,
        "use_ema": True,
        "ema_momentum": 0.7,
        "ema_overwrite_frequency": 2,
        "global_clipnorm": 5.0,
    },
}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
        yield


def models(
    kind: str, rate: Rate, options: dict[str, Any], limit: float | None
) -> tuple[Any, pg.Sequential]:
    bound = None if limit is None else keras.constraints.MaxNorm(limit)
    dense = keras.layers.Dense(1, use_bias=False, kernel_constraint=bound)
    theirs = keras.Sequential([keras.Input((3,)), dense])
    made = getattr(keras.optimizers, kind)(rate(keras.optimizers.schedules), **options)
    theirs.compile(made, "mse")
    with pg.Graph(seed=1).as_default():
        own = None if limit is None else nn.MaxNorm(limit)
        layer = nn.Dense(1, use_bias=False, kernel_constraint=own)
        ours = pg.Sequential([pg.Input((3,)), layer])
    ours.compile(getattr(pg.optim, kind)(rate(pg.optim), **options), "mse", device="cpu")
    for model in (theirs, ours):
        model.set_weights([START])
    return theirs, ours


# Averages are compared without a constraint: Keras' averages leave its bounds.
LIMITS = [(options, None) for options in OPTIONS] + [
    (options, 1.0) for options in ("accumulated", "accumulated, decayed")
]


@pytest.mark.parametrize(("options", "limit"), LIMITS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_updates(kind: str, options: str, limit: float | None, rate: str) -> None:
    theirs, ours = models(kind, RATES[rate], OPTIONS[options], limit)
    for _ in range(7):
        theirs.train_on_batch(X, Y)
        ours.train_on_batch(X, Y)
        np.testing.assert_allclose(
            ours.get_weights()[0], theirs.get_weights()[0], rtol=1e-4, atol=1e-5
        )
    if OPTIONS[options].get("use_ema"):
        assert ours.optimizer is not None
        average = ours.optimizer.average_of(ours.trainable_variables[0])
        assert average is not None
        (expected,) = theirs.optimizer._model_variables_moving_average
        np.testing.assert_allclose(
            ours.session.value(average), expected.numpy(), rtol=1e-4, atol=1e-5
        )
    ours.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda callbacks: callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5),
        lambda callbacks: callbacks.ReduceLROnPlateau("val_loss", 0.5, 1, min_delta=100.0),
        lambda callbacks: callbacks.EarlyStopping("loss", patience=9),
    ],
)
def test_the_history_has_the_learning_rate_where_it_has_in_keras(
    make: Callable[[Any], Any],
) -> None:
    theirs, ours = models("SGD", RATES["a number"], {}, None)
    expected = theirs.fit(
        X, Y, 8, 4, 0, callbacks=[make(keras.callbacks)], validation_data=(X, Y)
    ).history
    found = ours.fit(X, Y, 8, 4, 0, callbacks=[make(nn)], validation_data=(X, Y)).history
    assert list(found) == list(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=1e-4)
    ours.close()


def test_the_history_has_what_callbacks_add() -> None:
    _, ours = models("SGD", RATES["a number"], {}, None)

    def add(epoch: int, logs: Any) -> None:
        logs["square"] = epoch**2
        logs["loss"] = -1.0
        logs["note"] = "not a number"
        if epoch > 1:
            logs["late"] = np.float32(epoch)

    seen: list[Any] = []
    look = nn.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(dict(logs)))
    history = ours.fit(X, Y, 8, 4, 0, [nn.LambdaCallback(on_epoch_end=add), look]).history
    assert history == {"loss": [-1.0] * 4, "square": [0.0, 1.0, 4.0, 9.0], "late": [2.0, 3.0]}
    assert seen[0]["note"] == "not a number"
    ours.close()
