"""What happened when: events of the executor, and Chrome's trace format."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Event:
    """One task: when it became ready, began and ended, in seconds of ``time.perf_counter``."""

    name: str
    device: str
    queued: float
    start: float
    end: float


@dataclass
class Trace:
    """Collects events while it is given to a session's ``run``."""

    events: list[Event] = field(default_factory=list)

    def as_chrome(self) -> dict[str, Any]:
        """The events in the Trace Event Format of ``chrome://tracing`` (times in microseconds)."""
        devices = sorted({event.device for event in self.events})
        origin = min((event.queued for event in self.events), default=0.0)
        return {
            "displayTimeUnit": "ms",
            "traceEvents": [
                {
                    "name": event.name,
                    "ph": "X",
                    "pid": 0,
                    "tid": devices.index(event.device),
                    "ts": (event.start - origin) * 1e6,
                    "dur": (event.end - event.start) * 1e6,
                    "args": {"waited_us": (event.start - event.queued) * 1e6},
                }
                for event in self.events
            ]
            + [
                {"name": "thread_name", "ph": "M", "pid": 0, "tid": i, "args": {"name": device}}
                for i, device in enumerate(devices)
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write ``as_chrome()`` as a file."""
        Path(path).write_text(json.dumps(self.as_chrome()), encoding="utf-8")
