"""What happened when: events of the executor, and Chrome's trace format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Event:
    """One task, or a part of one: when it became ready, began and ended, in seconds of
    ``time.perf_counter``.

    Attributes:
        kind: what it was: input, forward, gradient or update; receive or send for the transfer of
            tensors to and from the device; delay where somebody asked for it to be held up.
        bytes: how much was transferred.
    """

    name: str
    device: str
    queued: float
    start: float
    end: float
    kind: str = "forward"
    bytes: int = 0


def delay_event(name: str, device: str, start: float, end: float) -> Event:
    """That the work called ``name`` was held up."""
    return Event(f"{name}, held up", device, start, start, end, "delay")


@dataclass
class Trace:
    """Collects events while it is given to a session's ``run``.

    Attributes:
        steps: how many steps of training the events are of.
    """

    events: list[Event] = field(default_factory=list)
    steps: int = 1

    def as_chrome(self) -> dict[str, Any]:
        """The events in the Trace Event Format of ``chrome://tracing`` (times in microseconds).

        The events of one thread must not overlap there, so each device has as many as it had
        tasks at the same time.
        """
        origin = min((event.queued for event in self.events), default=0.0)
        tracks: list[tuple[str, float]] = []  # device, and when its last event ends
        spans = []
        for event in sorted(self.events, key=lambda event: (event.device, event.start)):
            track = next(
                (
                    number
                    for number, (device, end) in enumerate(tracks)
                    if device == event.device and end <= event.start
                ),
                len(tracks),
            )
            tracks[track : track + 1] = [(event.device, event.end)]
            spans.append(_span(event, track, origin))
        return {
            "displayTimeUnit": "ms",
            "traceEvents": sorted(spans, key=lambda span: span["ts"])
            + [
                {"name": "thread_name", "ph": "M", "pid": 0, "tid": i, "args": {"name": device}}
                for i, (device, _) in enumerate(tracks)
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write ``as_chrome()`` as a file."""
        Path(path).write_text(json.dumps(self.as_chrome()), encoding="utf-8")


def _span(event: Event, track: int, origin: float) -> dict[str, Any]:
    return {
        "name": event.name,
        "cat": event.kind,
        "ph": "X",
        "pid": 0,
        "tid": track,
        "ts": (event.start - origin) * 1e6,
        "dur": (event.end - event.start) * 1e6,
        "args": {"waited_us": (event.start - event.queued) * 1e6, "bytes": event.bytes},
    }
