"""Which way of doing a collective suits a size: by latency and bandwidth (Hockney 1994)."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from playgrad.parallel.collectives.algorithm import Algorithm
from playgrad.parallel.collectives.costs import ALL_REDUCE, Cost
from playgrad.parallel.collectives.ring import Ring
from playgrad.parallel.collectives.rooted import Central, Tree

ALGORITHMS: tuple[Algorithm, ...] = (Central(), Tree(), Ring())
"""From the one with the fewest operations to the one with the most."""


@dataclass(frozen=True)
class LinkModel:
    """What connects the members.

    Attributes:
        latency: seconds that each step takes, whatever its size.
        bandwidth: bytes a second that a member sends and receives.
        at_once: how many members can send or receive at the same time.
    """

    latency: float
    bandwidth: float
    at_once: int

    def seconds(self, cost: Cost) -> float:
        """What an operation takes: at least its chain of steps, and the transfers of the busiest
        member, or of all where they have to take turns."""
        moved = max(cost.busiest, 2 * cost.bytes_moved / self.at_once)
        return cost.steps * self.latency + moved / self.bandwidth


HOST = LinkModel(300e-6, 3e9, 1 if sys.platform == "emscripten" else os.cpu_count() or 1)
"""Devices of one machine, which meet in its memory: a processor for each copy. In a page there is
one, that Python runs on."""
WORTH = 0.9
"""Share of a simpler way's time at which another is taken: its additional slices and sums, which
the estimate leaves out, take time too."""


@dataclass(frozen=True)
class Choice:
    """A way of doing a collective, and why, in words."""

    way: Algorithm
    reason: str


def choose(
    nbytes: int | None, members: int, kind: str = ALL_REDUCE, link: LinkModel = HOST
) -> Choice:
    """The way that takes the least time for a tensor of ``nbytes`` among ``members``.

    Args:
        nbytes: None where the size is not known yet: then nothing can be divided, so no ring.
    """
    if nbytes is None:
        way = min(ALGORITHMS[:2], key=lambda way: way.cost(kind, 1, members).busiest)
        return Choice(way, f"{way.name}: the size is not known, so it cannot be divided")
    times = [link.seconds(way.cost(kind, nbytes, members)) for way in ALGORITHMS]
    best = 0
    for number in range(1, len(ALGORITHMS)):
        if times[number] < WORTH * times[best]:
            best = number
    estimates = ", ".join(
        f"{way.name} {1e3 * seconds:.3g} ms" for way, seconds in zip(ALGORITHMS, times, strict=True)
    )
    return Choice(
        ALGORITHMS[best],
        f"{ALGORITHMS[best].name}: {nbytes:,} bytes among {members} take an estimated {estimates}",
    )
