"""The cost of each layer of a network: estimated by its arithmetic, or measured."""

from __future__ import annotations

import math
from contextlib import ExitStack

from playgrad.devices.kinds import canonical
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.structure import StructureItem, outputs_of
from playgrad.nn.layer_calls import LayerCall
from playgrad.nn.sharded_layer import ShardedLayer
from playgrad.parallel.stages import Chain
from playgrad.runtime.measuring import run_in_turns
from playgrad.training.device_data import DeviceData
from playgrad.training.measured_steps import measured_step, seconds_by_stage
from playgrad.training.recipe import Recipe

REPEATS = 3
"""Measured runs, after one to warm up."""


def chain_of(recipe: Recipe, data: DeviceData, batch: int) -> Chain:
    """Return the items of the network's structure, to partition into the stages of a pipeline."""
    items = recipe.network.structure.items
    names = {layer: name for name, layer in recipe.network.named_layers()}
    number = {tensor: place for place, item in enumerate(items) for tensor in outputs_of(item)}
    return Chain(
        tuple(names[item.layer] if isinstance(item, LayerCall) else None for item in items),
        tuple(tuple(number[t] for t in item.inputs if t in number) for item in items),
        lambda: [arithmetic(item) for item in items],
        lambda: _measured(recipe, data, batch),
        tuple(map(devices_of, items)),
    )


def devices_of(item: StructureItem) -> tuple[str, ...]:
    """Return the devices that the user placed ``item`` on, or divided it among."""
    if isinstance(item, LayerCall) and isinstance(item.layer, ShardedLayer):
        return item.layer.devices
    return () if item.device is None else (canonical(item.device),)


def size_of(tensor: Tensor) -> int:
    """Return the number of elements of ``tensor`` for one sample."""
    return math.prod(n or 1 for n in tensor.shape)


def arithmetic(item: StructureItem) -> float:
    """Return the multiplications, additions and results of a forward pass of one sample."""
    return float(sum(map(_arithmetic_of, nodes_of(item))))


def nodes_of(item: StructureItem) -> set[Node]:
    """Return the nodes that compute ``item`` from its inputs, with its variables."""
    given = set(item.inputs)
    seen: set[Node] = set()
    pending = [tensor.node for tensor in outputs_of(item)]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += [tensor.node for tensor in node.inputs if tensor not in given]
    return seen


def _arithmetic_of(node: Node) -> int:
    size = sum(map(size_of, node.outputs))
    if node.op.name in ("matmul", "conv2d"):  # each result is a sum over a column of weights
        return 2 * size * size_of(node.inputs[1]) // (node.outputs[0].shape[-1] or 1)
    if node.op.name == "conv2d_transpose":  # each pixel is multiplied by a set of weights
        filters, image = node.inputs
        return 2 * size_of(image) * size_of(filters) // (image.shape[-1] or 1)
    return size if node.inputs else 0


def _measured(recipe: Recipe, data: DeviceData, batch: int) -> list[float]:
    """Return the seconds of the passes of each item, each as a stage by itself, on the network's
    device."""
    count = len(recipe.network.structure.items)
    with ExitStack() as stack:
        device = recipe.network.session.device
        step = measured_step(stack, recipe, data, batch, range(count), 1, [device])
        (runs,) = run_in_turns([step], REPEATS)
    return seconds_by_stage([run.trace for run in runs], count)
