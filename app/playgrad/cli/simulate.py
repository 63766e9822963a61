"""``playgrad simulate``: what a program's training step would take on devices that are not here."""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

from playgrad.cli.bar import ProgressBar
from playgrad.cli.train import TrainHooks, run_program
from playgrad.errors import GraphError
from playgrad.parallel.schedules import make_schedule
from playgrad.parallel.simulator import Interconnect, simulate_jobs
from playgrad.parallel.stages import ESTIMATED, deal_out
from playgrad.parallel.step_jobs import data_parallel_jobs, pipeline_jobs
from playgrad.runtime.hooks import set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.timeline import Timeline, timeline
from playgrad.training.device_data import DeviceData
from playgrad.training.layer_costs import chain_of
from playgrad.training.stage_costs import measure_step

_STEPS = 2


def simulate(program: Path, options: argparse.Namespace) -> int:
    """Train ``program`` for a moment, measure a step, and say what it would take elsewhere."""
    hooks = TrainHooks(ProgressBar(sys.stderr))
    before = set_hooks(hooks)
    device = None if options.device == "auto" else options.device
    try:
        own = Options(device=device, steps=_STEPS, batch_size=options.batch_size, verbose=0)
        with options_set(own):
            run_program(program, 0)
        hooks.bar.close()
        if hooks.model is None:
            raise GraphError(f"{program.name} trained no model.", hint="It must call fit().")
        simulated = cache(lambda count: _simulated(hooks, count, options))
        rows = [_row(simulated(count), count, simulated(1).seconds) for count in options.devices]
    finally:
        hooks.bar.close()
        set_hooks(before)
        if hooks.model is not None:
            hooks.model.close()
    if options.json:
        print(json.dumps(rows))
        return 0
    print(f"{program.stem}, {options.parallel}: simulated from steps measured here")
    print("devices   ms/step    idle  moving  of the ideal")
    for row in rows:
        print(
            f"{row['devices']:7}  {1000 * row['seconds']:8.3f}  {row['bubble']:5.0%}  "
            f"{row['communication']:5.0%}  {row['efficiency']:11.0%}"
        )
    return 0


def _simulated(hooks: TrainHooks, devices: int, options: argparse.Namespace) -> Timeline:
    """A step of the model that was trained, on so many devices, by what is measured here."""
    model, batch = hooks.model, hooks.facts["batch_size"]
    data = next(item for item in model.cache.values() if isinstance(item, DeviceData))
    pipeline = options.parallel == "pipeline"
    parts = options.micro_batches or 4 if pipeline else devices
    if parts > batch:
        raise GraphError(
            f"a batch of {batch} cannot be divided into {parts} parts.",
            hint="Use a larger --batch-size.",
        )
    stages = deal_out(chain_of(model, data, batch), ESTIMATED, devices if pipeline else 1)
    micro_batches = parts if pipeline else 1
    together = devices if options.here else 1
    costs, machine = measure_step(model, data, batch // parts, stages, micro_batches, together)
    if pipeline:
        jobs = pipeline_jobs(
            costs, make_schedule(options.schedule or "1f1b", devices, micro_batches)
        )
    else:
        jobs = data_parallel_jobs(costs[0], devices, options.collective or "ring")
    # What devices of one process give each other they need not move.
    far = Interconnect(options.latency * 1e-6, options.bandwidth * 1e9)
    return timeline(simulate_jobs(jobs, Interconnect() if options.here else far, machine))


def _row(times: Timeline, devices: int, alone: float) -> dict[str, Any]:
    """One number of devices. The ideal is what a step takes on one, divided by it.

    Args:
        alone: seconds of a step on one device.
    """
    return {
        "devices": devices,
        "seconds": times.seconds,
        "bubble": times.bubble,
        "communication": times.communication,
        "bytes_moved": times.bytes_moved,
        "efficiency": alone / devices / times.seconds,
    }
