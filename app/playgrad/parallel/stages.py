"""Partition the layers of a model into the stages of a pipeline."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from playgrad.devices.machines import full_names
from playgrad.errors import GraphError

ESTIMATED, BALANCED = "estimated", "balanced"
Stages = str | tuple[int, ...] | tuple[tuple[str, ...], ...]
"""Ways to partition: "estimated", "balanced", number of layers in each stage, or their names."""


@dataclass(frozen=True)
class Chain:
    """The items of a model's structure (layer calls and other operations), each after its inputs.

    Attributes:
        names: the layer of each item; None for an operation without a layer.
        inputs: for each item, the positions of the items whose results it takes.
        estimate: returns the arithmetic of each item, in any unit.
        measure: returns the seconds of each item, forward and backward together; takes a while.
        devices: the devices that the user placed each item on; empty for all other items.
    """

    names: tuple[str | None, ...]
    inputs: tuple[tuple[int, ...], ...]
    estimate: Callable[[], Sequence[float]]
    measure: Callable[[], Sequence[float]]
    devices: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def layers(self) -> list[str]:
        """Each layer once, in the order of first calls."""
        return list(dict.fromkeys(name for name in self.names if name is not None))


def deal_out(
    chain: Chain, stages: Stages, count: int, groups: Sequence[Sequence[str]] = ()
) -> tuple[int, ...]:
    """Return the stage of each item of ``chain`` in a pipeline of ``count`` stages.

    Args:
        groups: the devices of each stage, if the user may place items on them.

    Raises:
        GraphError: the user placed an item on devices other than its stage's.
        GraphError: there are fewer items than stages; or ``stages`` does not contain each layer
            once, in an order in which no stage needs a later one.
    """
    if isinstance(stages, str):
        if stages not in (ESTIMATED, BALANCED):
            raise GraphError(
                f"stages={stages!r} is not a way of dividing a model.",
                hint=f"Use {ESTIMATED!r}, {BALANCED!r}, or list the layers of each stage.",
            )
        _expect_enough(len(chain.names), count, "layers and operations")
        costs = chain.estimate() if stages == ESTIMATED else chain.measure()
        return balance(costs, count, _placed(chain, groups))
    _expect_enough(len(chain.layers), count, "layers")
    if len(stages) != count:
        raise GraphError(f"stages has {len(stages)} entries, but the pipeline {count} stages.")
    stage = _with_operations(chain, _stage_by_layer(chain.layers, stages))
    for item, inputs in enumerate(chain.inputs):
        for before in inputs:
            if stage[before] > stage[item]:
                raise GraphError(
                    f"stage {stage[item]} would need '{chain.names[before]}' of stage "
                    f"{stage[before]}, for '{chain.names[item]}'.",
                    hint="Stages run in order: put a layer in the stage of its inputs or later.",
                )
    for item, place in enumerate(_placed(chain, groups)):
        if place not in (None, stage[item]):
            raise GraphError(
                f"'{chain.names[item]}' is placed on {full_names(chain.devices[item])}, devices of "
                f"stage {place}, but it is in stage {stage[item]}.",
                hint="Place it on devices of its stage, or change the stages.",
            )
    return stage


def _placed(chain: Chain, groups: Sequence[Sequence[str]]) -> list[int | None]:
    """Return the stage of each item that the user placed on devices; None for all others.

    Raises:
        GraphError: the devices of an item are not devices of one stage.
    """
    if not groups:
        return []
    stage_of = {device: stage for stage, group in enumerate(groups) for device in group}
    placed: list[int | None] = []
    for name, devices in zip(chain.names, chain.devices, strict=True):
        stages = {stage_of.get(device) for device in devices}
        if None in stages or len(stages) > 1:
            listed = "; ".join(map(full_names, groups))
            raise GraphError(
                f"'{name}' is placed on {full_names(devices)}, but the stages of the pipeline have "
                f"the devices {listed}.",
                hint="Divide a layer among devices of one stage.",
            )
        placed.append(stages.pop() if stages else None)
    return placed


def balance(
    costs: Sequence[float], count: int, placed: Sequence[int | None] = ()
) -> tuple[int, ...]:
    """Return the stage of each item so that the most expensive stage is as cheap as possible.

    A stage is a run of consecutive items, at least one. Of all optimal partitions, the one with the
    least sum of squared stage costs is returned.

    Args:
        costs: the costs of each item; ≥ 0.
        placed: the stage of each item that must be in a certain one.

    Raises:
        GraphError: no partition has the placed items in their stages.
    """
    sums = [0.0, *accumulate(costs)]
    bound = _cheapest(sums, count, max, lambda cost: cost, placed)[0] * (1 + 1e-9)
    if math.isinf(bound):
        raise GraphError(
            "the devices that layers are placed on do not follow the order of the stages.",
            hint="Stages are runs of consecutive layers, each with at least one layer.",
        )
    _, ends = _cheapest(
        sums, count, lambda a, b: a + b, lambda cost: cost**2 if cost <= bound else math.inf, placed
    )
    return tuple(sum(item >= end for end in ends[:-1]) for item in range(len(costs)))


def _cheapest(
    sums: Sequence[float],
    count: int,
    combine: Callable[[float, float], float],
    price: Callable[[float], float],
    placed: Sequence[int | None] = (),
) -> tuple[float, list[int]]:
    """Return the least price of dividing a chain into ``count`` parts, and the end of each part, by
    dynamic programming.

    Args:
        sums: the sums of the first 0, 1, 2, ... costs.
        combine: returns the price of several parts, from that of all but the last and of the last.
        price: returns the price of a part, from its cost.
        placed: the part of each item that must be in a certain one.
    """
    size = len(sums) - 1

    def price_of(part: int, first: int, end: int) -> float:
        if any(other not in (None, part) for other in placed[first:end]):
            return math.inf
        return price(sums[end] - sums[first])

    best: list[tuple[float, list[int]]] = [
        (price_of(0, 0, end), [end]) if end else (math.inf, []) for end in range(size + 1)
    ]
    for parts in range(2, count + 1):
        best = [
            min(
                (
                    (combine(best[cut][0], price_of(parts - 1, cut, end)), [*best[cut][1], end])
                    for cut in range(parts - 1, end)
                ),
                default=(math.inf, []),
            )
            for end in range(size + 1)
        ]
    return best[size]


def _stage_by_layer(layers: Sequence[str], stages: Sequence[int | Sequence[str]]) -> dict[str, int]:
    if all(isinstance(entry, int) for entry in stages):
        counts = [entry for entry in stages if isinstance(entry, int)]
        if min(counts) < 1 or sum(counts) != len(layers):
            raise GraphError(
                f"stages={tuple(counts)} is {sum(counts)} layers, but the model has {len(layers)}.",
                hint="Give the number of layers of each stage, at least 1.",
            )
        ends = list(accumulate(counts))
        return {name: sum(place >= end for end in ends) for place, name in enumerate(layers)}
    stage_of: dict[str, int] = {}
    for number, names in enumerate(stages):
        if isinstance(names, (int, str)) or not names:
            raise GraphError(f"stage {number} is {names!r}, not a list of layer names.")
        for name in names:
            if name not in layers or name in stage_of:
                problem = "is in two stages" if name in layers else "is not a layer of the model"
                raise GraphError(f"{name!r} {problem}.", hint=f"Layers: {', '.join(layers)}.")
            stage_of[name] = number
    missing = [name for name in layers if name not in stage_of]
    if missing:
        raise GraphError(f"no stage has the layers {', '.join(missing)}.")
    return stage_of


def _with_operations(chain: Chain, by_layer: dict[str, int]) -> tuple[int, ...]:
    """Return the stage of each item; operations without a layer follow their last input."""
    stage: list[int] = []
    for name, inputs in zip(chain.names, chain.inputs, strict=True):
        last = max((stage[item] for item in inputs), default=0)
        stage.append(last if name is None else by_layer[name])
    return tuple(stage)


def _expect_enough(items: int, count: int, kind: str) -> None:
    if items < count:
        raise GraphError(
            f"a model of {items} {kind} cannot be divided into {count} stages.",
            hint="Use fewer devices, or fewer chunks on each.",
        )
