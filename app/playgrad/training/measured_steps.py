"""Copies of a model's training step, run to see what its parts take."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from playgrad.graph.tensor import Node
from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import take_apart
from playgrad.parallel.rewrite import rewrite
from playgrad.parallel.schedules import gpipe, simulate
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Event, Trace
from playgrad.training.device_data import BatchStream, DeviceData
from playgrad.training.recipe import Recipe
from playgrad.training.step_graphs import build_train_step

PASSES = ("forward", "backward")
Program = tuple[Session, Node]
"""What runs, and where."""


def measured_program(
    stack: ExitStack,
    recipe: Recipe,
    data: DeviceData,
    rows: int,
    stages: Sequence[int],
    micro_batches: int,
    devices: Sequence[str],
    apart: bool = True,
) -> Program:
    """A training step whose stages are all on one device; on several, each does the same. A device
    that is named twice does it twice.

    It is a copy of the model that is trained; the model itself stays as it is. The first run, the
    slowest, is over.

    Args:
        stack: what ends the copy's session.
        rows: samples of a micro-batch.
        stages: the stage of each item of the network's structure.
        apart: each by itself; otherwise they add up their gradients in a ring.
    """
    twin = recipe.clone()
    session = stack.enter_context(twin.network.session)
    batch = rows * micro_batches * len(devices)
    xs, ys = (
        [_first(recipe.network.session.value(variable), batch) for variable in variables]
        for variables in (data.xs, data.ys)
    )
    stream = BatchStream(twin.data.upload("measured", xs, ys), batch, shuffle=False)
    step = build_train_step(twin, stream, stages)
    count = 1 + max(stages)
    schedule = tuple(item.entry for item in simulate(gpipe(count, micro_batches)))
    places = tuple((device,) * count for device in devices)
    distribution = Distribution(
        places, schedule, collectives.get("ring"), apart=apart and len(devices) > 1
    )
    rewritten = rewrite(take_apart(step.run), batch, distribution, "measured")
    session.set_placement(rewritten.placement)
    session.executor.threads = 1  # one operation after the other: their times are added up
    session.run(rewritten.run)
    return session, rewritten.run


def measure_in_turns(programs: Sequence[Program], repeats: int) -> list[list[Trace]]:
    """Traces of so many runs of each of ``programs``: one of each, then the next of each."""
    traces: list[list[Trace]] = [[] for _ in programs]
    for _ in range(repeats):
        for (session, run), own in zip(programs, traces, strict=True):
            own.append(Trace())
            session.run(run, trace=own[-1])
    return traces


def by_stage(
    trace: Trace, count: int, direction: str = "", micro_batches: int | None = None
) -> list[float]:
    """Seconds of the passes of each of ``count`` stages.

    Args:
        direction: only those "forward" or "backward".
        micro_batches: only those of so many, the first ones.
    """
    seconds = [0.0] * count
    for event in tasks_named(trace, PASSES):
        # Of a single stage the number is not in the name: "cpu:0 forward 0".
        task, _, stage = event.name.partition(", part ")[0].partition(" of stage ")
        _, kind, number = task.split()
        if direction in kind and (micro_batches is None or int(number) < micro_batches):
            seconds[int(stage or 0)] += event.end - event.start
    return seconds


def tasks_named(trace: Trace, names: Sequence[str]) -> list[Event]:
    """What was done in tasks of these names: "forward", "backward", "update" and so on."""
    return [event for event in trace.events if event.name.replace(",", "").split()[1] in names]


def _first(values: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """The first ``count`` samples; if there are too few, they begin again."""
    return np.resize(values, (count, *values.shape[1:]))
