"""Traces: events of the executor, and their export to Chrome's trace format."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playgrad.io.weights import write_file

CLOCKS = {
    "timestamps": "timestamps that the GPU wrote around each kernel",
    "waits": "each kernel was submitted alone and waited for, which takes longer than in a step",
    "operations": "operations ran one after the other on one thread",
    "segments": "each segment was timed as a whole",
}
"""The ways of timing the operations of a device, by name."""


@dataclass(frozen=True)
class Event:
    """A task, or a part of one.

    Attributes:
        queued, start, end: when it became ready, began and ended, in seconds of
            ``time.perf_counter``.
        kind: input, forward, gradient or update for computation; receive or send for the transfer
            of tensors to or from the device; delay for a requested delay.
        bytes: number of bytes transferred.
        nodes: names of the nodes that it computes, if it is not a whole segment.
        kernel: the family of the GPU's kernel that computes them.
    """

    name: str
    device: str
    queued: float
    start: float
    end: float
    kind: str = "forward"
    bytes: int = 0
    nodes: tuple[str, ...] = ()
    kernel: str = ""

    @property
    def seconds(self) -> float:
        return self.end - self.start


def delay_event(name: str, device: str, start: float, end: float) -> Event:
    """Return the event for a delay of the work called ``name``."""
    return Event(f"{name}, held up", device, start, start, end, "delay")


@dataclass
class Trace:
    """Collects the events of the runs that it is passed to.

    Attributes:
        steps: number of training steps that the events belong to.
        clocks: for each device whose operations were timed one by one, the name of the clock, one
            of `CLOCKS`.
        round_trips: seconds that an empty call takes, for each device with the clock "waits".
    """

    events: list[Event] = field(default_factory=list)
    steps: int = 1
    clocks: dict[str, str] = field(default_factory=dict)
    round_trips: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return a table of the slowest operations, with times in milliseconds."""
        return table_text(self)

    @property
    def seconds(self) -> float:
        """From the beginning of the first event to the end of the last."""
        if not self.events:
            return 0.0
        return max(e.end for e in self.events) - min(e.start for e in self.events)

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
        clocks = {device: CLOCKS[clock] for device, clock in self.clocks.items()}
        return {
            "displayTimeUnit": "ms",
            **({"otherData": clocks} if clocks else {}),
            "traceEvents": sorted(spans, key=lambda span: span["ts"])
            + [
                {"name": "thread_name", "ph": "M", "pid": 0, "tid": i, "args": {"name": device}}
                for i, (device, _) in enumerate(tracks)
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write `as_chrome` to a file, as JSON.

        Raises:
            CheckpointError: the file cannot be written; an existing one is as it was.
        """
        write_file(path, json.dumps(self.as_chrome()).encode())


def _span(event: Event, track: int, origin: float) -> dict[str, Any]:
    return {
        "name": event.name,
        "cat": event.kind,
        "ph": "X",
        "pid": 0,
        "tid": track,
        "ts": (event.start - origin) * 1e6,
        "dur": event.seconds * 1e6,
        "args": {"waited_us": (event.start - event.queued) * 1e6, "bytes": event.bytes}
        | ({"nodes": list(event.nodes)} if event.nodes else {})
        | ({"kernel": event.kernel} if event.kernel else {}),
    }


@dataclass(frozen=True)
class Row:
    """An operation, or all operations that are not listed by themselves.

    Attributes:
        share: of the time of all operations.
    """

    name: str
    device: str
    kind: str
    kernel: str
    seconds: float
    share: float


def slowest(trace: Trace, most: int = 12) -> list[Row]:
    """Return the slowest operations, the slowest first, and the others together as the last."""
    events = sorted(trace.events, key=lambda event: -event.seconds)
    total = _sum(events)
    rows = [
        Row(e.name, e.device, e.kind, e.kernel, e.seconds, e.seconds / total if total else 0.0)
        for e in events[:most]
    ]
    rest = events[most:]
    if rest:
        seconds = _sum(rest)
        share = seconds / total if total else 0.0
        rows.append(Row(f"{len(rest):,} others", "", "", "", seconds, share))
    return rows


def clock_sentences(trace: Trace) -> list[str]:
    """Return how each device was timed."""
    sentences = []
    for device, clock in sorted(trace.clocks.items()):
        sentence = f"{device}: {CLOCKS[clock]}"
        if device in trace.round_trips:
            trip = 1000 * trace.round_trips[device]
            sentence += f"; an empty call alone takes {trip:.3f} ms"
        sentences.append(f"{sentence}.")
    return sentences


def table_text(trace: Trace) -> str:
    """Return a table of the slowest operations, with times in milliseconds."""
    if not trace.events:
        return "the trace has no events"
    count = len(trace.events)
    noun = "operation" if count == 1 else "operations"
    lines = [f"{count:,} {noun} in {1000 * trace.seconds:.3f} ms"]
    rows = slowest(trace)
    width = max(len(row.name) for row in rows)
    places = max(8, *(len(row.device) for row in rows))
    lines.append(f"{'ms':>9}  {'share':>5}  {'operation':{width}}  {'device':{places}}  kind")
    for row in rows:
        what = f"{row.kind} ({row.kernel})" if row.kernel else row.kind
        line = f"{1000 * row.seconds:9.3f}  {row.share:5.1%}  {row.name:{width}}"
        lines.append(f"{line}  {row.device:{places}}  {what}".rstrip())
    return "\n".join([*lines, *clock_sentences(trace)])


def _sum(events: Iterable[Event]) -> float:
    return sum(event.seconds for event in events)
