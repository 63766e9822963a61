"""The layers of each stage that are divided among its devices, as the simulator counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.networks.structure import outputs_of
from playgrad.nn.layer_calls import LayerCall
from playgrad.nn.parallel_dense import ColumnParallelDense
from playgrad.nn.sharded_layer import ShardedLayer
from playgrad.training.layer_costs import arithmetic, size_of
from playgrad.training.recipe import Recipe


@dataclass
class Divided:
    """The divided layers of a stage; the fields are as in `StageCost`."""

    divided: float = 0.0
    exchanges: int = 0
    exchanged: int = 0


def divided_layers(recipe: Recipe, stages: Sequence[int], rows: int) -> list[Divided]:
    """Return the divided layers of each stage.

    The shares are shares of the arithmetic. Devices exchange once for each layer that adds up
    parts: a layer divided by columns leaves its results where the next layer needs them.

    Args:
        stages: the stage of each item of the network's structure.
        rows: samples of a micro-batch.
    """
    count = 1 + max(stages)
    whole, shared = [0.0] * count, [0.0] * count
    results = [Divided() for _ in range(count)]
    sizes: list[list[int]] = [[] for _ in range(count)]
    for item, stage in zip(recipe.network.structure.items, stages, strict=True):
        work = arithmetic(item)
        whole[stage] += work
        if not isinstance(item, LayerCall) or not isinstance(item.layer, ShardedLayer):
            continue
        shared[stage] += work
        results[stage].exchanges = max(1, results[stage].exchanges)
        if not isinstance(item.layer, ColumnParallelDense):
            sizes[stage].append(sum(4 * rows * size_of(tensor) for tensor in outputs_of(item)))
    for stage, result in enumerate(results):
        if result.exchanges:
            result.divided = shared[stage] / max(whole[stage], 1.0)
            result.exchanges = max(1, len(sizes[stage]))
            result.exchanged = sum(sizes[stage]) // result.exchanges
    return results
