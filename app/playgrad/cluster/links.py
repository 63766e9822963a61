"""Measures the links between the members of a run, with messages as a run sends them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from mpi4py import MPI

from playgrad.cluster.hosts import HostSlots
from playgrad.cluster.link import ADDRESS, TOKEN, Link
from playgrad.cluster.link_messages import (
    FEWEST,
    LARGEST,
    MOST,
    SMALLEST,
    PairFollower,
    PairMessages,
    PairStarter,
)
from playgrad.cluster.mpi import MpiMembers
from playgrad.parallel.collectives.choice import HOST, LinkModel, TransportSums
from playgrad.parallel.collectives.links import MeasuredLink, Together, link_model
from playgrad.runtime.blas import limited_to

Array = np.ndarray[Any, Any]
BRIEFLY = 0.004
"""Seconds of each measurement when a run starts."""
THOROUGHLY = 0.05
"""The same when a user asks for the links."""
_TURN = 1e-3
"""Seconds that a member computes while others wait for it."""


class LinkMeter:
    """Measures links. All methods are collective.

    Args:
        seconds: the time for each measurement.
    """

    def __init__(self, members: MpiMembers, seconds: float) -> None:
        self.seconds = seconds
        self._members = members
        self._comm = MPI.COMM_WORLD.Dup()
        self._here = self._comm.Split_type(MPI.COMM_TYPE_SHARED)
        self._messages = PairMessages(self._comm, members.piece, members.wait)

    def close(self) -> None:
        """Free the communicators."""
        self._here.Free()
        self._comm.Free()

    def pair(self, one: int, other: int) -> MeasuredLink | None:
        """Measure the link between two members; return it at the first of them, None elsewhere.

        Other pairs may measure theirs at the same time.
        """
        if self._members.rank == one:
            return PairStarter(self._messages, other, self.seconds).measure()
        if self._members.rank == other:
            PairFollower(self._messages, one).follow()
        return None

    def together(self, bandwidth: float) -> Together:
        """Measure with all members at once.

        Args:
            bandwidth: bytes per second to expect.
        """
        members, size = self._members, self._members.size
        bandwidth = members.first_of(bandwidth)
        nbytes = int(min(max(bandwidth * self.seconds, SMALLEST), LARGEST))
        repeats = round(min(max(bandwidth * self.seconds / (2 * nbytes), FEWEST), MOST))
        neighbours = (members.rank + 1) % size, (members.rank - 1) % size
        small = self._slowest(lambda: self._messages.exchange(neighbours, 1), 5 * FEWEST)
        large = self._slowest(lambda: self._messages.exchange(neighbours, nbytes), repeats)
        agreement = self._slowest(members.agree, 5 * FEWEST)
        return Together(small, 2 * nbytes / max(large - small, 1e-9), agreement)

    def sums(self, bandwidth: float) -> TransportSums:
        """Measure MPI's own sums among all members.

        Args:
            bandwidth: bytes per second to expect.
        """
        members = self._members
        nbytes = int(min(max(bandwidth * self.seconds, SMALLEST), LARGEST))
        repeats = round(min(max(bandwidth * self.seconds / (2 * nbytes), FEWEST), MOST))
        ranks = tuple(range(members.size))
        members.prepare_sums(ranks)

        def add_up(size: int) -> None:
            term = np.ones(size // 4, np.float32)
            members.end_sum(members.begin_sum(ranks, term, np.empty_like(term)))

        small = self._slowest(lambda: add_up(4), 5 * FEWEST)
        large = self._slowest(lambda: add_up(nbytes), repeats)
        return TransportSums(small, nbytes / max(large - small, 1e-9))

    def rate(self) -> float:
        """Measure the speed of a member while as many compute as there are cores, or all if they
        are fewer, as a share of its speed alone."""
        work = computing_work()
        with limited_to(1):  # threads of several members would spin while they wait for a core
            work()  # for the first time
            alone = self._members.first_of(self._alone(work))
            computes = self._here.rank < _cores()
            return min(1.0, alone / self._slowest(work if computes else lambda: None, MOST))

    def waking(self) -> float:
        """Measure the seconds from a message until a member goes on that has waited for it.

        One member after the other computes, and then wakes the next one, while all others wait.
        Where there are fewer cores than members, as many compute at once as there are cores.
        """
        members, size = self._members, self._members.size
        to, source = (members.rank + 1) % size, (members.rank - 1) % size
        token = np.zeros(1, np.uint8)
        share = min(members.all_of(_cores() / self._here.size))
        at_once = max(1, int(size * share)) if share < 1 else 1
        is_first = members.rank * at_once % size < at_once
        hops = math.ceil(size / at_once)

        def turn() -> None:
            end = time.perf_counter() + _TURN
            while time.perf_counter() < end:
                pass
            self._messages.send(token, to)

        def around() -> None:
            if is_first:
                turn()
            self._messages.receive(token, source)
            if not is_first:
                turn()

        seconds = self._slowest(around, max(FEWEST, round(self.seconds / _TURN / hops)))
        return max(seconds / hops - _TURN, 1e-9)

    def _alone(self, work: Callable[[], object]) -> float:
        """Return the least seconds in which the first member does ``work`` while others sleep."""
        self._members.agree()
        times = [math.inf]
        if self._members.rank:
            time.sleep(self.seconds)
        else:
            for _ in range(MOST):
                start = time.perf_counter()
                work()
                times.append(time.perf_counter() - start)
        self._members.agree()
        return min(times)

    def _slowest(self, work: Callable[[], object], repeats: int) -> float:
        """Return the least seconds in which the slowest member has done ``work``."""
        times = []
        for _ in range(repeats + 1):
            self._members.agree()
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        # The first one opens connections.
        return min(map(max, zip(*self._members.all_of(times[1:]), strict=True)))


def _cores() -> int:
    return os.cpu_count() or 1


def measured_link(members: MpiMembers) -> LinkModel:
    """Return the model of the links of a run, the same at all members. Collective.

    It is that of the link from the first member to the last, which is on another machine if there
    are several, and of all members at once.
    """
    if members.size == 1:
        return HOST
    meter = LinkMeter(members, BRIEFLY)
    try:
        link = members.first_of(meter.pair(0, members.size - 1))
        assert link is not None
        together, sums = meter.together(link.bandwidth), meter.sums(link.bandwidth)
        return members.first_of(link_model(link, together, members.size, sums))
    finally:
        meter.close()


def all_links(members: MpiMembers, hosts: Sequence[HostSlots]) -> dict[str, Any] | None:
    """Measure the links between all machines and within each; return them at the first member.

    Collective. Pairs of machines measure at the same time, but each machine only one link.
    """
    first = [sum(host.slots for host in hosts[:place]) for place in range(len(hosts))]
    rounds = [[(place, place) for place, host in enumerate(hosts) if host.slots > 1]]
    rounds += [pairs for pairs in pairings(len(hosts)) if pairs]
    meter = LinkMeter(members, THOROUGHLY)
    found: list[dict[str, Any]] = []
    try:
        for pairs in rounds:
            link = None
            for a, b in pairs:
                link = meter.pair(first[a], first[b] + (a == b)) or link
            for rank, each in enumerate(members.all_of(link)):
                if each is not None:
                    a, b = next(pair for pair in pairs if first[pair[0]] == rank)
                    found.append({"hosts": [hosts[a].name, hosts[b].name], **asdict(each)})
        slowest = min((each["bandwidth"] for each in found), default=0.0)
        together = None
        if members.size > 1:
            together = meter.together(slowest)
            together = replace(together, rate=meter.rate(), waking=meter.waking())
    finally:
        meter.close()
    if members.rank:
        return None
    return {
        "members": members.size,
        "links": found,
        "together": None if together is None else asdict(together),
    }


def computing_work() -> Callable[[], object]:
    """Return some work as training does it: a product, which needs a core, and sums of arrays that
    do not fit in its caches, which need memory."""
    random = np.random.default_rng(0)
    matrix = random.standard_normal((256, 256), np.float32)
    product = np.empty_like(matrix)
    large = random.standard_normal(1 << 20, np.float32)
    total = np.zeros_like(large)

    def work() -> None:
        np.matmul(matrix, matrix, out=product)
        np.add(large, total, out=total)

    return work


def pairings(count: int) -> Iterator[list[tuple[int, int]]]:
    """Yield rounds of disjoint pairs, until each of ``count`` has met each (the circle method)."""
    places: list[int | None] = [*range(count)]
    if count % 2:
        places.append(None)
    for _ in range(len(places) - 1):
        half = len(places) // 2
        yield [
            (min(a, b), max(a, b))
            for a, b in zip(places[:half], reversed(places[half:]), strict=True)
            if a is not None and b is not None
        ]
        places.insert(1, places.pop())


def measure_as_member(hosts: Sequence[HostSlots]) -> int:
    """Measure all links as one member of ``hosts``; tell the supervisor the result."""
    members = MpiMembers()
    link = Link(os.environ[ADDRESS], os.environ[TOKEN], members.rank)
    place = [host for host in hosts for _ in range(host.slots)][members.rank]
    with limited_to(max(1, _cores() // place.slots)):  # as members train
        result = all_links(members, hosts)
    if result is not None:
        link.send({"result": result})
    link.end(0, "")
    return 0
