"""The page's Lab: a program trained as a strategy has it, and steps of it looked at.

The page shows the choices that `choices` names, and sends what was chosen as the run option
``lab``; `Lab` makes options of it, and a report of each traced step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from playgrad.parallel import collectives
from playgrad.parallel.registry import DETAILS, NAMES, strategy_named
from playgrad.parallel.relaxed import AsynchronousDataParallel, LocalSGD, Overlap
from playgrad.parallel.schedules import SCHEDULES, bubble_formula
from playgrad.parallel.strategies import DataParallel, Pipeline
from playgrad.runtime.hooks import Event
from playgrad.runtime.options import SINGLE, get_options
from playgrad.runtime.session import memory_in_use
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace

PROGRAM = "program"
"""The choice to leave strategies, delays and steps to the program."""
TRACED_CHUNKS = (2, 10)
"""Of the chunks of steps that training runs, those before which a step is traced: soon after the
first, which compiles, and when everything has warmed up."""
MOST_EVENTS = 4000
"""Of one traced step: the page draws no more."""

_STRATEGIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    SINGLE: (
        "One device",
        "No strategy, whatever the program says. Run it first: the others are measured against it.",
        ("steps",),
    ),
    PROGRAM: (
        "As the program says",
        "Each model trains with the strategy that the program gives it, for as long as it says. "
        "Every fit becomes a row below: for programs that compare strategies by themselves.",
        (),
    ),
    "sync": (
        "Data parallel, synchronous",
        "Each device has all layers and takes its share of every batch. The gradients are "
        "averaged, then all make the same update. The result is that of one device.",
        ("devices", "collective", "delays", "steps"),
    ),
    "pipeline": (
        "Pipeline",
        "The layers are dealt out to the devices, and parts of the batch pass through them one "
        "after the other. The result is that of one device.",
        ("devices", "micro_batches", "schedule", "delays", "steps"),
    ),
    "async": (
        "Data parallel, asynchronous",
        "Each device has all layers and updates common parameters without waiting for the others, "
        "so a slow one holds up nobody; but gradients may be of older parameters.",
        ("devices", "staleness", "delays", "steps"),
    ),
    "local": (
        "Local SGD",
        "Each device trains on its share of the data by itself. Every few steps the devices "
        "average their parameters: less to send, and a slightly different result.",
        ("devices", "every", "collective", "delays", "steps"),
    ),
    "overlap": (
        "Overlapped steps",
        "The input of the next step is made while this one is computed. The result is the same.",
        ("steps",),
    ),
}
"""By name: what the page calls it, what it says of it, and which other choices it has."""

_SCHEDULES: dict[str, tuple[str, str]] = {
    "gpipe": ("GPipe", "All parts forward, then all parts back."),
    "1f1b": ("1F1B", "Forward and back in turn: as fast as GPipe, with less kept in memory."),
    "interleaved": (
        "Interleaved",
        "Several groups of layers on each device: shorter gaps, more sent.",
    ),
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
# The two streams of a bidirectional one have a copy of the parameters each, and add up gradients.
_OF_SCHEDULE = {"interleaved": ["chunks"], "bidirectional": ["collective"]}
_COLLECTIVES: dict[str, tuple[str, str]] = {
    "auto": ("Automatic", "The way that should take least time for each size."),
    "central": ("Through one device", "One device gathers the sum and hands it back."),
    "ring": ("Ring", "Each hands pieces to its neighbour: most evenly spread, most messages."),
    "tree": ("Tree", "Pairs add up, then pairs of pairs: few rounds."),
}
_DETAILS: dict[str, tuple[str, str]] = {
    "devices": ("Devices", "How many share the work."),
    "micro_batches": ("Micro-batches", "Parts of each batch: more parts, less waiting."),
    "chunks": ("Chunks", "Groups of layers on each device. The network needs a layer for each."),
    "staleness": (
        "Staleness bound",
        "Batches that a device may be ahead of the slowest before it waits. Empty: any number.",
    ),
    "every": ("Average every", "Steps that each device makes by itself before all average."),
    "steps": ("Steps", "How many to train. 0: as many as the program says."),
}
"""Numbers: what the page calls them, and what it says of them."""
_KINDS = {
    DataParallel: "sync",
    Pipeline: "pipeline",
    AsynchronousDataParallel: "async",
    LocalSGD: "local",
    Overlap: "overlap",
}


def choices() -> Event:
    """What there is to choose from, with words for people."""
    return {
        "kind": "lab_choices",
        "strategies": [
            {"name": name, "title": title, "about": about, "uses": list(uses)}
            for name, (title, about, uses) in _STRATEGIES.items()
            if name in (SINGLE, PROGRAM, *NAMES)
        ],
        "schedules": [
            {
                "name": name,
                "title": _SCHEDULES[name][0],
                "about": _SCHEDULES[name][1],
                "uses": _OF_SCHEDULE.get(name, []),
            }
            for name in SCHEDULES
        ],
        "collectives": [
            {"name": name, "title": _COLLECTIVES[name][0], "about": _COLLECTIVES[name][1]}
            for name in collectives.NAMES
        ],
        "details": [
            {"name": name, "title": title, "about": about}
            for name, (title, about) in _DETAILS.items()
        ],
    }


@dataclass
class Lab:
    """One run in the Lab.

    Attributes:
        strategy: of ``playgrad.parallel``; None to leave it to the program, or `SINGLE`.
        delays: milliseconds that each piece of work of a device is held up, by its number; None to
            leave that to the program.
        steps: of every ``fit``; None for as many as the program says.
        wanted: whether the next step is to be traced, whatever its number.
    """

    strategy: Any = None
    delays: dict[int, float] | None = field(default_factory=dict)
    steps: int | None = None
    wanted: bool = False
    _chunks: int = 0
    _together: int = 0
    _asked_for: bool = False
    _trained: Any = None

    @classmethod
    def of(cls, chosen: Mapping[str, Any]) -> Lab:
        """From the page's choices: ``strategy`` and, where it uses them, ``devices``,
        ``micro_batches``, ``schedule``, ``chunks``, ``collective``, ``staleness``, ``every``,
        ``delays`` and ``steps``.

        Raises:
            GraphError: there is no such strategy, or it cannot be done with these numbers.
        """
        name = chosen["strategy"]
        if name == PROGRAM:
            return cls(delays=None)
        if name == SINGLE:
            return cls(SINGLE, steps=chosen.get("steps"))
        given = {detail: chosen[detail] for detail in DETAILS if detail in chosen}
        strategy: Any = strategy_named(name, chosen.get("devices", 1), **given)
        delays = {place: delay for place, delay in enumerate(chosen.get("delays", ())) if delay}
        if isinstance(strategy, AsynchronousDataParallel):
            seconds = {kind: _by_name(delays, kind) for kind in ("cpu", "gpu")}
            strategy = replace(strategy, delays=seconds["cpu"] | seconds["gpu"])
            delays = {}  # a replica is slow, not who holds the parameters on the same device
        return cls(strategy, delays, chosen.get("steps"))

    def fitting(self, model: Any) -> Event:
        """Training of ``model`` is about to begin; tells the page with which strategy."""
        self._chunks = self._together = 0
        if self.delays is not None:
            kind = model.session.device.partition(":")[0]
            model.session.executor.delays = _by_name(self.delays, kind)
        strategy = get_options().strategy or model.strategy
        self._trained = None if strategy == SINGLE else strategy
        title, devices = titled(self._trained), _width(self._trained)
        is_placed = strategy is None and model.placement is not None
        if self._trained is None and (is_placed or any(node.device for node in model.graph.nodes)):
            devices = len(_devices(model))
            is_placed = is_placed or devices > 1
        held_up = bool(model.session.executor.delays or getattr(strategy, "delays", None))
        return {
            "kind": "lab_fit",
            "title": "Placed by the program" if is_placed else title,
            "devices": devices,
            "single": self._trained is None and not is_placed,
            "held_up": held_up,
        }

    def new_trace(self) -> Trace | None:
        """Asked before each chunk of steps: a trace for the next step, or None."""
        self._chunks += 1
        self._asked_for, self.wanted = self.wanted, False
        return Trace() if self._asked_for or self._chunks in TRACED_CHUNKS else None

    def report(self, trace: Trace, steps: int, seconds: float) -> Event | None:
        """What the page shows of a traced step, or of ``steps`` that were traced together and took
        ``seconds`` with all that is done for them. Times of events are milliseconds from the first
        one's beginning; ``bubble_formula`` is None where there is no pipeline. None if nobody asked
        for it and more steps that belong together were seen before: it is the end of the training.
        """
        if steps < self._together and not self._asked_for:
            return None
        self._together = max(steps, self._together)
        formula = None
        if isinstance(self._trained, Pipeline):
            pipe = self._trained
            assert pipe.chunks is not None
            formula = bubble_formula(pipe.schedule, pipe.depth, pipe.micro_batches, pipe.chunks)
        events = sorted(trace.events, key=lambda event: event.start)[:MOST_EVENTS]
        origin = events[0].start if events else 0.0
        return {
            "kind": "trace",
            "steps": steps,
            "seconds": seconds,
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


def titled(strategy: Any) -> str:
    """What the page calls ``strategy`` of ``playgrad.parallel``, or None."""
    if strategy is None:
        return _STRATEGIES[SINGLE][0]
    parts = [_STRATEGIES[_KINDS[type(strategy)]][0]]
    if isinstance(strategy, Pipeline):
        count = strategy.micro_batches
        parts += [_SCHEDULES[strategy.schedule][0], f"{count} micro-batch{'es' * (count > 1)}"]
    if isinstance(strategy, LocalSGD):
        parts.append(f"every {strategy.every}")
    if isinstance(strategy, AsynchronousDataParallel) and strategy.staleness is not None:
        parts.append(f"at most {strategy.staleness} ahead")
    return ", ".join(parts)


def _devices(model: Any) -> set[str]:
    """Where the training step of ``model`` runs, as scopes and placement have it."""
    runnable = model.session.compiled(model.training_targets)
    return {node.device for node in runnable.compiled.order}


def _width(strategy: Any) -> int:
    devices = getattr(strategy, "devices", 1)
    return devices if isinstance(devices, int) else len(devices)


def _by_name(delays: Mapping[int, float], kind: str) -> dict[str, float]:
    """Seconds by device of a kind, from milliseconds by its number."""
    return {f"{kind}:{place}": delay / 1000 for place, delay in delays.items()}
