"""The page's Lab: a program trained as a strategy has it, and steps of it looked at.

The page shows the choices that `choices` names, and sends what was chosen as the run option
``lab``; `Lab` makes options of it, and a report of each traced step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playgrad.parallel import collectives
from playgrad.parallel.named import DETAILS, NAMES, strategy_named
from playgrad.parallel.relaxed import AsynchronousDataParallel
from playgrad.parallel.schedules import SCHEDULES, bubble_formula
from playgrad.parallel.strategies import Pipeline
from playgrad.runtime.hooks import Event
from playgrad.runtime.session import memory_in_use
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace

SINGLE = "single"
"""The choice of no strategy at all."""
TRACED_CHUNKS = (2, 10)
"""Of the chunks of steps that training runs, those before which a step is traced: soon after the
first, which compiles, and when everything has warmed up."""
MOST_EVENTS = 4000
"""Of one traced step: the page draws no more."""

_STRATEGIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    SINGLE: (
        "One device",
        "The program as it is written. Run it first: the others are measured against it.",
        (),
    ),
    "sync": (
        "Data parallel, synchronous",
        "Each device has all layers and takes its share of every batch. The gradients are "
        "averaged, then all make the same update. The result is that of one device.",
        ("devices", "collective", "delays"),
    ),
    "pipeline": (
        "Pipeline",
        "The layers are dealt out to the devices, and parts of the batch pass through them one "
        "after the other. The result is that of one device.",
        ("devices", "micro_batches", "schedule", "delays"),
    ),
    "async": (
        "Data parallel, asynchronous",
        "Each device has all layers and updates common parameters without waiting for the others, "
        "so a slow one holds up nobody; but gradients may be of older parameters.",
        ("devices", "delays"),
    ),
    "local": (
        "Local SGD",
        "Each device trains on its share of the data by itself. Every few steps the devices "
        "average their parameters: less to send, and a slightly different result.",
        ("devices", "collective", "delays"),
    ),
    "overlap": (
        "Overlapped steps",
        "The input of the next step is made while this one is computed. The result is the same.",
        (),
    ),
}
"""By name: what the page calls it, what it says of it, and which other choices it has."""

_SCHEDULES: dict[str, tuple[str, str]] = {
    "gpipe": ("GPipe", "All parts forward, then all parts back."),
    "1f1b": ("1F1B", "Forward and back in turn: as fast as GPipe, with less kept in memory."),
    "interleaved": ("Interleaved", "Two groups of layers on each device: shorter gaps, more sent."),
    "bidirectional": (
        "Bidirectional",
        "Two streams, from both ends, each filling the other's gaps.",
    ),
    "pipedream": (
        "PipeDream",
        "An update after every part, so each device may compute with parameters that lack the last "
        "few: not the result of one device.",
    ),
}
_COLLECTIVES: dict[str, tuple[str, str]] = {
    "auto": ("Automatic", "The way that should take least time for each size."),
    "central": ("Through one device", "One device gathers the sum and hands it back."),
    "ring": ("Ring", "Each hands pieces to its neighbour: most evenly spread, most messages."),
    "tree": ("Tree", "Pairs add up, then pairs of pairs: few rounds."),
}


def choices() -> Event:
    """What there is to choose from, with words for people."""
    return {
        "kind": "lab_choices",
        "strategies": [
            {"name": name, "title": title, "about": about, "uses": list(uses)}
            for name, (title, about, uses) in _STRATEGIES.items()
            if name in (SINGLE, *NAMES)
        ],
        "schedules": [
            {
                "name": name,
                "title": _SCHEDULES[name][0],
                "about": _SCHEDULES[name][1],
                # Its two streams have a copy of the parameters each, and add up their gradients.
                "uses": ["collective"] if name == "bidirectional" else [],
            }
            for name in SCHEDULES
        ],
        "collectives": [
            {"name": name, "title": _COLLECTIVES[name][0], "about": _COLLECTIVES[name][1]}
            for name in collectives.NAMES
        ],
    }


@dataclass
class Lab:
    """One run in the Lab.

    Attributes:
        strategy: of ``playgrad.parallel``; None for one device.
        delays: milliseconds that each piece of work of a device is held up, by its number.
        steps: of every ``fit``; None for as many as the program says.
        wanted: whether the next step is to be traced, whatever its number.
    """

    strategy: Any = None
    delays: dict[int, float] = field(default_factory=dict)
    steps: int | None = None
    wanted: bool = False
    _chunks: int = 0

    @classmethod
    def of(cls, chosen: Mapping[str, Any]) -> Lab:
        """From the page's choices: ``strategy`` and, where it uses them, ``devices``,
        ``micro_batches``, ``schedule``, ``collective``, ``delays`` and ``steps``.

        Raises:
            GraphError: there is no such strategy, or it cannot be done with these numbers.
        """
        given = {name: chosen[name] for name in DETAILS if name in chosen}
        strategy = None
        if chosen["strategy"] != SINGLE:
            strategy = strategy_named(chosen["strategy"], chosen.get("devices", 1), **given)
        delays = {place: delay for place, delay in enumerate(chosen.get("delays", ())) if delay}
        if isinstance(strategy, AsynchronousDataParallel):
            seconds = {kind: _by_name(delays, kind) for kind in ("cpu", "gpu")}
            strategy = replace(strategy, delays=seconds["cpu"] | seconds["gpu"])
        return cls(strategy, delays, chosen.get("steps"))

    def fitting(self, model: Any) -> None:
        """Training of ``model`` is about to begin."""
        self._chunks = 0
        kind = model.session.device.partition(":")[0]
        model.session.executor.delays = _by_name(self.delays, kind)

    def new_trace(self) -> Trace | None:
        """Asked before each chunk of steps: a trace for the next step, or None."""
        self._chunks += 1
        wanted = self.wanted or self._chunks in TRACED_CHUNKS
        self.wanted = False
        return Trace() if wanted else None

    def report(self, trace: Trace) -> Event:
        """What the page shows of a traced step. Times of events are milliseconds from its
        beginning; ``bubble_formula`` is None where there is no pipeline."""
        formula = None
        if isinstance(self.strategy, Pipeline):
            pipe = self.strategy
            assert pipe.chunks is not None
            formula = bubble_formula(pipe.schedule, pipe.depth, pipe.micro_batches, pipe.chunks)
        events = sorted(trace.events, key=lambda event: event.start)[:MOST_EVENTS]
        origin = events[0].start if events else 0.0
        return {
            "kind": "trace",
            "timeline": timeline(trace).as_dict(),
            "bubble_formula": formula,
            "memory": memory_in_use(),
            "events": [
                {
                    "name": event.name,
                    "device": event.device,
                    "start": 1000 * (event.start - origin),
                    "end": 1000 * (event.end - origin),
                    "kind": event.kind,
                    "bytes": event.bytes,
                }
                for event in events
            ],
        }


def _by_name(delays: Mapping[int, float], kind: str) -> dict[str, float]:
    """Seconds by device of a kind, from milliseconds by its number."""
    return {f"{kind}:{place}": delay / 1000 for place, delay in delays.items()}
