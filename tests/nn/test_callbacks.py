"""Callbacks, and the events of training."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.runtime.hooks import Event, Hooks, Request, set_hooks
from playgrad.training import progress
from tests.nn.small_models import DEVICES, LABELS, X, Y, classifier, line


@pytest.mark.parametrize("device", DEVICES)
def test_epochs_share_a_chunk_if_no_callback_needs_their_end(device: str) -> None:
    """There are fewer chunks than epochs, but the same events as with a chunk for each epoch."""

    def train(**options: Any) -> tuple[nn.History, list[tuple[Any, ...]], int]:
        events: list[tuple[Any, ...]] = []
        chunks = 0

        class Recorder(Hooks):
            def poll(self) -> list[Request]:
                nonlocal chunks
                chunks += 1
                return []

            def emit(self, event: Event) -> None:
                if event["kind"] in ("progress", "epoch_end"):
                    events.append((event["kind"], event["epoch"], event["step"]))

        model = classifier(device)
        before = set_hooks(Recorder())
        try:
            history = model.fit(X, LABELS, batch_size=20, epochs=60, verbose=0, **options)
        finally:
            set_hooks(before)
        model.close()
        return history, events, chunks

    together, events, chunks = train()
    apart, _, more = train(callbacks=[nn.LambdaCallback()])
    np.testing.assert_array_equal(together.steps, apart.steps)
    assert together.history == apart.history and together.epoch == apart.epoch
    ends = [each for each in events if each[0] == "epoch_end"]
    assert ends == [("epoch_end", n, 3 * n) for n in range(1, 61)]
    assert [step for _, _, step in events] == sorted(step for _, _, step in events)
    assert all(3 * (epoch - 1) < step <= 3 * epoch for _, epoch, step in events)
    assert chunks < 60 <= more


def test_an_epoch_reports_its_own_seconds() -> None:
    ends: list[float] = []
    whole: list[float] = []

    class Recorder(Hooks):
        def emit(self, event: Event) -> None:
            if event["kind"] == "epoch_end":
                ends.append(event["seconds"])
            elif event["kind"] == "fit_end":
                whole.append(event["seconds"])

    before = set_hooks(Recorder())
    try:
        classifier("cpu").fit(X, LABELS, batch_size=20, epochs=5, verbose=0)
    finally:
        set_hooks(before)
    assert len(ends) == 5 and min(ends) >= 0
    assert sum(ends) <= whole[0]  # seconds since the beginning would be counted again and again


def test_an_epoch_prints_its_own_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those since the beginning: each epoch takes two more seconds than the one before."""
    now = 0.0

    def wait(epoch: int, logs: object) -> None:
        nonlocal now
        now += 2 * epoch

    monkeypatch.setattr(progress, "time", SimpleNamespace(perf_counter=lambda: now))
    callback = nn.LambdaCallback(on_epoch_begin=wait)
    classifier("cpu").fit(X, LABELS, batch_size=20, epochs=4, callbacks=callback)
    printed = [text.rpartition(" (")[2] for text in capsys.readouterr().out.splitlines()]
    assert printed == ["0.0 s)", "2.0 s)", "4.0 s)", "6.0 s)"]


def test_callbacks_are_called_in_order() -> None:
    calls: list[str] = []

    def note(name: str) -> Callable[..., None]:
        return lambda *arguments: calls.append(f"{name} {arguments[0]}".split(" {")[0])

    names = ["on_train_begin", "on_epoch_begin", "on_epoch_end", "on_train_end"]
    callback = nn.LambdaCallback(**{name: note(name) for name in names})
    classifier().fit(X, LABELS, epochs=2, callbacks=[callback], verbose=0)
    assert calls == [
        "on_train_begin",
        "on_epoch_begin 0",
        "on_epoch_end 0",
        "on_epoch_begin 1",
        "on_epoch_end 1",
        "on_train_end",
    ]
    with pytest.raises(TypeError, match=r"no on_batch_end; use .*on_steps_end"):
        nn.LambdaCallback(on_batch_end=print)


def test_steps_are_reported_in_chunks() -> None:
    seen: list[int] = []
    callback = nn.LambdaCallback(on_steps_end=lambda step, logs: seen.append(step))
    model = classifier()
    model.fit(X, LABELS, batch_size=1, epochs=2, callbacks=[callback], verbose=0)
    assert seen[0] == 1
    assert seen[-1] == 100
    assert seen == sorted(set(seen))


def test_early_stopping_goes_back_to_the_best() -> None:
    model = line(pg.optim.SGD(0.1))
    stop = nn.EarlyStopping(patience=2, restore_best_weights=True)
    schedule = nn.LearningRateScheduler(lambda epoch, rate: rate if epoch < 4 else 0.9)
    history = model.fit(
        X, Y, epochs=50, callbacks=[schedule, stop], validation_data=(X, Y), verbose=0
    )
    losses = history.history["val_loss"]
    assert stop.stopped_epoch == len(losses) - 1 < 49
    assert model.evaluate(X, Y) == pytest.approx(min(losses), rel=1e-5)
    with pytest.warns(RuntimeWarning, match=r"watches 'val_loss', which is not in the logs.*loss"):
        assert len(model.fit(X, Y, callbacks=[nn.EarlyStopping()], epochs=3, verbose=0).epoch) == 3


def test_a_rate_schedule_may_take_only_the_epoch() -> None:
    model = line(pg.optim.SGD(0.1))
    rates = nn.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))
    model.fit(X, Y, epochs=2, callbacks=[rates], verbose=0)
    assert model.optimizer is not None
    assert model.session.value(model.optimizer.learning_rate) == pytest.approx(0.05)


def test_epochs_are_counted_from_the_initial_one(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[int] = []
    look = nn.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: seen.append(epoch),
        on_epoch_end=lambda epoch, logs: seen.append(epoch),
    )
    model = line()
    model.fit(X, Y, epochs=3, verbose=0)
    history = model.fit(X, Y, epochs=5, initial_epoch=3, callbacks=look)
    assert seen == [3, 3, 4, 4] and history.epoch == [3, 4]
    assert [text[:9] for text in capsys.readouterr().out.splitlines()] == ["epoch 4/5", "epoch 5/5"]
    data = pg.data.Dataset.from_tensor_slices((X, Y)).batch(10)
    assert model.fit(data, epochs=3, initial_epoch=1, verbose=0).epoch == [1, 2]
    with pytest.raises(pg.DataError, match=r"initial_epoch must be.*less than epochs \(2\), got 2"):
        model.fit(X, Y, epochs=2, initial_epoch=2, verbose=0)


@pytest.mark.parametrize("rate", [None, -1.0, float("nan")])
def test_invalid_scheduled_rates_are_refused(rate: Any) -> None:
    model = line()
    with pytest.raises(ValueError, match="the learning rate must be a number of at least 0"):
        model.fit(X, Y, callbacks=[nn.LearningRateScheduler(lambda *_: rate)], verbose=0)
    assert model.session.value(model.optimizer.learning_rate) == np.float32(0.01)


def test_each_epoch_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    classifier().fit(X, LABELS, epochs=2, validation_data=(X, LABELS))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("epoch 2/2: loss 0.")
    assert "val_accuracy" in lines[1]
