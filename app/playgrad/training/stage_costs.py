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
from statistics import median

from playgrad.models.structure import outputs_of
from playgrad.nn.layer_calls import LayerCall
from playgrad.parallel.simulator import Machine
from playgrad.parallel.step_jobs import StageCost
from playgrad.runtime.blas import shared_among
from playgrad.runtime.timeline import TRANSFERS
from playgrad.runtime.trace import Event, Trace
from playgrad.training.device_data import DeviceData
from playgrad.training.layer_costs import size_of
from playgrad.training.measured_steps import (
    PASSES,
    by_stage,
    measure_in_turns,
    measured_program,
    tasks_named,
)
from playgrad.training.recipe import Recipe
from playgrad.training.strategies.base import named_devices

REPEATS = 7
"""Measured runs of each program, in turns, after one to warm up. The least of their times is what
work takes; the median, how much longer it takes as a rule where the machine has other work, too."""
_FEW, _MANY = 2, 4
"""Micro-batches that are measured. All but the first add to the sums of gradients."""
_INPUT = ("inputs", "segment")
_WORK = (*PASSES, "update")


def measure_step(
    recipe: Recipe,
    data: DeviceData,
    rows: int,
    stages: Sequence[int],
    micro_batches: int = 1,
    together: int = 1,
) -> tuple[list[StageCost], Machine]:
    """What each stage costs for a micro-batch on a device as the model's, and what the machine
    makes of several.

    Args:
        rows: samples of a micro-batch.
        stages: the stage of each item of the network's structure.
        micro_batches: of a step; of many, a few are measured.
        together: so many devices that compute at the same time will share this machine; 1 if each
            has one of its own.
    """
    few = min(max(micro_batches, _FEW), _MANY)
    kind = recipe.network.session.device.partition(":")[0]
    with ExitStack() as stack:
        # Its share of the cores is what each has alone, too.
        stack.enter_context(shared_among(together))
        own = stack, recipe, data, rows, stages, few
        programs = [
            measured_program(*own, named_devices(lanes, kind))
            for lanes in range(1, min(together, os.cpu_count() or 1) + 1)
        ]
        twice = measured_program(*own, named_devices(1, kind) * 2, apart=False)
        *traces, summed = measure_in_turns([*programs, twice], REPEATS)
    adding = _adding(traces[0], summed)
    machine = Machine() if together == 1 else machine_of(traces)
    return _costs(recipe, traces[0], rows, stages, min(micro_batches, few), adding), machine


def machine_of(traces: Sequence[Sequence[Trace]]) -> Machine:
    """What traces of the same work on 1, 2, ... devices at the same time say of their machine.

    Work is what `tasks_named` finds of passes and updates.
    """
    seconds = []
    overhead = 0.0
    for own in traces:
        work = [tasks_named(trace, _WORK) for trace in own]
        rows = [_by_device(events) for events in work]
        gaps = [median(same) for same in zip(*map(_gaps, rows), strict=True)]
        overhead = median(gaps)
        # What a device waits for a core, or for Python's lock, is in it: it does not compute then.
        between = sum(gaps) / len(rows[0])
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
    recipe: Recipe,
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
    update, found = _least(traces, ["update"]), _least(traces, _INPUT)
    parameters, activations = _parameters(recipe, stages), _activations(recipe, stages, rows)
    whole = max(sum(parameters), 1)
    return [
        StageCost(f, b, update * p / whole, p, a, 0.0 if stage else found, adding * p / whole)
        for stage, (f, b, p, a) in enumerate(
            zip(forward, backward, parameters, activations, strict=True)
        )
    ]


def _least(traces: Sequence[Trace], tasks: Sequence[str]) -> float:
    """Seconds of the work in tasks of these names, at best."""
    return min(
        sum(e.end - e.start for e in tasks_named(trace, tasks) if e.kind not in TRANSFERS)
        for trace in traces
    )


def _parameters(recipe: Recipe, stages: Sequence[int]) -> list[int]:
    """Bytes of the gradients of each stage."""
    parameters = [0] * (1 + max(stages))
    layers = {
        item.layer: stage
        for item, stage in zip(recipe.network.structure.items, stages, strict=True)
        if isinstance(item, LayerCall)
    }
    for layer, stage in layers.items():
        parameters[stage] += sum(4 * v.spec.size for v in layer.variables.values() if v.trainable)
    return parameters


def _activations(recipe: Recipe, stages: Sequence[int], rows: int) -> list[int]:
    """Bytes that each stage hands to the next one for ``rows`` samples."""
    items = recipe.network.structure.items
    number = dict(zip(items, stages, strict=True))
    crossing = [0] * (1 + max(stages))
    for item in items:
        for tensor in outputs_of(item):
            later = [number[user] for user in items if tensor in user.inputs]
            for stage in range(number[item], max(later, default=0)):
                crossing[stage] += 4 * rows * size_of(tensor)
    return crossing


def _adding(alone: Sequence[Trace], twice: Sequence[Trace]) -> float:
    """Seconds in which one of two adds up their gradients: by how much longer updates take where a
    device does what both do."""
    return max(0.0, _least(twice, ["update"]) / 2 - _least(alone, ["update"]))
