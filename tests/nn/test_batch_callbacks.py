"""Callbacks for every batch, and the settings of callbacks that Keras has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.nn.small_models import GPU_BY_NIGHT, LABELS, X, Y, classifier, line


class Log(nn.Callback):
    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self.logs: list[dict[str, float]] = []

    def on_epoch_begin(self, epoch: int, logs: Any) -> None:
        self.calls.append(("epoch", epoch))

    def on_train_batch_begin(self, batch: int, logs: Any) -> None:
        self.calls.append(("begin", batch))

    def on_train_batch_end(self, batch: int, logs: Any) -> None:
        self.calls.append(("end", batch))
        self.logs.append(dict(logs))


def expected(epochs: int, batches: int) -> list[tuple[str, int]]:
    calls = []
    for epoch in range(epochs):
        calls.append(("epoch", epoch))
        for batch in range(batches):
            calls += [("begin", batch), ("end", batch)]
    return calls


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_every_batch_is_reported_with_the_means_so_far(device: str) -> None:
    log = Log()
    plain, watched = classifier(device), classifier(device)
    before = plain.fit(X, LABELS, batch_size=20, epochs=2, verbose=0)
    history = watched.fit(X, LABELS, batch_size=20, epochs=2, verbose=0, callbacks=[log])
    batches = len(history.losses) // 2
    assert log.calls == expected(2, batches)
    np.testing.assert_allclose(history.losses, before.losses, rtol=1e-5)
    for epoch in range(2):
        losses = history.losses[epoch * batches : (epoch + 1) * batches]
        samples = np.array([20, 20, 10])
        means = np.cumsum(losses * samples) / np.cumsum(samples)
        seen = [logs["loss"] for logs in log.logs[epoch * batches : (epoch + 1) * batches]]
        np.testing.assert_allclose(seen, means, rtol=1e-5)
        assert log.logs[(epoch + 1) * batches - 1] == pytest.approx(
            {name: values[epoch] for name, values in history.history.items()}
        )
    plain.close()
    watched.close()


@pytest.mark.parametrize(
    "strategy",
    [pg.parallel.DataParallel(2), pg.parallel.LocalSGD(2), pg.parallel.Overlap(4, always=True)],
    ids=str,
)
def test_batch_events_occur_with_every_strategy(strategy: Any) -> None:
    log = Log()
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu", strategy=strategy)
    model.fit(X, Y, batch_size=10, epochs=2, verbose=0, callbacks=[log])
    assert log.calls == expected(2, len(X) // 10)
    model.close()


def test_batch_events_match_the_streamed_batches() -> None:
    """No batch is announced that does not come."""
    log = Log()
    model = line()
    data = pg.data.Dataset.from_tensor_slices((X, Y)).batch(20)
    history = model.fit(data, epochs=2, verbose=0, callbacks=[log])
    assert log.calls == expected(2, len(history.losses) // 2)
    model.close()


def test_functions_of_batches_can_end_training() -> None:
    model = line()
    seen: list[int] = []

    def look(batch: int, logs: Any) -> None:
        seen.append(batch)
        if batch == 2:
            model.stop_training = True

    first = nn.LambdaCallback(on_train_batch_begin=lambda batch, logs: seen.append(-batch))
    history = model.fit(
        X, Y, batch_size=5, epochs=3, verbose=0,
        callbacks=[nn.LambdaCallback(on_train_batch_end=look), first],
    )  # fmt: skip
    assert seen == [0, 0, -1, 1, -2, 2]
    assert len(history.losses) == 3 and history.epoch == [0]
    model.close()


def losses_of(values: list[float], **settings: Any) -> tuple[nn.EarlyStopping, int]:
    """Return a callback that has seen the ``values``, and the number of epochs until it stopped."""
    model = line()
    model.build((4,))
    stop = nn.EarlyStopping("loss", **settings)
    stop.set_model(model)
    stop.on_train_begin({})
    for epoch, value in enumerate(values):
        stop.on_epoch_end(epoch, {"loss": value})
        if model.stop_training:
            break
    stop.on_train_end({})
    model.close()
    return stop, epoch + 1


@pytest.mark.parametrize(
    ("values", "settings", "epochs"),
    [
        ([3, 2, 2, 1], {}, 3),
        ([3, 2, 2, 2, 1], {"patience": 2}, 4),
        ([3, 2, 2, 1, 1, 1], {"patience": 2}, 6),
        ([3, 2.9, 2.8, 1], {"min_delta": 0.5}, 2),
        ([3, 2, 4, 5], {"start_from_epoch": 2}, 4),
        ([9, 8, 7, 6, 5, 5], {"patience": 2, "baseline": 4.0}, 6),  # as long as it improves
        ([9, 9, 3, 3, 3], {"patience": 3, "baseline": 4.0}, 5),
        ([9, 9.5, 3, 3, 3], {"patience": 2, "baseline": 4.0}, 2),
        ([1, 2, 3, 3], {"mode": "max", "baseline": 5.0}, 4),
    ],
)
def test_early_stopping_stops_at_the_epoch_of_keras(
    values: list[float], settings: dict[str, Any], epochs: int
) -> None:
    """The number of epochs that Keras 3.15 trains with the same settings."""
    stop, trained = losses_of([float(value) for value in values], **settings)
    assert trained == epochs
    assert stop.stopped_epoch == (epochs - 1 if stop.model.stop_training else None)


def test_early_stopping_prints_its_decisions(capsys: pytest.CaptureFixture[str]) -> None:
    model = line(pg.optim.SGD(0.1))
    weights: list[np.ndarray[Any, Any]] = []
    rates = nn.LearningRateScheduler(lambda epoch: 0.05 if epoch < 2 else 2.0, verbose=1)
    keep = nn.LambdaCallback(
        on_epoch_end=lambda epoch, logs: weights.append(model.get_weights()[0])
    )
    stop = nn.EarlyStopping("val_loss", patience=1, verbose=1, restore_best_weights=True)
    model.fit(
        X, Y, epochs=9, callbacks=[rates, keep, stop], validation_data=(X, Y), verbose=0
    )  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "epoch 1: learning rate 0.05" and lines[2] == "epoch 3: learning rate 2"
    assert lines[-2:] == [
        "epoch 3: training stopped early",
        "weights restored from epoch 2, the best",
    ]
    np.testing.assert_array_equal(model.get_weights()[0], weights[1])
    model.close()


def test_terminate_on_nan_can_raise_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    model = line(pg.optim.SGD(1e30))
    model.fit(X, Y, epochs=3, callbacks=[nn.TerminateOnNaN()], verbose=0)
    assert "training ended: the loss became" in capsys.readouterr().out
    with pytest.raises(pg.NonFiniteError):
        model.fit(X, Y, epochs=3, callbacks=[nn.TerminateOnNaN(raise_error=True)], verbose=0)
    model.close()
