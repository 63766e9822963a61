"""Timelines computed from traces."""

from __future__ import annotations

import pytest

from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Event, Trace


def event(device: str, start: float, end: float, kind: str = "forward", nbytes: int = 0) -> Event:
    return Event("work", device, start, start, end, kind, nbytes)


def test_work_in_two_roles_is_the_work_of_one_device() -> None:
    """A replica and the weights are on cpu:0: while one works, the device does not wait."""
    both, other = ("cpu:0", "cpu:0 (weights)"), "cpu:1"
    events = [
        event(both[1], 0.0, 1.0, "send", 40),
        event(both[0], 0.0, 1.0, "receive", 40),
        event(both[0], 1.0, 3.0),
        event(both[1], 3.0, 4.0, "update"),
        event(other, 1.0, 3.0),
    ]
    times = timeline(Trace(events))
    assert [device.device for device in times.devices] == [*both, other]
    assert times.bubble == pytest.approx(2 / 8)
    assert times.communication == pytest.approx(1 / 8)
    assert times.bytes_moved == 40
    assert "on 2 devices: idle 25%" in times.text()


def test_work_at_the_same_time_counts_once() -> None:
    times = timeline(Trace([event("cpu:0", 1.0, 4.0), event("cpu:0", 2.0, 3.0)]))
    assert (times.seconds, times.bubble) == (3.0, 0.0)


def test_an_empty_trace_gives_zero_times() -> None:
    times = timeline(Trace())
    assert (times.seconds, times.bubble, times.communication) == (0.0, 0.0, 0.0)
