"""Chooses a collective algorithm by size, from latency and bandwidth (Hockney 1994)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from playgrad.parallel.collectives.algorithm import ALL_REDUCE, BROADCAST, Algorithm, Cost
from playgrad.parallel.collectives.ring import Ring
from playgrad.parallel.collectives.rooted import Central, Tree

ALGORITHMS: tuple[Algorithm, ...] = (Central(), Tree(), Ring())
"""In order of the number of operations, fewest first."""


@dataclass(frozen=True)
class TransportSums:
    """The time of the transport's own sums, among all members.

    Attributes:
        latency: seconds until the members have the sum of small tensors.
        bandwidth: bytes of each member's tensor that are added up per second.
    """

    latency: float
    bandwidth: float

    def seconds(self, nbytes: int) -> float:
        """Estimate the time of a sum of tensors of ``nbytes``."""
        return self.latency + nbytes / self.bandwidth


@dataclass(frozen=True)
class LinkModel:
    """Latency and bandwidth between the members.

    Attributes:
        latency: seconds that each round takes, whatever its size.
        bandwidth: bytes that a member sends and receives per second.
        at_once: number of members that can send or receive at the same time.
        both_ways: how many times as many bytes a member moves while it sends and receives at the
            same time: 1 where it takes turns, 2 where the directions do not disturb each other.
        sums: the measured time of the transport's own sums; None if it is not known.
    """

    latency: float
    bandwidth: float
    at_once: int
    both_ways: float = 1.0
    sums: TransportSums | None = None

    def seconds(self, cost: Cost, both_ways: bool = False) -> float:
        """Estimate the time of an operation: its rounds, and the transfers of the busiest member,
        or of all members if they have to take turns.

        Args:
            both_ways: whether members send and receive at the same time.
        """
        moved = max(cost.busiest, 2 * cost.bytes_moved / self.at_once)
        bandwidth = self.bandwidth * (self.both_ways if both_ways else 1.0)
        return cost.rounds * self.latency + moved / bandwidth


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


_current = HOST


def current_links() -> LinkModel:
    """Return the links between the members of this run, as far as they are known."""
    return _current


@contextmanager
def links_set(link: LinkModel) -> Iterator[None]:
    """Choose by ``link`` within the block: the members of a run measure theirs."""
    global _current
    before, _current = _current, link
    try:
        yield
    finally:
        _current = before


def choose(
    nbytes: int | None, members: int, kind: str = ALL_REDUCE, link: LinkModel | None = None
) -> Choice:
    """Choose the fastest algorithm for a tensor of ``nbytes`` among ``members``.

    Args:
        nbytes: None if the size is not known yet. Then the tensor cannot be divided, which rules
            out a ring.
        link: None for the links between the members of this run.
    """
    if nbytes is None:
        best = min(ALGORITHMS[:2], key=lambda algorithm: algorithm.cost(kind, 1, members).busiest)
        return Choice(best, f"{best.name}: the size is not known, so it cannot be divided")
    times = _estimates(nbytes, members, kind, link or _current)
    fastest = _fastest(times)
    estimates = ", ".join(
        f"{algorithm.name} {1e3 * seconds:.3g} ms"
        for algorithm, seconds in zip(ALGORITHMS, times, strict=True)
    )
    best = ALGORITHMS[fastest]
    return Choice(
        best, f"{best.name}: {nbytes:,} bytes among {members} take an estimated {estimates}"
    )


def transport_is_faster(sizes: Sequence[int], members: int, link: LinkModel | None = None) -> bool:
    """Return whether the transport adds up tensors of these bytes, one after the other, in less
    time than the algorithms that `choose` would take; False if that is not known.

    Args:
        link: None for the links between the members of this run.
    """
    link = link or _current
    if link.sums is None or members < 2:
        return False
    exact = 0.0
    for nbytes in sizes:
        times = _estimates(nbytes, members, ALL_REDUCE, link)
        exact += times[_fastest(times)]
    return sum(map(link.sums.seconds, sizes)) < WORTHWHILE * exact


def _estimates(nbytes: int, members: int, kind: str, link: LinkModel) -> list[float]:
    """Return the estimated seconds of each of `ALGORITHMS`."""
    return [
        link.seconds(each.cost(kind, nbytes, members), each.both_ways and kind != BROADCAST)
        for each in ALGORITHMS
    ]


def _fastest(times: Sequence[float]) -> int:
    fastest = 0
    for number in range(1, len(times)):
        if times[number] < WORTHWHILE * times[fastest]:
            fastest = number
    return fastest
