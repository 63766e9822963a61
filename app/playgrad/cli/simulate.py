"""``playgrad simulate``: predicts how long a training step takes on other numbers of devices."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from playgrad.cli.bar import ProgressBar
from playgrad.cli.strategy_options import passed_options
from playgrad.cli.train import TrainHooks
from playgrad.cluster.saved_links import SavedLinks
from playgrad.errors import GraphError
from playgrad.models.model import Model
from playgrad.parallel.collectives.choice import choose
from playgrad.parallel.simulator import Interconnect, Machine, simulate_jobs
from playgrad.parallel.stages import ESTIMATED, deal_out
from playgrad.parallel.step_jobs import BUCKET_BYTES
from playgrad.runtime.default_device import AUTO
from playgrad.runtime.hooks import set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.program_file import run_program
from playgrad.runtime.timeline import Timeline, timeline
from playgrad.training.layer_costs import chain_of
from playgrad.training.stage_costs import measure_step
from playgrad.training.strategies.base import device_kind
from playgrad.training.strategies.registry import strategy_named, users_of

_STEPS = 2
_FEW_CORES = (
    "Members that share a core wait for it in an order that is not simulated: with more members "
    "than cores, steps were measured to take 0.7 to 1.9 times as long as simulated."
)


def simulate(program: Path, options: argparse.Namespace) -> int:
    """Train ``program`` for two steps, measure a step, and print the simulated times."""
    hooks = TrainHooks(ProgressBar(sys.stderr))
    before = set_hooks(hooks)
    device = None if options.device == AUTO else options.device
    try:
        overrides = Options(device=device, steps=_STEPS, batch_size=options.batch_size, verbose=0)
        with options_set(overrides):
            run_program(program, 0)
        hooks.bar.close()
        if hooks.model is None:
            raise GraphError(f"{program.name} did not train a model.", hint="It must call fit().")
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
    if options.links is not None and any(map(options.links.has_few_cores, options.devices)):
        print(_FEW_CORES)
    return 0


def _simulated(hooks: TrainHooks, devices: int, options: argparse.Namespace) -> Timeline:
    """Return the timeline of a simulated step of the trained model, on ``devices`` devices."""
    recipe, batch = hooks.model.recipe, hooks.facts["batch_size"]
    links: SavedLinks | None = options.links
    passed = passed_options(options)
    if links is not None and "collective" not in passed and devices > 1:
        passed |= _chosen(hooks.model, links, devices, options.parallel)
    if devices == 1:  # what the others are compared with
        for name in ("replicas", "devices_per_stage"):
            passed.pop(name, None)
    work = strategy_named(options.parallel, devices, **passed).simulation()
    if work.parts > batch:
        raise GraphError(
            f"a batch of {batch} cannot be divided into {work.parts} parts.",
            hint="Use a larger --batch-size.",
        )
    data = recipe.data["train"]
    chain = chain_of(recipe, data, batch)
    groups = work.groups(device_kind(recipe.network))
    if devices == 1 and any(chain.devices):  # it does the work of all
        groups = [sorted({device for placed in chain.devices for device in placed})]
    stages = deal_out(chain, ESTIMATED, work.stages, groups)
    together = devices if options.here else 1
    rows = batch // work.parts
    measured = recipe, data, rows, stages, work.micro_batches, together
    threads = None if links is None else links.threads
    costs, machine = measure_step(*measured, groups=groups, threads=threads)
    # Devices of one process need not move what they pass to each other.
    apart = Interconnect(options.latency * 1e-6, options.bandwidth * 1e9)
    interconnect, extra = apart, 0.0
    if options.here:
        interconnect = Interconnect()
    elif links is None:  # of an ideal machine, for which a step is its work and its transfers
        machine = Machine()
    else:
        interconnect = links.interconnect(passed.get("collective", ""))
        waking = max(0.0, links.together.waking - interconnect.latency)
        rates, cores = links.rates(devices), links.cores_of(devices)
        machine = replace(machine, rates=rates, waking=waking, cores=cores)
        extra = links.agreement(devices) + machine.between * machine.slowness(devices)
    times = timeline(simulate_jobs(work.jobs(costs), interconnect, machine))
    return replace(times, seconds=times.seconds + extra)


def _chosen(model: Model, links: SavedLinks, devices: int, strategy: str) -> dict[str, Any]:
    """Return the collective that members with ``links`` would choose for the gradients."""
    if strategy not in users_of("collective"):
        return {}
    sizes = [4 * v.spec.size for v in model.trainable_variables]
    nbytes = min(max(sizes), BUCKET_BYTES)
    return {"collective": choose(nbytes, devices, link=links.model(devices)).algorithm.name}


def _row(times: Timeline, devices: int, alone: float) -> dict[str, Any]:
    """Return the row of one number of devices. The ideal time is ``alone / devices``.

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
