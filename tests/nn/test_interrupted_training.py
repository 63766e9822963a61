"""What a training leaves behind that ends by an error, Ctrl+C or Stop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.runtime.hooks import Hooks, set_hooks
from tests.nn.small_models import X, Y, line

Array = np.ndarray[Any, Any]


class Ending(nn.Callback):
    """Ends a training in its fourth epoch, of which the second is the best.

    Attributes:
        how: "nan", "ctrl+c", "stop" or "error".
        weights: those at the end of each epoch.
    """

    def __init__(self, how: str) -> None:
        self.how = how
        self.weights: list[list[Array]] = []
        self.losses: list[float] = []

    def on_epoch_begin(self, epoch: int, logs: Any) -> None:
        model = self.model
        assert model.optimizer is not None
        rates = [0.05, 0.05, 2.0, 1e30 if self.how == "nan" else 0.05]
        model.session.assign({model.optimizer.learning_rate: rates[min(epoch, 3)]})

    def on_epoch_end(self, epoch: int, logs: Any) -> None:
        self.weights.append([array.copy() for array in self.model.named_weights().values()])
        self.losses.append(logs["val_loss"])

    def on_steps_end(self, step: int, logs: Any) -> None:
        if len(self.weights) == 3:
            if self.how == "ctrl+c":
                raise KeyboardInterrupt
            if self.how == "error":
                raise ValueError("a callback of the program fails")


@pytest.fixture
def stopping() -> Iterator[list[Ending]]:
    """Let "stop" request a stop of the training, as the page's button does."""
    endings: list[Ending] = []

    class Stop(Hooks):
        def stopped(self) -> bool:
            return any(each.how == "stop" and len(each.weights) == 3 for each in endings)

    before = set_hooks(Stop())
    yield endings
    set_hooks(before)


ERRORS = {
    "nan": (pg.NonFiniteError, "EarlyStopping then restored the weights of epoch 2, the best"),
    "ctrl+c": (KeyboardInterrupt, None),
    "stop": (KeyboardInterrupt, "training was stopped"),
    "error": (ValueError, "a callback of the program fails"),
}


def interrupted(
    how: str, endings: list[Ending], **optimizer: Any
) -> tuple[pg.Sequential, Ending, nn.EarlyStopping]:
    with pg.Graph(seed=1).as_default():
        model = line(pg.optim.SGD(0.05, **optimizer))
    ending = Ending(how)
    endings.append(ending)
    best = nn.EarlyStopping(patience=9, restore_best_weights=True)
    kind, words = ERRORS[how]
    with pytest.raises(kind, match=words):
        model.fit(X, Y, 25, 9, 0, [ending, best], validation_data=(X, Y))
    endings.clear()
    assert ending.losses.index(min(ending.losses)) == 1 == best.best_epoch
    assert len(ending.losses) == 3
    return model, ending, best


@pytest.mark.parametrize("how", ERRORS)
def test_the_best_weights_are_restored(how: str, stopping: list[Ending]) -> None:
    model, ending, _ = interrupted(how, stopping)
    for one, two in zip(model.get_weights(), ending.weights[1], strict=True):
        np.testing.assert_array_equal(one, two)
    assert model.evaluate(X, Y) == pytest.approx(ending.losses[1], rel=1e-6)
    model.close()


def test_a_file_that_is_saved_afterwards(tmp_path: Path, stopping: list[Ending]) -> None:
    """It has the weights that the model has, with which a training cannot be resumed."""
    model, ending, _ = interrupted("ctrl+c", stopping)
    model.save(tmp_path / "run.playgrad")
    model.close()
    loaded = pg.load(tmp_path / "run.playgrad", device="cpu")
    for one, two in zip(loaded.get_weights(), ending.weights[1], strict=True):
        np.testing.assert_array_equal(one, two)
    with pytest.raises(pg.CheckpointError, match=r"replaced the weights.*without resume=True"):
        loaded.fit(X, Y, 25, 9, 0, validation_data=(X, Y), resume=True)
    loaded.fit(X, Y, 25, 1, 0)
    loaded.close()


def test_without_a_callback_the_weights_come_from_the_last_step(stopping: list[Ending]) -> None:
    with pg.Graph(seed=1).as_default():
        model = line(pg.optim.SGD(0.05))
    ending = Ending("nan")
    with pytest.raises(pg.NonFiniteError) as caught:
        model.fit(X, Y, 25, 9, 0, ending, validation_data=(X, Y))
    assert "restored" not in str(caught.value)
    assert any(
        (one != two).any() for one, two in zip(model.get_weights(), ending.weights[1], strict=True)
    )
    model.close()


def test_averages_and_weights_are_back_in_their_places() -> None:
    """After Ctrl+C while the averages are evaluated, and in a training that was so resumed."""
    with pg.Graph(seed=1).as_default():
        model = line(pg.optim.SGD(0.05, use_ema=True, ema_momentum=0.9))
    swap = nn.SwapEMAWeights()
    seen: list[Any] = []

    def look(logs: Any) -> None:
        seen.append(model.get_weights()[0])
        raise KeyboardInterrupt

    keep = nn.LambdaCallback(on_test_begin=look)
    before = nn.LambdaCallback(on_steps_end=lambda step, logs: seen.append(model.get_weights()[0]))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y, 10, 1, 0, [before, swap, keep], validation_data=(X, Y))
    trained, averages = seen[-2:]
    assert np.any(trained != averages)
    np.testing.assert_array_equal(model.get_weights()[0], trained)
    # A checkpoint from that moment has them exchanged, and evaluates the averages once more.
    swap.swap(True)
    swap.set_state({"swapped": True})
    swap.on_test_begin({})
    np.testing.assert_array_equal(model.get_weights()[0], averages)
    swap.on_test_end({})
    np.testing.assert_array_equal(model.get_weights()[0], trained)
    model.close()


def test_the_best_weights_are_not_replaced_by_averages() -> None:
    """As in Keras: averages become the weights before ``on_train_end``."""
    with pg.Graph(seed=1).as_default():
        model = line(pg.optim.SGD(0.05, use_ema=True, ema_momentum=0.9))
    ending = Ending("nothing")
    best = nn.EarlyStopping(patience=9, restore_best_weights=True)
    model.fit(X, Y, 25, 5, 0, [ending, best], validation_data=(X, Y))
    for one, two in zip(model.get_weights(), ending.weights[best.best_epoch], strict=True):
        np.testing.assert_array_equal(one, two)
    model.close()
