"""A training step laid over several devices, as a strategy has it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from playgrad.nn.layer_costs import chain_of
from playgrad.nn.resident import Resident
from playgrad.nn.steps import TrainStep, build_train_step
from playgrad.parallel.partition import take_apart
from playgrad.parallel.rewrite import Rewritten, rewrite
from playgrad.parallel.strategies import Strategy

if TYPE_CHECKING:
    from playgrad.nn.model import Model


def build_parallel_step(
    model: Model,
    data: Resident,
    batch: int,
    shuffle: bool,
    seed: int | None,
    strategy: Strategy,
) -> TrainStep:
    """The training step over ``data`` on the devices of ``strategy``, made once for equal
    arguments; variables are moved, and copied, to where it needs them.

    Raises:
        GraphError: the batch or the model has fewer parts than the strategy needs.
        DeviceError: a device does not exist.
    """
    # Once: measured anew, the times and so the stages might differ from fit to fit.
    chosen = ("stages", strategy, data.key, batch)
    if chosen not in model.cache:
        model.cache[chosen] = strategy.stages_of(chain_of(model, data, batch))
    stages = model.cache[chosen]
    step = build_train_step(model, data, batch, shuffle, seed, stages)
    key = ("parallel", step.run, strategy)
    if key not in model.cache:
        kind = model.session.device.partition(":")[0]
        layout = strategy.layout(kind)
        model.cache[key] = rewrite(take_apart(step.run), batch, layout, strategy.name)
    rewritten: Rewritten = model.cache[key]
    _settle(model, rewritten)
    return replace(step, run=rewritten.run)


def _settle(model: Model, rewritten: Rewritten) -> None:
    """Move variables to their homes, and give their mirrors the values that they have now."""
    session = model.session
    session.set_placement(lambda node: rewritten.homes.get(node.name))
    for variable, mirrors in rewritten.mirrors.items():
        value = session.value(variable)
        session.assign(dict.fromkeys(mirrors, value))
