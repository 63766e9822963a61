"""`Session.trace`: a time for each operation, the same values, and no overlap on a device."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad.devices.null import NullHost
from playgrad.runtime.trace import Trace

DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]
NAMES = ["first", "hidden", "second"]


def build(device: str, second: str | None = None) -> tuple[pg.Session, pg.Tensor, list[pg.Tensor]]:
    """Return a session, a placeholder, and the tensor and the update that depend on it."""
    graph = pg.Graph(seed=3)
    with graph.as_default():
        x = pg.placeholder("float32", (8, 64), name="x")
        weight = pg.Variable(np.ones((64, 64), np.float32), name="weight")
        first = pg.matmul(x, weight, name="first")
        with pg.device(second or device):
            hidden = pg.tanh(first, name="hidden")
        total = pg.reduce_sum(hidden, name="second")
        update = weight.assign_add(pg.matmul(pg.transpose(x), first) * 0.01)
    return pg.Session(graph, device), x, [total, update]


def feed() -> np.ndarray:
    return np.linspace(-1, 1, 8 * 64, dtype=np.float32).reshape(8, 64)


def assert_apart(trace: Trace) -> None:
    """Assert that the events of each device do not overlap, and fit the span of the trace."""
    assert trace.events
    for device in {event.device for event in trace.events}:
        events = sorted((e for e in trace.events if e.device == device), key=lambda e: e.start)
        assert all(event.end >= event.start for event in events)
        assert all(a.end <= b.start for a, b in itertools.pairwise(events))
        assert sum(event.seconds for event in events) <= trace.seconds + 1e-12


@pytest.mark.parametrize("device", DEVICES)
def test_traced_values_match_a_run(device: str) -> None:
    session, x, fetches = build(device)
    with session:
        values, trace = session.trace(fetches, {x: feed()})
        after = session.value("weight")
    other, x, fetches = build(device)
    with other:
        expected = other.run(fetches, {x: feed()})
        np.testing.assert_array_equal(after, other.value("weight"))
    for value, right in zip(values, expected, strict=True):
        np.testing.assert_array_equal(value, right)
    assert_apart(trace)


@pytest.mark.parametrize("device", DEVICES)
def test_each_operation_has_a_time(device: str) -> None:
    session, x, fetches = build(device)
    with session:
        _, trace = session.trace(fetches, {x: feed()}, apart=True)
        name = session.device
    computed = [node for event in trace.events for node in event.nodes]
    assert set(NAMES) <= set(computed)
    assert set(trace.clocks) == {name}
    text = str(trace)
    assert text.startswith(f"{len(trace.events)} operations in ")
    assert f"\n{name}: " in text


@pytest.mark.parametrize("device", DEVICES)
def test_undo_restores_the_variables(device: str) -> None:
    session, x, fetches = build(device)
    with session:
        session.run(fetches, {x: feed()})
        before = session.value("weight")
        session.trace(fetches, {x: feed()}, undo=True)
        np.testing.assert_array_equal(session.value("weight"), before)
        session.trace(fetches, {x: feed()})
        assert not np.array_equal(session.value("weight"), before)


@pytest.mark.gpu
def test_two_devices_and_their_transfers_are_traced() -> None:
    session, x, fetches = build("gpu", second="cpu")
    with session:
        values, trace = session.trace(fetches, {x: feed()})
        np.testing.assert_allclose(values[0], session.run(fetches[0], {x: feed()}), rtol=1e-3)
    assert {event.device for event in trace.events} == {"gpu:0", "cpu:0"}
    assert {"send", "receive"} <= {event.kind for event in trace.events if event.bytes}
    assert trace.clocks["cpu:0"] == "operations"
    assert_apart(trace)


@pytest.mark.gpu
def test_kernels_are_timed_by_waiting_without_timestamps(monkeypatch: pytest.MonkeyPatch) -> None:
    from playgrad.devices._wgpu.timestamps import KernelClock

    monkeypatch.setattr(KernelClock, "is_offered_by", staticmethod(lambda device: False))
    session, x, fetches = build("gpu")
    with session:
        values, trace = session.trace(fetches, {x: feed()}, apart=True, undo=True)
        np.testing.assert_array_equal(values[0], session.run(fetches, {x: feed()})[0])
    assert trace.clocks == {"gpu:0": "waits"}
    assert trace.round_trips["gpu:0"] > 0
    assert "an empty call alone takes" in str(trace)
    assert_apart(trace)


def test_a_trace_frees_what_it_loaded() -> None:
    assert NullHost.time_kernels.__qualname__ == "Host.time_kernels"  # it has no clock
    session, x, fetches = build("cpu")
    with session:
        before = len(session._programs)
        session.trace(fetches, {x: feed()})
        assert len(session._programs) == max(before, 1)


def test_a_trace_of_nothing_is_empty() -> None:
    session, _, _ = build("cpu")
    with session:
        values, trace = session.trace([])
    assert values == []
    assert str(trace) == "the trace has no events"


def test_chrome_gets_each_operation(tmp_path: Path) -> None:
    session, x, fetches = build("cpu")
    with session:
        _, trace = session.trace(fetches, {x: feed()})
    trace.save(tmp_path / "trace.json")
    saved = json.loads((tmp_path / "trace.json").read_text())
    spans = {span["name"]: span for span in saved["traceEvents"] if span["ph"] == "X"}
    assert spans["second"]["args"]["nodes"] == ["second"]
    assert sum(span["dur"] for span in spans.values()) <= 1e6 * trace.seconds + 1e-6
    assert "one after the other" in saved["otherData"]["cpu:0"]
