"""``playgrad simulate``: what a program's training step would take on devices that are not here."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from playgrad.cli.bar import ProgressBar
from playgrad.cli.train import TrainHooks, run_program
from playgrad.errors import GraphError
from playgrad.nn.layer_costs import chain_of, stage_costs
from playgrad.nn.resident import Resident
from playgrad.parallel.many import StageCost, data_parallel_jobs, pipeline_jobs
from playgrad.parallel.schedules import make_schedule
from playgrad.parallel.simulator import Network, simulate_jobs
from playgrad.parallel.stages import ESTIMATED, deal_out
from playgrad.runtime.hooks import set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.timeline import timeline

_STEPS = 2


def simulate(program: Path, options: argparse.Namespace) -> int:
    """Train ``program`` for a moment, measure a step, and say what it would take elsewhere."""
    hooks = TrainHooks(ProgressBar(sys.stderr))
    before = set_hooks(hooks)
    device = None if options.device == "auto" else options.device
    try:
        with options_set(Options(device=device, steps=_STEPS, verbose=0)):
            run_program(program, 0)
        hooks.bar.close()
        if hooks.model is None:
            raise GraphError(f"{program.name} trained no model.", hint="It must call fit().")
        measure = cache(partial(_costs, hooks))
        rows = [_row(measure, count, options) for count in options.devices]
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


def _costs(hooks: TrainHooks, stages: int) -> list[StageCost]:
    """Of the model that was trained, cut into so many stages."""
    model = hooks.model
    data = next(item for item in model.cache.values() if isinstance(item, Resident))
    batch = hooks.facts["batch_size"]
    return stage_costs(
        model, data, batch, deal_out(chain_of(model, data, batch), ESTIMATED, stages)
    )


def _row(
    measure: Callable[[int], list[StageCost]], devices: int, options: argparse.Namespace
) -> dict[str, Any]:
    """One number of devices. The ideal is what is measured here, divided by it."""
    network = Network(options.latency * 1e-6, options.bandwidth * 1e9)
    costs = measure(devices if options.parallel == "pipeline" else 1)
    if options.parallel == "pipeline":
        schedule = options.schedule or "1f1b"
        jobs = pipeline_jobs(costs, make_schedule(schedule, devices, options.micro_batches or 4))
    else:
        jobs = data_parallel_jobs(costs[0], devices, options.collective or "ring")
    times = timeline(simulate_jobs(jobs, network))
    whole = sum(cost.forward + cost.backward + cost.update for cost in costs)
    return {
        "devices": devices,
        "seconds": times.seconds,
        "bubble": times.bubble,
        "communication": times.communication,
        "bytes_moved": times.bytes_moved,
        "efficiency": whole / devices / times.seconds,
    }
