"""Measured costs of a training step and of the machine its devices share, for the simulator.

Everything is measured at the size at which it will run. A micro-batch takes more than its share of
the whole batch's time, and a processor is slower while another one computes: they share memory,
caches and Python's lock. So a few micro-batches run alone, and then the same work runs on several
devices at once, which exchange nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from statistics import median

from playgrad.errors import GraphError
from playgrad.networks.structure import outputs_of
from playgrad.nn.layer_calls import LayerCall
from playgrad.parallel.simulator import Machine
from playgrad.parallel.step_jobs import StageCost
from playgrad.runtime.blas import limited_to, shared_among
from playgrad.runtime.measuring import TimedRun, least_sums, run_in_turns
from playgrad.runtime.timeline import TRANSFERS
from playgrad.runtime.trace import Event, Trace
from playgrad.training.device_data import DeviceData
from playgrad.training.divided_layers import divided_layers
from playgrad.training.layer_costs import size_of
from playgrad.training.measured_steps import PASSES, measured_step, seconds_by_stage, task_of
from playgrad.training.measured_sums import measured_sums
from playgrad.training.recipe import Recipe
from playgrad.training.strategies.base import device_kind, named_devices

REPEATS = 7
"""The fewest measured runs of each step, interleaved, after one to warm up. The least times of its
parts are the cost of the work; the median shows how much longer it usually takes under other load
on the machine."""
SECONDS = 0.3
"""Seconds in which there are more runs."""
_FEW, _MANY = 2, 4
"""The least and the most micro-batches measured. All but the first add to sums of gradients."""
_INPUT = ("inputs", "segment")
_WORK = (*PASSES, "update")


def measure_step(
    recipe: Recipe,
    data: DeviceData,
    rows: int,
    stages: Sequence[int],
    micro_batches: int = 1,
    together: int = 1,
    groups: Sequence[Sequence[str]] = (),
    threads: int | None = None,
) -> tuple[list[StageCost], Machine]:
    """Return the cost of each stage for one micro-batch, and the machine that the devices share.

    Of devices that each have a machine to themselves, `Machine.overhead` and `between` are those of
    one of them.

    Args:
        rows: samples of a micro-batch.
        stages: the stage of each item of the network's structure.
        micro_batches: the number of micro-batches of a step; at most a few of them are measured.
        together: how many devices compute at the same time on this machine; 1 if each has a machine
            to itself.
        groups: the devices of each stage, if layers name them; one after the other is measured.
        threads: how many BLAS threads each device gets; None for its share of the cores here.

    Raises:
        GraphError: devices that layers name should compute at the same time.
    """
    if groups and together > 1:
        raise GraphError(
            "devices that layers name are measured one after the other, not together on this "
            "machine.",
            hint="Leave --here out.",
        )
    few = min(max(micro_batches, _FEW), _MANY)
    kind = device_kind(recipe.network)
    with ExitStack() as stack:
        # A device measured alone also gets only its share of the cores.
        share = shared_among(together) if threads is None else limited_to(threads)
        stack.enter_context(share)
        work = stack, recipe, data, rows, stages, few
        steps = [
            measured_step(*work, named_devices(count, kind), groups)
            for count in range(1, min(together, os.cpu_count() or 1) + 1)
        ]
        first = groups[0][0] if groups else named_devices(1, kind)[0]
        steps.append(measured_sums(stack, recipe, first))
        rounds = run_in_turns(steps, REPEATS, least=SECONDS)
    alone, *_, sums = traces = [[run.trace for run in runs] for runs in rounds]
    machine = machine_of(traces[:-1]) if together > 1 else _lone_machine(rounds[0])
    adding = least_sums(sums, lambda event: event.kind not in TRANSFERS or None).get(True, 0.0)
    return _costs(recipe, alone, rows, stages, min(micro_batches, few), adding, groups), machine


def machine_of(traces: Sequence[Sequence[Trace]]) -> Machine:
    """Return the machine on which 1, 2, ... devices did the same work, by traces for each count.

    Work is passes and updates.
    """
    seconds = []
    overhead = 0.0
    for runs in traces:
        work = [[event for event in run.events if task_of(event) in _WORK] for run in runs]
        gaps = [median(same) for same in zip(*map(_gaps, work), strict=True)]
        overhead = median(gaps)
        # Gaps include waiting for a core or for Python's lock, when a device does not compute.
        devices = len({event.device for event in work[0]})
        seconds.append([_span(events) - sum(gaps) / devices for events in work])
    best = min(seconds[0])
    return Machine(tuple(min(1.0, best / median(times)) for times in seconds), overhead)


def _lone_machine(runs: Sequence[TimedRun]) -> Machine:
    """Return the machine of a device that has it to itself: what its tasks and steps take beside
    their work."""
    gaps = [min(same) for same in zip(*(_gaps(run.trace.events) for run in runs), strict=True)]
    between = min(run.seconds - _span(run.trace.events) for run in runs)
    return Machine(overhead=median(gaps) if gaps else 0.0, between=max(0.0, between))


def _gaps(events: Sequence[Event]) -> list[float]:
    """Return the seconds between consecutive events of the same device."""
    ordered = sorted(events, key=lambda event: (event.device, event.start))
    return [b.start - a.end for a, b in pairwise(ordered) if a.device == b.device]


def _span(events: Sequence[Event]) -> float:
    """Return the seconds from the first start to the last end."""
    return max(event.end for event in events) - min(event.start for event in events)


def _least(traces: Sequence[Trace], tasks: Sequence[str]) -> float:
    """Return the seconds of computing in ``tasks``, the sum of the least of each."""

    def counts(event: Event) -> bool | None:
        return (task_of(event) in tasks and event.kind not in TRANSFERS) or None

    return least_sums(traces, counts).get(True, 0.0)


def _costs(
    recipe: Recipe,
    traces: Sequence[Trace],
    rows: int,
    stages: Sequence[int],
    micro_batches: int,
    adding: float,
    groups: Sequence[Sequence[str]],
) -> list[StageCost]:
    count = 1 + max(stages)
    forward, backward = (
        [
            seconds / micro_batches
            for seconds in seconds_by_stage(traces, count, each, micro_batches, groups)
        ]
        for each in PASSES
    )
    update, gather = _least(traces, ["update"]), _least(traces, _INPUT)
    parameters, activations = _parameters(recipe, stages), _activations(recipe, stages, rows)
    total = max(sum(parameters), 1)
    return [
        StageCost(
            f,
            b,
            update * p / total,
            p,
            a,
            0.0 if stage else gather,
            adding * p / total,
            d.divided,
            d.exchanges,
            d.exchanged,
        )
        for stage, (f, b, p, a, d) in enumerate(
            zip(
                forward,
                backward,
                parameters,
                activations,
                divided_layers(recipe, stages, rows),
                strict=True,
            )
        )
    ]


def _parameters(recipe: Recipe, stages: Sequence[int]) -> list[int]:
    """Return the bytes of the gradients of each stage."""
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
    """Return the bytes that each stage passes on to the next one for ``rows`` samples."""
    items = recipe.network.structure.items
    stage_of = dict(zip(items, stages, strict=True))
    crossing = [0] * (1 + max(stages))
    for item in items:
        for tensor in outputs_of(item):
            users = [stage_of[user] for user in items if tensor in set(user.inputs)]
            for stage in range(stage_of[item], max(users, default=0)):
                crossing[stage] += 4 * rows * size_of(tensor)
    return crossing
