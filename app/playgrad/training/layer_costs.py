"""What the layers of a model cost: estimated by their arithmetic, or measured."""

from __future__ import annotations

import math
from contextlib import ExitStack

from playgrad.graph.tensor import Node, Tensor
from playgrad.models.structure import StructureItem, outputs_of
from playgrad.nn.layer_calls import LayerCall
from playgrad.parallel.stages import Chain
from playgrad.training.device_data import DeviceData
from playgrad.training.measured_steps import by_stage, measure_in_turns, measured_program
from playgrad.training.recipe import Recipe

REPEATS = 3
"""Measured runs, after one to warm up; the shortest time of each layer counts."""


def chain_of(recipe: Recipe, data: DeviceData, batch: int) -> Chain:
    """The items of the network's structure, to be dealt out to the stages of a pipeline."""
    items = recipe.network.structure.items
    names = {layer: name for name, layer in recipe.network.named_layers()}
    number = {tensor: place for place, item in enumerate(items) for tensor in outputs_of(item)}
    return Chain(
        tuple(names[item.layer] if isinstance(item, LayerCall) else None for item in items),
        tuple(tuple(number[t] for t in item.inputs if t in number) for item in items),
        lambda: [_arithmetic(item) for item in items],
        lambda: _measured(recipe, data, batch),
    )


def _arithmetic(item: StructureItem) -> float:
    """Multiplications, additions and results of the forward pass of one sample."""
    seen: set[Node] = set()
    pending = [tensor.node for tensor in outputs_of(item)]
    given = set(item.inputs)
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


def _measured(recipe: Recipe, data: DeviceData, batch: int) -> list[float]:
    """Seconds of the passes of each item of the structure, on the device of the network."""
    stages = range(len(recipe.network.structure.items))
    with ExitStack() as stack:
        device = (recipe.network.session.device,)
        program = measured_program(stack, recipe, data, batch, stages, 1, device)
        (traces,) = measure_in_turns([program], REPEATS)
    times = [by_stage(trace, len(stages)) for trace in traces]
    return [min(own) for own in zip(*times, strict=True)]
