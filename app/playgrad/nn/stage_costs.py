"""What a training step costs and what its devices share, measured: the simulator's numbers.

Everything is measured at the size at which it will run. A micro-batch takes more than its share of
what the whole batch takes, and a processor is slower where another computes beside it: they share
memory, caches and Python's lock. So a few micro-batches run alone, and then the same work on
several devices at the same time which exchange nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from statistics import fmean, median
from typing import TYPE_CHECKING

import numpy as np

from playgrad import ops
from playgrad.graph.graph import Graph
from playgrad.nn.calls import LayerCall
from playgrad.nn.layer_costs import outputs_of, size_of
from playgrad.nn.measured_steps import (
    PASSES,
    by_stage,
    measure_in_turns,
    measured_program,
    tasks_named,
)
from playgrad.nn.resident import Resident
from playgrad.parallel import collectives
from playgrad.parallel.many import StageCost
from playgrad.parallel.simulator import Machine
from playgrad.parallel.strategies import named_devices
from playgrad.runtime.blas import shared_among
from playgrad.runtime.session import Session
from playgrad.runtime.timeline import TRANSFERS
from playgrad.runtime.trace import Event, Trace

if TYPE_CHECKING:
    from playgrad.nn.model import Model

REPEATS = 7
"""Measured runs of each program, in turns, after one to warm up. The least of their times is what
work takes; the median, how much longer it takes as a rule where the machine has other work, too."""
_FEW, _MANY = 2, 4
"""Micro-batches that are measured. All but the first add to the sums of gradients."""
_SUMMED = 1 << 18
"""Elements of a tensor by which adding up is measured: a bucket of gradients."""
_INPUT = ("inputs", "segment")
_WORK = (*PASSES, "update")


def measure_step(
    model: Model,
    data: Resident,
    rows: int,
    stages: Sequence[int],
    micro_batches: int = 1,
    together: int = 1,
) -> tuple[list[StageCost], Machine]:
    """What each stage costs for a micro-batch on a device as the model's, and what the machine
    makes of several.

    Args:
        rows: samples of a micro-batch.
        stages: the stage of each step of the model's structure.
        micro_batches: of a step; of many, a few are measured.
        together: so many devices that compute at the same time will share this machine; 1 if each
            has one of its own.
    """
    few = min(max(micro_batches, _FEW), _MANY)
    kind = model.session.device.partition(":")[0]
    with ExitStack() as stack:
        # Its share of the cores is what each has alone, too.
        stack.enter_context(shared_among(together))
        programs = [
            measured_program(stack, model, data, rows, stages, few, named_devices(lanes, kind))
            for lanes in range(1, min(together, os.cpu_count() or 1) + 1)
        ]
        traces = measure_in_turns(programs, REPEATS)
        adding = _adding(named_devices(max(2, together), kind))
    machine = Machine() if together == 1 else machine_of(traces)
    return _costs(model, traces[0], rows, stages, min(micro_batches, few), adding), machine


def machine_of(traces: Sequence[Sequence[Trace]]) -> Machine:
    """What traces of the same work on 1, 2, ... devices at the same time say of their machine.

    Work is what `tasks_named` finds of passes and updates.
    """
    seconds = []
    overhead = 0.0
    for own in traces:
        work = [tasks_named(trace, _WORK) for trace in own]
        rows = [_by_device(events) for events in work]
        overhead = fmean(map(min, zip(*map(_gaps, rows), strict=True)))
        # What a device waits for a core, or for Python's lock, is in it: it does not compute then.
        between = overhead * (len(rows[0][0]) - 1)
        seconds.append([_span(events) - between for events in work])
    best = min(seconds[0])
    return Machine(tuple(min(1.0, best / median(own)) for own in seconds), overhead)


def _gaps(rows: Sequence[Sequence[Event]]) -> list[float]:
    """Seconds between what each device did."""
    return [later.start - earlier.end for row in rows for earlier, later in pairwise(row)]


def _by_device(events: Sequence[Event]) -> list[list[Event]]:
    """What each device did, one after the other."""
    rows: dict[str, list[Event]] = {}
    for event in sorted(events, key=lambda event: (event.device, event.start)):
        rows.setdefault(event.device, []).append(event)
    return list(rows.values())


def _span(events: Sequence[Event]) -> float:
    """Seconds from the first to the last."""
    return max(event.end for event in events) - min(event.start for event in events)


def _costs(
    model: Model,
    traces: Sequence[Trace],
    rows: int,
    stages: Sequence[int],
    micro_batches: int,
    adding: float,
) -> list[StageCost]:
    count = 1 + max(stages)
    forward, backward = (
        [min(own) / micro_batches for own in zip(*seconds, strict=True)]
        for seconds in (
            [by_stage(trace, count, direction, micro_batches) for trace in traces]
            for direction in ("forward", "backward")
        )
    )
    update = min(_seconds(tasks_named(trace, ["update"])) for trace in traces)
    found = min(_seconds(tasks_named(trace, _INPUT)) for trace in traces)
    parameters, activations = _parameters(model, stages), _activations(model, stages, rows)
    whole = max(sum(parameters), 1)
    return [
        StageCost(f, b, update * p / whole, p, a, 0.0 if stage else found, adding * p)
        for stage, (f, b, p, a) in enumerate(
            zip(forward, backward, parameters, activations, strict=True)
        )
    ]


def _seconds(events: Sequence[Event]) -> float:
    return sum(event.end - event.start for event in events)


def _parameters(model: Model, stages: Sequence[int]) -> list[int]:
    """Bytes of the gradients of each stage."""
    parameters = [0] * (1 + max(stages))
    layers = {
        step.layer: stage
        for step, stage in zip(model.structure.steps, stages, strict=True)
        if isinstance(step, LayerCall)
    }
    for layer, stage in layers.items():
        parameters[stage] += sum(4 * v.spec.size for v in layer.variables.values() if v.trainable)
    return parameters


def _activations(model: Model, stages: Sequence[int], rows: int) -> list[int]:
    """Bytes that each stage hands to the next one for ``rows`` samples."""
    steps = model.structure.steps
    number = dict(zip(steps, stages, strict=True))
    crossing = [0] * (1 + max(stages))
    for step in steps:
        for tensor in outputs_of(step):
            later = [number[user] for user in steps if tensor in user.inputs]
            for stage in range(number[step], max(later, default=0)):
                crossing[stage] += 4 * rows * size_of(tensor)
    return crossing


def _adding(devices: Sequence[str]) -> float:
    """Seconds of adding up a byte that ``devices``, all at the same time, receive in a ring."""
    graph = Graph()
    with graph.as_default():
        start = ops.placeholder("float32", [_SUMMED])
        own = []
        for device in devices:
            with graph.device(device), graph.task("prepare"):
                own.append(start + 1.0)
        with graph.task("sum"):
            sums = collectives.get("ring").all_reduce(own, devices)
    received, seconds = 1, []
    with Session(graph, devices[0]) as session:
        for _ in range(1 + REPEATS):
            trace = Trace()
            session.run([t.node for t in sums], {start: np.ones(_SUMMED, np.float32)}, trace=trace)
            events = [event for event in trace.events if event.name.split()[1].startswith("sum")]
            received = sum(event.bytes for event in events if event.kind == "receive")
            seconds.append(_seconds([event for event in events if event.kind not in TRANSFERS]))
    return min(seconds) / received
