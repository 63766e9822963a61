"""Copies of a training step that are run to measure their parts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.partition import take_apart
from playgrad.parallel.rewrite import rewrite
from playgrad.parallel.schedules import gpipe, simulate
from playgrad.runtime.measuring import MeasuredNode, least_sums
from playgrad.runtime.timeline import TRANSFERS
from playgrad.runtime.trace import Event, Trace
from playgrad.training.device_data import BatchStream, DeviceData
from playgrad.training.recipe import Recipe
from playgrad.training.step_graphs import build_train_step

PASSES = ("forward", "backward")


def measured_step(
    stack: ExitStack,
    recipe: Recipe,
    data: DeviceData,
    rows: int,
    stages: Sequence[int],
    micro_batches: int,
    devices: Sequence[str],
    groups: Sequence[Sequence[str]] = (),
) -> MeasuredNode:
    """Return a training step of a copy of the network, run once to warm up.

    Each of ``devices`` runs all stages. They exchange nothing.

    Args:
        stack: closes the copy's session.
        rows: samples of a micro-batch.
        stages: the stage of each item of the network's structure.
        groups: the devices of each stage, if layers name them. They take the place of each of
            ``devices``, and never compute at the same time.
    """
    copy = recipe.clone()
    session = stack.enter_context(copy.network.session)
    batch = rows * micro_batches * len(devices)
    xs, ys = (
        [_resized(recipe.network.session.value(variable), batch) for variable in variables]
        for variables in (data.xs, data.ys)
    )
    stream = BatchStream(copy.data.upload("measured", xs, ys), batch, shuffle=False)
    step = build_train_step(copy, stream, stages)
    count = 1 + max(stages)
    schedule = tuple(item.entry for item in simulate(gpipe(count, micro_batches)))
    width = len(groups[0]) if groups else 1
    placed = tuple(device for group in groups for device in group)
    parts = take_apart(step.run, placed, width)
    distribution = Distribution(
        tuple(placed or (device,) * count for device in devices),
        schedule,
        collectives.get("ring"),
        apart=len(devices) > 1,
        width=width,
    )
    distributed = rewrite(parts, batch, distribution, "measured")
    session.set_placement(distributed.placement)
    session.executor.threads = 1  # operations must not overlap, as their times are added up
    session.run(distributed.run)
    return MeasuredNode(session, distributed.run)


def seconds_by_stage(
    traces: Sequence[Trace],
    count: int,
    direction: str = "",
    micro_batches: int | None = None,
    groups: Sequence[Sequence[str]] = (),
) -> list[float]:
    """Return the least seconds of the passes of each of ``count`` stages, the sum of the least time
    of each pass.

    Args:
        direction: "forward" or "backward" for these passes only.
        micro_batches: only passes over the first ``micro_batches``.
        groups: the devices of each stage, if they differ.
    """
    stage_by_device = {device: stage for stage, group in enumerate(groups) for device in group}

    def stage_of(event: Event) -> int | None:
        if task_of(event) not in PASSES or event.kind in TRANSFERS:
            return None
        # The number of a single stage is left out: "cpu:0 forward 0".
        task, _, stage = event.name.partition(", part ")[0].partition(" of stage ")
        _, kind, number = task.split()
        if direction not in kind or (micro_batches is not None and int(number) >= micro_batches):
            return None
        return stage_by_device.get(event.device, int(stage or 0))

    least = least_sums(traces, stage_of)
    return [least.get(stage, 0.0) for stage in range(count)]


def task_of(event: Event) -> str:
    """Return the first word of the task: "forward", "backward", "update" and so on."""
    return event.name.replace(",", "").split()[1]


def _resized(values: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Return the first ``count`` samples, repeated from the start if there are too few."""
    return np.resize(values, (count, *values.shape[1:]))
