"""The transport of tensors between the members of a run, over MPI."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from mpi4py import MPI

from playgrad.cluster.mpi_driver import Driven
from playgrad.compiler.split import TensorChannel, receiver_of, sender_of
from playgrad.dtypes import dtype
from playgrad.graph.spec import TensorSpec
from playgrad.runtime.trace import Event
from playgrad.runtime.transport import LocalTransport, NewArray, sums_of

Array = np.ndarray[Any, Any]
TAGS = 1 << 20
"""Tags in use at once. MPI guarantees far fewer, but Open MPI and MPICH have 2^28 and more."""
_PIECE, _WHOLE = 1 << 20, 1 << 30
"""The most bytes of a message between machines, where MPI asks the receiver before it sends more
than `playgrad.cluster.launch.EAGER`, and within one, where the receiver copies the sender's memory.
Larger tensors are sent in several messages."""


class MpiExchange(Protocol):
    """The part of `MpiMembers` that the transport calls; the explanations are there."""

    rank: int
    tensors: MPI.Intracomm
    piece: int

    def owner(self, device: str) -> int: ...

    def prepare_sums(self, ranks: tuple[int, ...]) -> None: ...

    def begin_sum(self, ranks: tuple[int, ...], term: Array, total: Array) -> Driven: ...

    def end_sum(self, driven: Driven) -> float: ...

    def wait(self, request: MPI.Request, heeds_alarm: bool = False) -> None: ...

    def abandon(self, item: object) -> None: ...


class MpiTransport:
    """Carries the tensors of one program: between members by MPI, within one by its memory.

    Args:
        first: the tag of the first channel.
        new_array: returns an array for what is received.
    """

    def __init__(
        self,
        members: MpiExchange,
        channels: Sequence[TensorChannel],
        first: int,
        new_array: NewArray,
    ) -> None:
        self._members = members
        self._new_array = new_array
        self._local = LocalTransport()
        self._comm = members.tensors
        self._sums = {
            name: tuple(members.owner(sender_of(each)) for each in group)
            for name, group in sums_of(channels).items()
        }
        for ranks in self._sums.values():
            members.prepare_sums(ranks)
        self._adding: dict[str, tuple[Driven, Array, Array, float]] = {}
        self._events: list[Event] = []
        self._tags = {each.name: (first + i) % TAGS for i, each in enumerate(channels)}
        self._channels = {channel.name: channel for channel in channels}
        self._sending: list[tuple[MPI.Request, Array]] = []

    def put(self, channel: str, array: Array) -> None:
        if channel in self._sums:
            term = np.ascontiguousarray(array)
            total = self._new_array(self._channels[channel])
            driven = self._members.begin_sum(self._sums[channel], term, total)
            self._adding[channel] = (driven, total, term, time.perf_counter())
            return
        to = self._members.owner(receiver_of(channel))
        if to == self._members.rank:
            self._local.put(channel, array)
            return
        whole = np.ascontiguousarray(array)
        for piece in pieces(whole, self._members.piece):
            self._sending.append((self._comm.Isend(piece, to, self._tags[channel]), whole))

    def get(self, channel: str) -> Array:
        if channel in self._sums:
            driven, total, _, start = self._adding[channel]
            end = self._members.end_sum(driven)
            name, track = channel.rpartition("/")[0], f"{sender_of(channel)} (sums)"
            self._events.append(Event(name, track, start, start, end, "receive", total.nbytes))
            return total
        sender = self._members.owner(sender_of(channel))
        if sender == self._members.rank:
            return self._local.get(channel)
        buffer = self._new_array(self._channels[channel])
        requests = [
            self._comm.Irecv(piece, sender, self._tags[channel])
            for piece in pieces(buffer, self._members.piece)
        ]
        try:
            for request in requests:
                self._members.wait(request, heeds_alarm=True)
        except BaseException:
            self._members.abandon((requests, buffer))
            raise
        return buffer

    def clear(self) -> None:
        if self._comm is not self._members.tensors:
            self._members.abandon((self._sending, self._adding))  # after a run that failed
            return
        for request, _ in self._sending:
            self._members.wait(request)
        self._sending.clear()
        self._adding.clear()
        self._events.clear()

    def events(self) -> list[Event]:
        return list(self._events)


def empty(spec: TensorSpec) -> Array:
    """Return an array of a spec, with any content."""
    return np.empty(spec.static_shape, dtype(spec.dtype).numpy)


def longest_piece(world: MPI.Intracomm) -> int:
    """Return the most bytes of a message between the processes of ``world``. Collective."""
    here = world.Split_type(MPI.COMM_TYPE_SHARED)
    piece = _PIECE if here.size < world.size else _WHOLE
    here.Free()
    return piece


def pieces(array: Array, size: int) -> Iterator[list[Any]]:
    """Yield the bytes of a contiguous array in messages of at most ``size``, as MPI takes them."""
    content = array.reshape(-1).view(np.uint8)
    for start in range(0, max(content.size, 1), size):
        yield [content[start : start + size], MPI.BYTE]


def as_bytes(array: Array) -> list[Any]:
    """Return the bytes of a contiguous array as MPI takes them."""
    return [array.reshape(-1).view(np.uint8), MPI.BYTE]
