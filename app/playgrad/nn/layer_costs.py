"""What the layers of a model cost: estimated by their arithmetic, or measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from playgrad.graph.tensor import Node, Tensor
from playgrad.nn.calls import LayerCall
from playgrad.nn.resident import Resident, make_resident
from playgrad.nn.steps import build_train_step
from playgrad.nn.structure import Step
from playgrad.parallel import collectives
from playgrad.parallel.layout import Layout
from playgrad.parallel.many import StageCost
from playgrad.parallel.partition import take_apart
from playgrad.parallel.rewrite import rewrite
from playgrad.parallel.schedules import gpipe, simulate
from playgrad.parallel.stages import Chain
from playgrad.runtime.trace import Trace

if TYPE_CHECKING:
    from playgrad.nn.model import Model

_PASSES = ("forward", "backward")
REPEATS = 3
"""Measured runs, after one to warm up; the shortest time of each layer counts."""


def chain_of(model: Model, data: Resident, batch: int) -> Chain:
    """The steps of ``model``, to be dealt out to the stages of a pipeline."""
    steps = model.structure.steps
    names = {layer: name for name, layer in model.named_layers()}
    number = {tensor: place for place, step in enumerate(steps) for tensor in _outputs(step)}
    return Chain(
        tuple(names[step.layer] if isinstance(step, LayerCall) else None for step in steps),
        tuple(tuple(number[t] for t in step.inputs if t in number) for step in steps),
        lambda: [_arithmetic(step) for step in steps],
        lambda: _measured(model, data, batch),
    )


def _outputs(step: Step) -> tuple[Tensor, ...]:
    return (step.output,) if isinstance(step, LayerCall) else step.outputs


def _arithmetic(step: Step) -> float:
    """Multiplications, additions and results of the forward pass of one sample."""
    seen: set[Node] = set()
    pending = [tensor.node for tensor in _outputs(step)]
    given = set(step.inputs)
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += [tensor.node for tensor in node.inputs if tensor not in given]
    return float(sum(_arithmetic_of(node) for node in seen))


def _arithmetic_of(node: Node) -> int:
    size = sum(map(_size, node.outputs))
    if node.op.name in ("matmul", "conv2d"):  # each result is a sum over a column of weights
        return 2 * size * _size(node.inputs[1]) // (node.outputs[0].shape[-1] or 1)
    return size if node.inputs else 0


def _size(tensor: Tensor) -> int:
    return math.prod(n or 1 for n in tensor.shape)


def _measured(model: Model, data: Resident, batch: int) -> list[float]:
    """Seconds that the passes of each step of ``model`` take, on the device that it trains on."""
    count = len(model.structure.steps)
    traces = _traced(model, data, batch, tuple(range(count)))
    times = [_by_stage(trace, count) for trace in traces]
    return [min(own) for own in zip(*times, strict=True)]


def stage_costs(model: Model, data: Resident, batch: int, stages: Sequence[int]) -> list[StageCost]:
    """What each stage costs for a whole batch, measured on the device that the model trains on.

    Args:
        stages: the stage of each step of the model's structure.
    """
    count = 1 + max(stages)
    costs = [
        (_by_stage(t, count, "forward"), _by_stage(t, count, "backward"), _updating(t))
        for t in _traced(model, data, batch, stages)
    ]
    forward, backward, update = min(costs, key=lambda cost: sum(cost[0]) + sum(cost[1]))
    parameters = [0] * count
    layers = {
        step.layer: stage
        for step, stage in zip(model.structure.steps, stages, strict=True)
        if isinstance(step, LayerCall)
    }
    for layer, stage in layers.items():
        parameters[stage] += sum(4 * v.spec.size for v in layer.variables.values() if v.trainable)
    number = dict(zip(model.structure.steps, stages, strict=True))
    crossing = [0] * count
    made = {tensor: step for step in model.structure.steps for tensor in _outputs(step)}
    for tensor, step in made.items():
        later = [number[user] for user in model.structure.steps if tensor in user.inputs]
        for stage in range(number[step], max(later, default=0)):
            crossing[stage] += 4 * batch * _size(tensor)
    whole = max(sum(parameters), 1)
    return [
        StageCost(f, b, update * p / whole, p, a)
        for f, b, p, a in zip(forward, backward, parameters, crossing, strict=True)
    ]


def _updating(trace: Trace) -> float:
    return sum(e.end - e.start for e in trace.events if e.name.split(" ", 1)[1][:6] == "update")


def _traced(model: Model, data: Resident, batch: int, stages: Sequence[int]) -> list[Trace]:
    """A few training steps, as a pipeline whose stages are all on the model's one device.

    It is a copy of the model that is trained; the model itself stays as it is.
    """
    twin = model.clone()
    with twin.session as session:
        xs, ys = (
            [model.session.value(variable)[:batch] for variable in variables]
            for variables in (data.xs, data.ys)
        )
        own = make_resident(twin, "measured", xs, ys)
        step = build_train_step(twin, own, batch, False, None, stages)
        count = 1 + max(stages)
        schedule = tuple(item.entry for item in simulate(gpipe(count, 1)))
        layout = Layout(((session.device,) * count,), schedule, collectives.get("central"))
        run = rewrite(take_apart(step.run), batch, layout, "measured").run
        session.executor.threads = 1  # one operation after the other: their times are added up
        session.run(run)
        traces = [Trace() for _ in range(REPEATS)]
        for trace in traces:
            session.run(run, trace=trace)
    return traces


def _by_stage(trace: Trace, count: int, direction: str = "") -> list[float]:
    """Seconds of the passes of each stage, of all or only those forward or backward."""
    seconds = [0.0] * count
    for event in trace.events:
        # Of a single stage the number is not in the name: "cpu:0 forward 0".
        task, _, stage = event.name.partition(", part ")[0].partition(" of stage ")
        if task.split()[1] in _PASSES and direction in task:
            seconds[int(stage or 0)] += event.end - event.start
    return seconds
