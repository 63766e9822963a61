"""Measure how long sessions take for their work.

Work is run several times, and runs that are compared are interleaved, so that other load on the
machine affects all of them. The least time is the one that other load affected least.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from playgrad.graph.tensor import Node
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Event, Trace

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class MeasuredNode:
    """A node to run, with its session and feeds."""

    session: Session
    node: Node
    feeds: Mapping[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TimedRun:
    """Wall-clock seconds of one run, and its trace."""

    seconds: float
    trace: Trace


def run_in_turns(
    measured: Sequence[MeasuredNode],
    repeats: int,
    traced: bool = True,
    budget: float = math.inf,
    least: float = 0.0,
) -> list[list[TimedRun]]:
    """Run each node ``repeats`` times, interleaved, and return the runs of each.

    Args:
        traced: False runs without a trace, which makes a GPU wait between the parts of a segment.
        budget: seconds after which three rounds suffice; after ten times as long, one does.
        least: seconds in which there are more rounds: of short runs few are undisturbed.
    """
    runs: list[list[TimedRun]] = [[] for _ in measured]
    start = time.perf_counter()
    for number in count():
        if number >= repeats and time.perf_counter() - start >= least:
            break
        for each, timed in zip(measured, runs, strict=True):
            trace = Trace()
            begin = time.perf_counter()
            each.session.run([each.node], each.feeds, trace if traced else None)
            timed.append(TimedRun(time.perf_counter() - begin, trace))
        if time.perf_counter() - start > (budget if number > 2 else 10 * budget):
            break
    return runs


def seconds_by(events: Iterable[Event], key: Callable[[Event], K | None]) -> dict[K, float]:
    """Return the total seconds of ``events`` by ``key``, without events whose key is None."""
    seconds: dict[K, float] = {}
    for event in events:
        label = key(event)
        if label is not None:
            seconds[label] = seconds.get(label, 0.0) + event.end - event.start
    return seconds


def least_sums(traces: Iterable[Trace], key: Callable[[Event], K | None]) -> dict[K, float]:
    """Return, for each key, the sum of the least times of its events, by their names, in ``traces``
    of the same work: no run needs to be undisturbed from beginning to end."""

    def by_name(event: Event) -> tuple[K, str, str] | None:
        label = key(event)
        return None if label is None else (label, event.name, event.kind)

    sums: dict[K, float] = {}
    for (label, _, _), seconds in least_seconds(traces, by_name).items():
        sums[label] = sums.get(label, 0.0) + seconds
    return sums


def least_seconds(traces: Iterable[Trace], key: Callable[[Event], K | None]) -> dict[K, float]:
    """Return, for each key, the least of its total seconds in ``traces`` of the same work."""
    least: dict[K, float] = {}
    for trace in traces:
        for label, seconds in seconds_by(trace.events, key).items():
            least[label] = min(seconds, least.get(label, math.inf))
    return least
