"""The page's Lab: training with a chosen strategy, and reports of traced steps.

The page offers what `choices` returns, and sends the user's choice as the run option ``lab``. `Lab`
turns it into a strategy, and each traced step into a report.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playgrad.devices.kinds import KINDS, kind_of
from playgrad.models.trainable import TrainableNetwork
from playgrad.page.trace_events import event_views
from playgrad.runtime.hooks import Event
from playgrad.runtime.open_sessions import memory_in_use
from playgrad.runtime.options import SINGLE, get_options
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace
from playgrad.training.strategies.base import Descriptor, OptionValue, Strategy
from playgrad.training.strategies.registry import (
    STRATEGIES,
    descriptors,
    options_by_name,
    strategy_named,
)

PROGRAM = "program"
"""The choice that leaves strategies, delays and steps to the program."""
TRACED_CHUNKS = (2, 10)
"""Numbers of the chunks before which a step is traced: soon after the first chunk, which compiles,
and when everything has warmed up."""
MOST_EVENTS = 4000
"""The most events of a traced step that the page draws."""

_SINGLE_TITLE = "One device"
_WITHOUT_STRATEGY: list[Event] = [
    {
        "name": SINGLE,
        "title": _SINGLE_TITLE,
        "about": "Trains on one device, whatever the program says. Run it first: the others are "
        "compared with it.",
        "uses": ["steps"],
    },
    {
        "name": PROGRAM,
        "title": "As the program says",
        "about": "Each model trains with the strategy that the program gives it, for as long as it "
        "says. Every fit becomes a row below: for programs that compare strategies themselves.",
        "uses": [],
    },
]
_STEPS = {
    "name": "steps",
    "title": "Steps",
    "about": "0: as many as the program says.",
}


def choices() -> Event:
    """Return the strategies and their options as the page offers them, with titles and
    descriptions."""
    options = options_by_name()
    numbers = [option for same_name in options.values() for option in same_name if option.title]
    return {
        "kind": "lab_choices",
        "strategies": [
            *_WITHOUT_STRATEGY,
            *(
                {"name": d.name, "title": d.title, "about": d.about, "uses": _uses(d)}
                for d in descriptors()
            ),
        ],
        "schedules": [
            {**_described(choice), "uses": list(choice.uses)}
            for choice in options["schedule"][0].choices
        ],
        "collectives": [_described(choice) for choice in options["collective"][0].choices],
        "details": [
            *({"name": o.name, "title": o.title, "about": o.about} for o in numbers),
            _STEPS,
        ],
    }


def _described(choice: OptionValue) -> Event:
    return {"name": choice.name, "title": choice.title, "about": choice.about}


def _uses(descriptor: Descriptor) -> list[str]:
    """Return the names of the inputs that the page shows for a strategy."""
    offered = [option for option in descriptor.options if option.title or option.choices]
    # Of these, the page shows some only with a certain schedule.
    conditional = {name for o in offered for choice in o.choices for name in choice.uses}
    names = [option.name for option in offered if option.name not in conditional]
    delays = ["delays"] if "devices" in names else []
    return [*names, *delays, "steps"]


@dataclass
class Lab:
    """One run in the Lab.

    Attributes:
        strategy: a strategy of ``playgrad.parallel``; None leaves it to the program; `SINGLE` for
            none.
        delays: milliseconds by which each task of a device is delayed, by the device's number; None
            leaves them to the program.
        steps: the number of steps of every ``fit``; None leaves it to the program.
        trace_next: whether to trace the next step, whatever its number.
    """

    strategy: Any = None
    delays: dict[int, float] | None = field(default_factory=dict)
    steps: int | None = None
    trace_next: bool = False
    _chunks: int = 0
    _longest_trace: int = 0
    _requested: bool = False
    _trained: Strategy | None = None

    @classmethod
    def of(cls, chosen: Mapping[str, Any]) -> Lab:
        """Return the run that the user chose.

        Args:
            chosen: ``strategy``, and the options of it that the user set, by name.

        Raises:
            GraphError: there is no such strategy, or it is not possible with these options.
        """
        name = chosen["strategy"]
        if name == PROGRAM:
            return cls(delays=None)
        if name == SINGLE:
            return cls(SINGLE, steps=chosen.get("steps"))
        strategy = strategy_named(name, chosen.get("devices", 1), **_options(name, chosen))
        delays = {place: delay for place, delay in enumerate(chosen.get("delays", ())) if delay}
        seconds = {name: s for kind in KINDS for name, s in _by_name(delays, kind).items()}
        delayed = strategy.with_delays(seconds)
        if delayed is not None:
            strategy, delays = delayed, {}
        return cls(strategy, delays, chosen.get("steps"))

    def fitting(self, model: TrainableNetwork) -> Event:
        """Set the delays of ``model``, which is about to be trained; return the page's event."""
        self._chunks = self._longest_trace = 0
        if self.delays is not None:
            kind = kind_of(model.session.device).name
            model.session.executor.delays = _by_name(self.delays, kind)
        options = get_options()
        strategy: Any = options.strategy or model.strategy or options.fallback_strategy
        self._trained = None if strategy == SINGLE else strategy
        title, devices = titled(self._trained), self._trained.width if self._trained else 1
        is_placed = strategy is None and model.placement is not None
        if self._trained is None and (is_placed or any(node.device for node in model.graph.nodes)):
            devices = len(_devices(model))
            is_placed = is_placed or devices > 1
        held_up = bool(model.session.executor.delays)
        if self._trained is not None:
            held_up = held_up or self._trained.delays_devices
        return {
            "kind": "lab_fit",
            "title": "Placed by the program" if is_placed else title,
            "devices": devices,
            "single": self._trained is None and not is_placed,
            "held_up": held_up,
        }

    def new_trace(self) -> Trace | None:
        """Return a trace if the next chunk is to be traced, else None. Called before each chunk."""
        self._chunks += 1
        self._requested, self.trace_next = self.trace_next, False
        return Trace() if self._requested or self._chunks in TRACED_CHUNKS else None

    def report(self, trace: Trace, steps: int, seconds: float) -> Event | None:
        """Return the page's event for a trace.

        Times of its events are milliseconds since the first of them began; ``bubble_formula`` is
        None unless the strategy is a pipeline. At the end of training a trace can have fewer steps
        than earlier runs, which would mislead: then the result is None, unless the user
        requested the trace.

        Args:
            steps: the number of steps in the trace.
            seconds: the time they took, with everything done for them.
        """
        if steps < self._longest_trace and not self._requested:
            return None
        self._longest_trace = max(steps, self._longest_trace)
        events = sorted(trace.events, key=lambda event: event.start)[:MOST_EVENTS]
        return {
            "kind": "trace",
            "steps": steps,
            "seconds": seconds,
            "timeline": timeline(trace).as_dict(),
            "bubble_formula": self._trained.bubble_formula if self._trained else None,
            "memory": memory_in_use(),
            "events": event_views(events),
        }


def titled(strategy: Strategy | None) -> str:
    """Return the title of ``strategy`` in the page."""
    return _SINGLE_TITLE if strategy is None else strategy.title


def _options(name: str, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the choices that are options of the strategy called ``name``."""
    strategy = STRATEGIES.get(name)
    options = strategy.descriptor.options if strategy else ()
    names = [option.name for option in options if option.name != "devices"]
    return {name: chosen[name] for name in names if name in chosen}


def _devices(model: TrainableNetwork) -> set[str]:
    """Return the devices on which the training step of ``model`` runs."""
    runnable: Any = model.session.compiled(model.training_targets)
    return {node.device for node in runnable.compiled.order}


def _by_name(delays: Mapping[int, float], kind: str) -> dict[str, float]:
    """Return seconds by device of ``kind``, from milliseconds by number."""
    return {f"{kind}:{place}": delay / 1000 for place, delay in delays.items()}
