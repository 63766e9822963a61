"""Deals the layers of a model out to the stages of a pipeline."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from playgrad.errors import GraphError

ESTIMATED, BALANCED = "estimated", "balanced"
Stages = str | tuple[int, ...] | tuple[tuple[str, ...], ...]
"""How layers are dealt out: "estimated" or "balanced", their number in each stage, or their names
by stage."""


@dataclass(frozen=True)
class Chain:
    """The steps of a model, each after those that it needs.

    Attributes:
        names: of the layers; None for an operation without a layer.
        inputs: for each step the numbers of the steps whose results it takes.
        estimate: arithmetic of each step, in any unit.
        measure: seconds of each step, forward and backward together; takes a while.
    """

    names: tuple[str | None, ...]
    inputs: tuple[tuple[int, ...], ...]
    estimate: Callable[[], Sequence[float]]
    measure: Callable[[], Sequence[float]]

    @cached_property
    def layers(self) -> list[str]:
        """Each layer once, in the order of the first calls."""
        return list(dict.fromkeys(name for name in self.names if name is not None))


def deal_out(chain: Chain, stages: Stages, count: int) -> tuple[int, ...]:
    """The stage of each step of ``chain``, where there are ``count`` stages.

    Raises:
        GraphError: there are fewer steps than stages, or what was written by hand does not name
            each layer once, in an order in which no stage needs a later one.
    """
    if isinstance(stages, str):
        if stages not in (ESTIMATED, BALANCED):
            raise GraphError(
                f"stages={stages!r} is not a way of dividing a model.",
                hint=f"Use {ESTIMATED!r}, {BALANCED!r}, or say which layers make up each stage.",
            )
        _expect_enough(len(chain.names), count, "layers and operations")
        return balance(chain.estimate() if stages == ESTIMATED else chain.measure(), count)
    _expect_enough(len(chain.layers), count, "layers")
    if len(stages) != count:
        raise GraphError(f"stages has {len(stages)} entries, but the pipeline {count} stages.")
    stage = _follow(chain, _by_hand(chain.layers, stages))
    for step, inputs in enumerate(chain.inputs):
        for before in inputs:
            if stage[before] > stage[step]:
                raise GraphError(
                    f"stage {stage[step]} would need '{chain.names[before]}' of stage "
                    f"{stage[before]}, for '{chain.names[step]}'.",
                    hint="Stages run in order: put a layer into no earlier stage than its inputs.",
                )
    return stage


def balance(costs: Sequence[float], count: int) -> tuple[int, ...]:
    """The stage of each step, if the most expensive stage is to be as cheap as it can be.

    Stages are runs of steps that follow each other, none of them empty. Among the ways that are
    equally good by the most expensive stage, the one with the least sum of squares.

    Args:
        costs: of each step, not negative.
    """
    sums = [0.0, *accumulate(costs)]
    bound = _least_parts(sums, count, max, lambda cost: cost)[0]
    allowed = bound * (1 + 1e-9)
    _, ends = _least_parts(
        sums, count, lambda a, b: a + b, lambda cost: cost**2 if cost <= allowed else math.inf
    )
    return tuple(sum(step >= end for end in ends[:-1]) for step in range(len(costs)))


def _least_parts(
    sums: Sequence[float],
    count: int,
    join: Callable[[float, float], float],
    price: Callable[[float], float],
) -> tuple[float, list[int]]:
    """The least price of ``count`` parts of a chain, and where each part ends.

    Args:
        sums: of the first 0, 1, 2, ... costs.
        join: the price of several parts from those of one and of the rest.
        price: of a part, by its cost.
    """
    size = len(sums) - 1
    best: list[tuple[float, list[int]]] = [
        (price(sums[end]), [end]) if end else (math.inf, []) for end in range(size + 1)
    ]
    for parts in range(2, count + 1):
        best = [
            min(
                (
                    (join(best[cut][0], price(sums[end] - sums[cut])), [*best[cut][1], end])
                    for cut in range(parts - 1, end)
                ),
                default=(math.inf, []),
            )
            for end in range(size + 1)
        ]
    return best[size]


def _by_hand(layers: Sequence[str], stages: Sequence[int | Sequence[str]]) -> dict[str, int]:
    """The stage of each layer."""
    if all(isinstance(entry, int) for entry in stages):
        counts = [entry for entry in stages if isinstance(entry, int)]
        if min(counts) < 1 or sum(counts) != len(layers):
            raise GraphError(
                f"stages={tuple(counts)} is {sum(counts)} layers, but the model has {len(layers)}.",
                hint="Give for each stage its number of layers, at least 1.",
            )
        ends = list(accumulate(counts))
        return {name: sum(place >= end for end in ends) for place, name in enumerate(layers)}
    found: dict[str, int] = {}
    for number, names in enumerate(stages):
        if isinstance(names, (int, str)) or not names:
            raise GraphError(f"stage {number} is {names!r}, not a list of names of layers.")
        for name in names:
            if name not in layers or name in found:
                problem = "is in two stages" if name in found else "is not a layer of the model"
                raise GraphError(f"{name!r} {problem}.", hint=f"Layers: {', '.join(layers)}.")
            found[name] = number
    missing = [name for name in layers if name not in found]
    if missing:
        raise GraphError(f"no stage has the layers {', '.join(missing)}.")
    return found


def _follow(chain: Chain, by_name: dict[str, int]) -> tuple[int, ...]:
    """Operations without a layer are done where the last of their inputs is made."""
    stage: list[int] = []
    for name, inputs in zip(chain.names, chain.inputs, strict=True):
        before = max((stage[step] for step in inputs), default=0)
        stage.append(before if name is None else by_name[name])
    return tuple(stage)


def _expect_enough(steps: int, count: int, what: str) -> None:
    if steps < count:
        raise GraphError(
            f"a model of {steps} {what} cannot be divided into {count} stages.",
            hint="Use fewer devices, or fewer chunks on each.",
        )
