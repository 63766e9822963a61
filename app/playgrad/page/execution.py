"""The page's timeline of a real training step: one bar for each operation or kernel."""

from __future__ import annotations

import json
from typing import TypedDict

from playgrad.errors import GraphError
from playgrad.page.session_runs import SessionRun
from playgrad.page.shown_model import LiveModel
from playgrad.page.trace_events import TraceEvent, event_views
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Trace

MOST_EVENTS = 4000
"""The most events that the page draws; the trace for Chrome has all."""


class ExecutionEvent(TraceEvent):
    """`nodes`: computed by it; `kernel`: the family of a GPU's kernel, "" on processors."""

    nodes: list[str]
    kernel: str


class ExecutionForm(TypedDict):
    """Times in milliseconds; `clocks`: how each device was timed, as in runtime/trace.py;
    `round_trips`: the times of an empty call, by device; `chrome`: the trace for other programs, as
    JSON."""

    duration: float
    events: list[ExecutionEvent]
    left_out: int
    clocks: dict[str, str]
    round_trips: dict[str, float]
    chrome: str


def measured_step(model: LiveModel, apart: bool) -> ExecutionForm:
    """Run a training step of ``model``, undo it, and return when each operation ran.

    Times are in milliseconds since the first event began.

    Raises:
        GraphError: the last training had no single step that all devices made together.
    """
    if model.parameter_server is not None:
        raise GraphError(
            "the replicas of this model train at their own pace, so there is no single step to "
            "measure.",
            hint="The Lab's timeline shows their steps.",
        )
    traced = model.session.trace(model.training_targets, undo=True, apart=apart)
    return described(traced.trace)


def measured_run(session: Session, run: SessionRun, scope: str, apart: bool) -> ExecutionForm:
    """Repeat a run of a session, undo it, and return when each operation ran."""
    traced = session.trace(run.fetches, run.feeds, undo=True, apart=apart)
    return described(traced.trace, scope)


def described(trace: Trace, scope: str = "") -> ExecutionForm:
    """Return a trace as plain data for the page.

    Args:
        scope: the scope of the graph in the drawing of several.
    """
    events = sorted(trace.events, key=lambda event: event.start)[:MOST_EVENTS]
    return {
        "duration": 1000 * trace.seconds,
        "events": [
            {**view, "nodes": [scope + name for name in event.nodes], "kernel": event.kernel}
            for view, event in zip(event_views(events), events, strict=True)
        ],
        "left_out": len(trace.events) - len(events),
        "clocks": dict(trace.clocks),
        "round_trips": {device: 1000 * trip for device, trip in trace.round_trips.items()},
        "chrome": json.dumps(trace.as_chrome()),
    }
