"""Measures the links between the members of a run, with messages as a run sends them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from statistics import median
from typing import Any

import numpy as np
from mpi4py import MPI

from playgrad.cluster.hosts import HostSlots
from playgrad.cluster.link import ADDRESS, TOKEN, Link
from playgrad.cluster.mpi import MpiMembers
from playgrad.cluster.mpi_transport import pieces
from playgrad.parallel.collectives.choice import HOST, LinkModel
from playgrad.parallel.collectives.links import MeasuredLink, Together, link_model
from playgrad.runtime.blas import limited_to

Array = np.ndarray[Any, Any]
_END, _ONE_WAY, _BOTH_WAYS = range(3)
_TAG = 0
_SMALLEST, _LARGEST = 1 << 16, 1 << 22
"""Bytes of messages. The largest are those of most gradients: within a machine, larger ones move
more slowly, since they do not fit in its caches, and new memory is mapped for each."""
_FEWEST, _MOST = 3, 15
"""Repetitions of a measurement, as many as there is time for; the least time counts."""
_FEWEST_ECHOES, _MOST_ECHOES = 20, 100
BRIEFLY = 0.004
"""Seconds of each measurement when a run starts."""
THOROUGHLY = 0.05
"""The same when a user asks for the links."""


class LinkMeter:
    """Measures links. All methods are collective.

    Args:
        seconds: the time for each measurement.
    """

    def __init__(self, members: MpiMembers, seconds: float) -> None:
        self.seconds = seconds
        self._members = members
        self._comm = MPI.COMM_WORLD.Dup()
        self._payload = np.empty(0, np.uint8)

    def close(self) -> None:
        """Free the communicator."""
        self._comm.Free()

    def pair(self, one: int, other: int) -> MeasuredLink | None:
        """Measure the link between two members; return it at the first of them, None elsewhere.

        Other pairs may measure theirs at the same time.
        """
        if self._members.rank == one:
            return _Starter(self, other).measure()
        if self._members.rank == other:
            _Follower(self, one).follow()
        return None

    def together(self, bandwidth: float) -> Together:
        """Measure with all members at once.

        Args:
            bandwidth: bytes per second to expect.
        """
        members, size = self._members, self._members.size
        bandwidth = members.first_of(bandwidth)
        nbytes = int(min(max(bandwidth * self.seconds, _SMALLEST), _LARGEST))
        repeats = round(min(max(bandwidth * self.seconds / (2 * nbytes), _FEWEST), _MOST))
        neighbours = (members.rank + 1) % size, (members.rank - 1) % size
        small = self._slowest(lambda: self.exchange(neighbours, 1), 5 * _FEWEST)
        large = self._slowest(lambda: self.exchange(neighbours, nbytes), repeats)
        agreement = self._slowest(members.agree, 5 * _FEWEST)
        return Together(small, 2 * nbytes / max(large - small, 1e-9), agreement)

    def rate(self) -> float:
        """Measure the speed of a member while all compute, as a share of its speed alone."""
        work = computing_work()
        work()  # for the first time
        alone = self._least(work, 0)
        together = self._least(work, None)
        times = self._members.all_of((alone, together))
        return min(1.0, times[0][0] / max(each for _, each in times))

    def _least(self, work: Callable[[], object], only: int | None) -> float:
        """Return the least seconds of ``work``, done by one member while the others sleep, or by
        all at once."""
        self._members.agree()
        seconds = math.inf
        end = time.perf_counter() + self.seconds
        while time.perf_counter() < end:
            if only in (None, self._members.rank):
                start = time.perf_counter()
                work()
                seconds = min(seconds, time.perf_counter() - start)
            else:
                time.sleep(self.seconds / 10)
        self._members.agree()
        return seconds

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

    def exchange(self, neighbours: tuple[int, int], nbytes: int) -> None:
        """Send ``nbytes`` to the first neighbour, and receive as many from the second."""
        to, source = neighbours
        incoming = self._receiving(np.empty(nbytes, np.uint8), source)
        outgoing = self._sending(self.payload(nbytes), to)
        for request in incoming + outgoing:
            self._members.wait(request)

    def payload(self, nbytes: int) -> Array:
        """Return an array to send, whose memory is in use already."""
        if len(self._payload) < nbytes:
            self._payload = np.ones(nbytes, np.uint8)
        return self._payload[:nbytes]

    def send(self, array: Array, to: int) -> None:
        """Send ``array``, and wait until it may be changed."""
        for request in self._sending(array, to):
            self._members.wait(request)

    def receive(self, array: Array, source: int) -> None:
        """Wait for a message that fills ``array``."""
        for request in self._receiving(array, source):
            self._members.wait(request)

    def _sending(self, array: Array, to: int) -> list[MPI.Request]:
        size = self._members.piece
        return [self._comm.Isend(piece, to, _TAG) for piece in pieces(array, size)]

    def _receiving(self, array: Array, source: int) -> list[MPI.Request]:
        size = self._members.piece
        return [self._comm.Irecv(piece, source, _TAG) for piece in pieces(array, size)]


class _Starter:
    """The member that measures a link, by asking the other one to answer."""

    def __init__(self, meter: LinkMeter, other: int) -> None:
        self._meter = meter
        self._other = other
        self._answer = np.empty(1, np.uint8)

    def measure(self) -> MeasuredLink:
        self._round(_ONE_WAY, 0)  # opens the connection
        trips: list[float] = []
        end = time.perf_counter() + self._meter.seconds
        while len(trips) < _FEWEST_ECHOES or (
            len(trips) < _MOST_ECHOES and time.perf_counter() < end
        ):
            trips.append(self._round(_ONE_WAY, 0))
        trip = min(trips)  # as the times of larger messages
        size, last, seconds = _SMALLEST, (0, trip), self._best(_ONE_WAY, _SMALLEST)
        while seconds - trip < self._meter.seconds and size < _LARGEST:
            last, size = (size, seconds), 4 * size
            seconds = self._best(_ONE_WAY, size)
        # The difference leaves out what buffers on the way take in at once.
        further = (size - last[0]) / max(seconds - last[1], 1e-9)
        bandwidth = min(further, size / max(seconds - trip, 1e-9))
        both = 2 * size / max(self._best(_BOTH_WAYS, size) - trip, 1e-9)
        self._meter.send(np.array([_END, 0], np.int64), self._other)
        return MeasuredLink(median(trips) / 2, bandwidth, both)

    def _best(self, kind: int, nbytes: int) -> float:
        times: list[float] = []
        end = time.perf_counter() + self._meter.seconds
        while len(times) < _FEWEST or (len(times) < _MOST and time.perf_counter() < end):
            times.append(self._round(kind, nbytes))
        return min(times)

    def _round(self, kind: int, nbytes: int) -> float:
        """Send ``nbytes``, and in one kind receive as many; return the seconds until the answer."""
        payload = self._meter.payload(nbytes)
        start = time.perf_counter()
        self._meter.send(np.array([kind, nbytes], np.int64), self._other)
        if kind == _BOTH_WAYS:
            self._meter.exchange((self._other, self._other), nbytes)
        elif nbytes:
            self._meter.send(payload, self._other)
        self._meter.receive(self._answer, self._other)
        return time.perf_counter() - start


class _Follower:
    """The member that answers."""

    def __init__(self, meter: LinkMeter, other: int) -> None:
        self._meter = meter
        self._other = other

    def follow(self) -> None:
        order = np.empty(2, np.int64)
        while True:
            self._meter.receive(order, self._other)
            kind, nbytes = map(int, order)
            if kind == _END:
                return
            if kind == _BOTH_WAYS:
                self._meter.exchange((self._other, self._other), nbytes)
            elif nbytes:
                self._meter.receive(np.empty(nbytes, np.uint8), self._other)
            self._meter.send(np.zeros(1, np.uint8), self._other)


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
        together = meter.together(link.bandwidth)
        return members.first_of(link_model(link, together, members.size))
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
            together = replace(meter.together(slowest), rate=meter.rate())
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
    with limited_to(max(1, (os.cpu_count() or 1) // place.slots)):  # as members train
        result = all_links(members, hosts)
    if result is not None:
        link.send({"result": result})
    link.end(0, "")
    return 0
