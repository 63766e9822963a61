"""What the layers of a model cost: estimated by their arithmetic, or measured."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import TYPE_CHECKING

from playgrad.graph.tensor import Node, Tensor
from playgrad.models.structure import Step
from playgrad.nn.layer_calls import LayerCall
from playgrad.parallel.stages import Chain
from playgrad.training.device_data import DeviceData
from playgrad.training.measured_steps import by_stage, measure_in_turns, measured_program

if TYPE_CHECKING:
    from playgrad.models.model import Model

REPEATS = 3
"""Measured runs, after one to warm up; the shortest time of each layer counts."""


def chain_of(model: Model, data: DeviceData, batch: int) -> Chain:
    """The steps of ``model``, to be dealt out to the stages of a pipeline."""
    steps = model.structure.steps
    names = {layer: name for name, layer in model.named_layers()}
    number = {tensor: place for place, step in enumerate(steps) for tensor in outputs_of(step)}
    return Chain(
        tuple(names[step.layer] if isinstance(step, LayerCall) else None for step in steps),
        tuple(tuple(number[t] for t in step.inputs if t in number) for step in steps),
        lambda: [_arithmetic(step) for step in steps],
        lambda: _measured(model, data, batch),
    )


def outputs_of(step: Step) -> tuple[Tensor, ...]:
    return (step.output,) if isinstance(step, LayerCall) else step.outputs


def _arithmetic(step: Step) -> float:
    """Multiplications, additions and results of the forward pass of one sample."""
    seen: set[Node] = set()
    pending = [tensor.node for tensor in outputs_of(step)]
    given = set(step.inputs)
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += [tensor.node for tensor in node.inputs if tensor not in given]
    return float(sum(_arithmetic_of(node) for node in seen))


def _arithmetic_of(node: Node) -> int:
    size = sum(map(size_of, node.outputs))
    if node.op.name in ("matmul", "conv2d"):  # each result is a sum over a column of weights
        return 2 * size * size_of(node.inputs[1]) // (node.outputs[0].shape[-1] or 1)
    return size if node.inputs else 0


def size_of(tensor: Tensor) -> int:
    return math.prod(n or 1 for n in tensor.shape)


def _measured(model: Model, data: DeviceData, batch: int) -> list[float]:
    """Seconds that the passes of each step of ``model`` take, on the device that it trains on."""
    stages = range(len(model.structure.steps))
    with ExitStack() as stack:
        device = (model.session.device,)
        program = measured_program(stack, model, data, batch, stages, 1, device)
        (traces,) = measure_in_turns([program], REPEATS)
    times = [by_stage(trace, len(stages)) for trace in traces]
    return [min(own) for own in zip(*times, strict=True)]
