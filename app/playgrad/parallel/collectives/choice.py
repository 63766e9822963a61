"""Chooses a collective algorithm by size, from latency and bandwidth (Hockney 1994)."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from playgrad.parallel.collectives.algorithm import ALL_REDUCE, Algorithm, Cost
from playgrad.parallel.collectives.ring import Ring
from playgrad.parallel.collectives.rooted import Central, Tree

ALGORITHMS: tuple[Algorithm, ...] = (Central(), Tree(), Ring())
"""In order of the number of operations, fewest first."""


@dataclass(frozen=True)
class LinkModel:
    """Latency and bandwidth between the members.

    Attributes:
        latency: seconds that each round takes, whatever its size.
        bandwidth: bytes that a member sends and receives per second.
        at_once: number of members that can send or receive at the same time.
    """

    latency: float
    bandwidth: float
    at_once: int

    def seconds(self, cost: Cost) -> float:
        """Estimate the time of an operation: its rounds, and the transfers of the busiest member,
        or of all members if they have to take turns."""
        moved = max(cost.busiest, 2 * cost.bytes_moved / self.at_once)
        return cost.rounds * self.latency + moved / self.bandwidth


HOST = LinkModel(300e-6, 3e9, 1 if sys.platform == "emscripten" else os.cpu_count() or 1)
"""Devices of one machine, which share its memory, with a processor for each copy. A page has only
the one that Python runs on."""
WORTHWHILE = 0.9
"""An algorithm with more operations must take less than this share of the time of one with fewer:
the estimate leaves out its additional slices and sums."""


@dataclass(frozen=True)
class Choice:
    """An algorithm, and the reason for it in words."""

    algorithm: Algorithm
    reason: str


def choose(
    nbytes: int | None, members: int, kind: str = ALL_REDUCE, link: LinkModel = HOST
) -> Choice:
    """Choose the fastest algorithm for a tensor of ``nbytes`` among ``members``.

    Args:
        nbytes: None if the size is not known yet. Then the tensor cannot be divided, which rules
            out a ring.
    """
    if nbytes is None:
        best = min(ALGORITHMS[:2], key=lambda algorithm: algorithm.cost(kind, 1, members).busiest)
        return Choice(best, f"{best.name}: the size is not known, so it cannot be divided")
    times = [link.seconds(algorithm.cost(kind, nbytes, members)) for algorithm in ALGORITHMS]
    fastest = 0
    for number in range(1, len(ALGORITHMS)):
        if times[number] < WORTHWHILE * times[fastest]:
            fastest = number
    estimates = ", ".join(
        f"{algorithm.name} {1e3 * seconds:.3g} ms"
        for algorithm, seconds in zip(ALGORITHMS, times, strict=True)
    )
    best = ALGORITHMS[fastest]
    return Choice(
        best, f"{best.name}: {nbytes:,} bytes among {members} take an estimated {estimates}"
    )
