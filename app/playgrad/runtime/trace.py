"""Traces: events of the executor, and their export to Chrome's trace format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playgrad.io.whole_files import write_whole


@dataclass(frozen=True)
class Event:
    """A task, or a part of one.

    Attributes:
        queued, start, end: when it became ready, began and ended, in seconds of
            ``time.perf_counter``.
        kind: input, forward, gradient or update for computation; receive or send for the transfer
            of tensors to or from the device; delay for a requested delay.
        bytes: number of bytes transferred.
    """

    name: str
    device: str
    queued: float
    start: float
    end: float
    kind: str = "forward"
    bytes: int = 0


def delay_event(name: str, device: str, start: float, end: float) -> Event:
    """Return the event for a delay of the work called ``name``."""
    return Event(f"{name}, held up", device, start, start, end, "delay")


@dataclass
class Trace:
    """Collects the events of the runs that it is passed to.

    Attributes:
        steps: number of training steps that the events belong to.
    """

    events: list[Event] = field(default_factory=list)
    steps: int = 1

    def as_chrome(self) -> dict[str, Any]:
        """Return the events in the Trace Event Format of ``chrome://tracing``, in microseconds.

        Events of one thread must not overlap in that format, so each device gets as many threads as
        it had tasks at the same time.
        """
        origin = min((event.queued for event in self.events), default=0.0)
        tracks: list[tuple[str, float]] = []  # device, and end of its last event
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
        """Write `as_chrome` to a file, as JSON.

        Raises:
            OSError: the file cannot be written; an existing one is as it was.
        """
        write_whole(path, json.dumps(self.as_chrome()).encode())


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
