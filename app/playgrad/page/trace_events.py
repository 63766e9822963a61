"""Events of traces in the form that the page draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from playgrad.runtime.trace import Event


class TraceEvent(TypedDict):
    """Milliseconds since the beginning of the step."""

    name: str
    device: str
    start: float
    end: float
    kind: str
    bytes: float


def event_views(events: Sequence[Event]) -> list[TraceEvent]:
    """Return events in the order of their starts, in milliseconds since the first one began."""
    origin = events[0].start if events else 0.0
    return [
        {
            "name": event.name,
            "device": event.device,
            "start": 1000 * (event.start - origin),
            "end": 1000 * (event.end - origin),
            "kind": event.kind,
            "bytes": event.bytes,
        }
        for event in events
    ]
