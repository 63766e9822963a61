"""Messages between members whose times are measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from mpi4py import MPI

from playgrad.cluster.mpi_transport import pieces
from playgrad.parallel.collectives.links import MeasuredLink

Array = np.ndarray[Any, Any]
_END, _ONE_WAY, _BOTH_WAYS = range(3)
_TAG = 0
SMALLEST, LARGEST = 1 << 16, 1 << 22
"""Bytes of messages. The largest are those of most gradients: within a machine, larger ones move
more slowly, since they do not fit in its caches, and new memory is mapped for each."""
FEWEST, MOST = 3, 15
"""Repetitions of a measurement, as many as there is time for; the least time counts."""
_FEWEST_ECHOES, _MOST_ECHOES = 20, 100


class PairMessages:
    """Sends and receives as a run does.

    Args:
        comm: for these messages only.
        piece: the most bytes of a message.
        wait: waits for a request.
    """

    def __init__(
        self, comm: MPI.Intracomm, piece: int, wait: Callable[[MPI.Request], None]
    ) -> None:
        self._comm = comm
        self._piece = piece
        self._wait = wait
        self._payload = np.empty(0, np.uint8)

    def exchange(self, neighbours: tuple[int, int], nbytes: int) -> None:
        """Send ``nbytes`` to the first neighbour, and receive as many from the second."""
        to, source = neighbours
        incoming = self._receiving(np.empty(nbytes, np.uint8), source)
        outgoing = self._sending(self.payload(nbytes), to)
        for request in incoming + outgoing:
            self._wait(request)

    def payload(self, nbytes: int) -> Array:
        """Return an array to send, whose memory is in use already."""
        if len(self._payload) < nbytes:
            self._payload = np.ones(nbytes, np.uint8)
        return self._payload[:nbytes]

    def send(self, array: Array, to: int) -> None:
        """Send ``array``, and wait until it may be changed."""
        for request in self._sending(array, to):
            self._wait(request)

    def receive(self, array: Array, source: int) -> None:
        """Wait for a message that fills ``array``."""
        for request in self._receiving(array, source):
            self._wait(request)

    def _sending(self, array: Array, to: int) -> list[MPI.Request]:
        return [self._comm.Isend(piece, to, _TAG) for piece in pieces(array, self._piece)]

    def _receiving(self, array: Array, source: int) -> list[MPI.Request]:
        return [self._comm.Irecv(piece, source, _TAG) for piece in pieces(array, self._piece)]


class PairStarter:
    """The member that measures a link, by asking the other one to answer."""

    def __init__(self, messages: PairMessages, other: int, seconds: float) -> None:
        self._messages = messages
        self._other = other
        self._seconds = seconds
        self._answer = np.empty(1, np.uint8)

    def measure(self) -> MeasuredLink:
        self._round(_ONE_WAY, 0)  # opens the connection
        trips: list[float] = []
        end = time.perf_counter() + self._seconds
        while len(trips) < _FEWEST_ECHOES or (
            len(trips) < _MOST_ECHOES and time.perf_counter() < end
        ):
            trips.append(self._round(_ONE_WAY, 0))
        trip = min(trips)  # as the times of larger messages
        size, last, seconds = SMALLEST, (0, trip), self._best(_ONE_WAY, SMALLEST)
        while seconds - trip < self._seconds and size < LARGEST:
            last, size = (size, seconds), 4 * size
            seconds = self._best(_ONE_WAY, size)
        # The difference leaves out what buffers on the way take in at once.
        further = (size - last[0]) / max(seconds - last[1], 1e-9)
        bandwidth = min(further, size / max(seconds - trip, 1e-9))
        both = 2 * size / max(self._best(_BOTH_WAYS, size) - trip, 1e-9)
        self._messages.send(np.array([_END, 0], np.int64), self._other)
        return MeasuredLink(median(trips) / 2, bandwidth, both)

    def _best(self, kind: int, nbytes: int) -> float:
        times: list[float] = []
        end = time.perf_counter() + self._seconds
        while len(times) < FEWEST or (len(times) < MOST and time.perf_counter() < end):
            times.append(self._round(kind, nbytes))
        return min(times)

    def _round(self, kind: int, nbytes: int) -> float:
        """Send ``nbytes``, and in one kind receive as many; return the seconds until the answer."""
        payload = self._messages.payload(nbytes)
        start = time.perf_counter()
        self._messages.send(np.array([kind, nbytes], np.int64), self._other)
        if kind == _BOTH_WAYS:
            self._messages.exchange((self._other, self._other), nbytes)
        elif nbytes:
            self._messages.send(payload, self._other)
        self._messages.receive(self._answer, self._other)
        return time.perf_counter() - start


class PairFollower:
    """The member that answers."""

    def __init__(self, messages: PairMessages, other: int) -> None:
        self._messages = messages
        self._other = other

    def follow(self) -> None:
        order = np.empty(2, np.int64)
        while True:
            self._messages.receive(order, self._other)
            kind, nbytes = map(int, order)
            if kind == _END:
                return
            if kind == _BOTH_WAYS:
                self._messages.exchange((self._other, self._other), nbytes)
            elif nbytes:
                self._messages.receive(np.empty(nbytes, np.uint8), self._other)
            self._messages.send(np.zeros(1, np.uint8), self._other)
