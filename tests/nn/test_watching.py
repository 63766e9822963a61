"""Events and requests while training runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.runtime.hooks import Event, Hooks, Request, set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.session import Session
from playgrad.training import chunk_loop
from playgrad.training.chunk_loop import ChunkSizer

random = np.random.default_rng(0)
X = random.normal(size=(64, 5)).astype(np.float32)
LABELS = (X.sum(1) > 0).astype(np.int32)


class Script(Hooks):
    """Hooks that return requests according to ``on_poll`` and ``on_wait``, and record all
    events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.served: list[Request] = []
        self.waits = 0
        self.stop = False
        self.models: list[Any] = []
        self.on_poll: Callable[[int], list[Request]] = lambda step: []
        self.on_wait: Callable[[int], list[Request]] = lambda waits: []
        self._after_wait: list[Request] = []

    @property
    def step(self) -> int:
        steps = [event["step"] for event in self.events if event["kind"] == "progress"]
        return steps[-1] if steps else 0

    def emit(self, event: Event) -> None:
        self.events.append(event)

    def fitting(self, model: Any) -> None:
        self.models.append(model)

    def poll(self) -> list[Request]:
        requests, self._after_wait = self._after_wait, []
        return requests + self.on_poll(self.step)

    def wait(self, timeout: float) -> None:
        self.waits += 1
        assert self.waits < 1000, "paused for ever"
        self._after_wait += self.on_wait(self.waits)

    def stopped(self) -> bool:
        return self.stop

    def serve(self, request: Request) -> None:
        self.served.append(request)

    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.events]

    def states(self) -> list[str]:
        return [event["state"] for event in self.events if event["kind"] == "status"]


@pytest.fixture
def script() -> Iterator[Script]:
    script = Script()
    before = set_hooks(script)
    yield script
    set_hooks(before)


def classifier(device: str = "cpu") -> pg.Sequential:
    model = pg.Sequential([nn.Dense(2)])
    model.compile(
        pg.optim.SGD(0.1),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        ["accuracy"],
        device=device,
    )
    return model


def once(request: Request, step: int) -> Callable[[int], list[Request]]:
    """Return an ``on_poll`` that returns ``request`` once, from ``step`` on."""
    sent: list[bool] = []

    def poll(now: int) -> list[Request]:
        if now >= step and not sent:
            sent.append(True)
            return [request]
        return []

    return poll


def test_fit_emits_its_events_in_order(script: Script) -> None:
    model = classifier()
    history = model.fit(X, LABELS, batch_size=8, epochs=2, validation_data=(X, LABELS), verbose=0)
    assert script.models == [model]
    begin, end = script.events[0], script.events[-1]
    assert begin == {
        "kind": "fit_begin",
        "done": 0,
        "epochs": 2,
        "steps_per_epoch": 8,
        "total_steps": 16,
        "batch_size": 8,
        "device": "cpu:0",
        "device_reason": "",
        "precision": "float32",
        "adapter": "NumPy",
        "parameters": 12,
        "metrics": ["accuracy"],
    }
    assert (end["kind"], end["reason"], end["steps"]) == ("fit_end", "completed", 16)
    assert end["test_accuracy"] == history.history["val_accuracy"][-1]
    assert end["dispatches_per_step"] == 0
    points = [p for event in script.events if event["kind"] == "progress" for p in event["points"]]
    assert [point[0] for point in points] == list(range(1, 17))
    np.testing.assert_array_equal(np.array(points)[:, 1:], history.steps)
    progress = [event for event in script.events if event["kind"] == "progress"][-1]
    assert (progress["epoch"], progress["step"], progress["eta_seconds"]) == (2, 16, 0)
    assert progress["steps_per_second"] > 0
    epochs = [event for event in script.events if event["kind"] == "epoch_end"]
    assert [(event["epoch"], event["step"]) for event in epochs] == [(1, 8), (2, 16)]
    assert epochs[1]["test_loss"] == history.history["val_loss"][1]
    assert model.training_targets[0].name.startswith("train/")


def test_events_omit_missing_metrics_and_test_data(script: Script) -> None:
    model = pg.Sequential([nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    model.fit(X, X[:, 0], verbose=0)
    assert script.events[1]["points"][0][2] is None
    epoch = next(event for event in script.events if event["kind"] == "epoch_end")
    assert epoch["accuracy"] is epoch["test_loss"] is epoch["test_accuracy"] is None


def test_training_can_be_paused_stepped_and_resumed(script: Script) -> None:
    script.on_poll = once({"kind": "pause"}, 1)
    paused_at: list[int] = []

    def while_paused(waits: int) -> list[Request]:
        paused_at.append(script.step)
        return {2: [{"kind": "step"}], 4: [{"kind": "step"}] * 2, 6: [{"kind": "resume"}]}.get(
            waits, []
        )

    script.on_wait = while_paused
    history = classifier().fit(X, LABELS, batch_size=4, verbose=0)
    assert len(history.losses) == 16
    first = paused_at[0]
    assert paused_at == [first] * 2 + [first + 1] * 2 + [first + 3] * 2
    assert script.states() == ["paused", "running"]


def test_a_step_of_an_epoch_ends_with_its_test_results(script: Script) -> None:
    script.on_poll = once({"kind": "pause"}, 0)
    seen: list[tuple[int, int]] = []

    def while_paused(waits: int) -> list[Request]:
        seen.append((script.step, sum(event["kind"] == "epoch_end" for event in script.events)))
        return [{"kind": "step", "unit": "epoch"} if waits < 3 else {"kind": "resume"}]

    script.on_wait = while_paused
    classifier().fit(X, LABELS, batch_size=8, epochs=4, validation_data=(X, LABELS), verbose=0)
    assert seen == [(0, 0), (8, 1), (16, 2)]


def test_training_can_start_paused(script: Script) -> None:
    script.on_wait = lambda waits: [{"kind": "resume"}] if waits == 3 else []
    with options_set(Options(start_paused=True)):
        classifier().fit(X, LABELS, verbose=0)
    assert script.kinds()[:3] == ["status", "fit_begin", "status"]
    assert script.waits == 3


def test_pausing_does_not_count_as_time(script: Script) -> None:
    script.on_poll = once({"kind": "pause"}, 1)

    def slow(waits: int) -> list[Request]:
        time.sleep(0.2)
        return [{"kind": "resume"}]

    script.on_wait = slow
    begun = time.perf_counter()
    history = classifier().fit(X, LABELS, batch_size=4, verbose=0)
    assert 0 < history.seconds <= time.perf_counter() - begun - 0.2


def test_the_learning_rate_can_be_changed(script: Script) -> None:
    script.on_poll = once({"kind": "set_learning_rate", "value": 0}, 1)
    model = classifier()
    history = model.fit(X, LABELS, batch_size=64, epochs=20, shuffle=False, verbose=0)
    assert history.losses[1] < history.losses[0]
    assert (history.losses[2:] == history.losses[2]).all()
    assert model.session.value(model.optimizer.learning_rate) == 0
    (event,) = [event for event in script.events if event["kind"] == "setting"]
    rate = float(np.float32(0.1))
    setting = {"name": "learning rate", "before": rate, "after": 0}
    assert event == {"kind": "setting", "step": 1, **setting}


@pytest.mark.parametrize("value", [-1, float("nan"), "fast", None])
def test_a_wrong_learning_rate_is_refused(script: Script, value: Any) -> None:
    script.on_poll = once({"kind": "set_learning_rate", "value": value}, 0)
    model = classifier()
    model.fit(X, LABELS, verbose=0)
    assert model.session.value(model.optimizer.learning_rate) == np.float32(0.1)
    assert "must be a number of at least 0" in script.events[1]["text"]


def test_other_requests_are_served_between_chunks(script: Script) -> None:
    model = classifier()
    answers: list[Any] = []

    def serve(request: Request) -> None:
        answers.append(model.predict(X[:1]))

    script.serve = serve  # type: ignore[method-assign]
    script.on_poll = once({"kind": "predict", "id": 3}, 1)
    model.fit(X, LABELS, batch_size=4, epochs=3, verbose=0)
    assert answers[0].shape == (1, 2)


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_a_stopped_fit_can_be_continued(script: Script, device: str) -> None:
    model = classifier(device)
    count = 0

    def stopped() -> bool:
        nonlocal count
        count += 1
        return script.stop and script.step >= 2

    script.stopped = stopped  # type: ignore[method-assign]
    script.stop = True
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, LABELS, batch_size=4, epochs=1000, verbose=0)
    assert script.events[-1]["reason"] == "stopped"
    done = len(model.history.losses)
    assert 2 <= done == model.session.value(model.optimizer.iterations) < 16_000
    script.stop = False
    assert len(model.fit(X, LABELS, batch_size=4, verbose=0).losses) == 16
    assert model.session.value(model.optimizer.iterations) == done + 16
    model.close()


def test_evaluation_can_be_stopped(script: Script) -> None:
    model = classifier()
    model.fit(X, LABELS, verbose=0)
    script.stop = True
    with pytest.raises(KeyboardInterrupt):
        model.evaluate(X, LABELS, batch_size=1)
    script.stop = False
    assert model.evaluate(X, LABELS, batch_size=1) == pytest.approx(model.evaluate(X, LABELS))


def test_a_failure_is_reported_and_restores_the_session(script: Script) -> None:
    model = pg.Sequential([nn.Dense(1)])
    model.compile(pg.optim.SGD(1e30), "mse", device="cpu")
    with pytest.raises(pg.NonFiniteError):
        model.fit(X, X[:, 0], batch_size=4, epochs=5, verbose=0)
    assert script.events[-1]["reason"] == "failed"
    assert model.session.stop_check() is False


def test_pace_grows_while_chunks_are_short_and_shrinks_at_once() -> None:
    pace = ChunkSizer(largest=1000, seconds=0.1)
    sizes = [pace.size]
    for _ in range(6):
        pace.measured(pace.size, pace.size * 0.0005)
        sizes.append(pace.size)
    assert sizes == [1, 4, 16, 64, 200, 200, 200]
    pace.measured(200, 4.0)
    assert pace.size == 5
    pace.measured(5, 7.0)
    assert pace.size == 1
    for _ in range(9):
        pace.measured(pace.size, 0.0)
    assert pace.size == 1000


def test_chunks_stay_short(script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are answered about every tenth of a second, here where a step takes 5 ms."""
    clock = 0.0
    repeat = Session.repeat

    def timed(*args: Any) -> Any:
        nonlocal clock
        result = repeat(*args)
        clock += 0.005 * result.steps_done
        return result

    monkeypatch.setattr(Session, "repeat", timed)
    monkeypatch.setattr(chunk_loop, "time", SimpleNamespace(perf_counter=lambda: clock))
    times: list[float] = []

    def poll(step: int) -> list[Request]:
        times.append(clock)
        return []

    script.on_poll = poll
    classifier().fit(X, LABELS, batch_size=1, epochs=4, verbose=0)
    gaps = np.diff(times)
    assert gaps.max() == pytest.approx(chunk_loop.CHUNK_SECONDS)
    assert len(gaps) >= 16
