"""The members of a run: processes that execute one program together, on one machine or on several.

Every member runs the whole program, and so builds the same graphs and makes the same calls in the
same order. It computes only what is placed on its own devices. Whatever the program reads, fetches
and values of variables, comes from the member whose device has it. Decisions that depend on a clock
or a signal are made by one member for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from playgrad.devices.machines import full_name
from playgrad.errors import MembersDifferError
from playgrad.graph.spec import TensorSpec
from playgrad.runtime.run_digest import RunDigest
from playgrad.runtime.trace import Event, Trace
from playgrad.runtime.transport import LocalTransport, NewArray, TensorChannel, Transport

Array = np.ndarray[Any, Any]
V = TypeVar("V")
_SHOWN = (1 << 32) - 1


class Held(NamedTuple):
    """An array that one member has: its rank, shape and dtype; None in place of the others'."""

    holder: int
    spec: TensorSpec
    array: Array | None


class Members(Protocol):
    """The members of a run, as one of them sees it.

    Every method that sends or waits is *collective*: all members call it, in the same order.

    Attributes:
        rank: the number of this member.
        size: the number of members.
    """

    rank: int
    size: int

    def owner(self, device: str) -> int:
        """Return the rank of the member that has ``device``.

        Raises:
            DeviceError: no member has it.
        """
        ...

    def new_transport(self, channels: Sequence[TensorChannel], new_array: NewArray) -> Transport:
        """Return what carries tensors on ``channels``, which all members number in this order.

        Args:
            new_array: returns an array for what is received.
        """
        ...

    def share(self, arrays: Sequence[Held]) -> list[Array]:
        """Return copies of arrays that each one member holds. Collective."""
        ...

    def begin_run(self, run: RunDigest) -> None:
        """Begin to compare what all members are about to compute, without waiting: `agree` ends it.
        Collective."""
        ...

    def agree(self, error: BaseException | None = None, stop: bool = False) -> bool:
        """End the computing of a run, before it changes any variable. Collective.

        Args:
            error: the error with which this member's part of the run ended.
            stop: whether this member was asked to stop.

        Returns:
            Whether any member was asked to stop.

        Raises:
            MembersDifferError: the members compute different programs, or with different feeds.
            BaseException: the error of the first member that failed, at all members.
        """
        ...

    def first_of(self, value: V) -> V:
        """Return the first member's ``value``. Collective."""
        ...

    def all_of(self, value: V) -> list[V]:
        """Return the values of all members, in order of their ranks. Collective."""
        ...

    def exchange(self, outgoing: Sequence[Any]) -> list[Any]:
        """Send an object to each member; return what each has sent to this one. Collective.

        Args:
            outgoing: by the rank of the receiver; None sends nothing.
        """
        ...

    def clocks_ahead(self) -> list[float]:
        """Return by how many seconds the clock of each member (``time.perf_counter``) is ahead of
        the first one's. Collective."""
        ...

    def give_up(self, error: BaseException) -> None:
        """End all members: some may have changed variables, and others not."""
        ...


class Alone:
    """The only member of a run: every device is its own."""

    rank = 0
    size = 1

    def owner(self, device: str) -> int:
        return 0

    def new_transport(self, channels: Sequence[TensorChannel], new_array: NewArray) -> Transport:
        return LocalTransport(channels)

    def share(self, arrays: Sequence[Held]) -> list[Array]:
        copies = []
        for held in arrays:
            assert held.array is not None
            copies.append(held.array.copy())
        return copies

    def begin_run(self, run: RunDigest) -> None:
        pass

    def agree(self, error: BaseException | None = None, stop: bool = False) -> bool:
        if error is not None:
            raise error
        return stop

    def first_of(self, value: V) -> V:
        return value

    def all_of(self, value: V) -> list[V]:
        return [value]

    def exchange(self, outgoing: Sequence[Any]) -> list[Any]:
        return list(outgoing)

    def clocks_ahead(self) -> list[float]:
        return [0.0]

    def give_up(self, error: BaseException) -> None:
        raise error


ALONE = Alone()
_current: Members = ALONE


def current_members() -> Members:
    """Return the members of the run that this process takes part in."""
    return _current


def check_same(members: Members, what: str, digest: int) -> None:
    """Check that ``digest`` of ``what`` is the same at all members. Collective.

    Raises:
        MembersDifferError: it is not.
    """
    if members.size > 1:
        digests = members.all_of(digest)
        if len(set(digests)) > 1:
            other = next(rank for rank, each in enumerate(digests) if each != digests[0])
            raise MembersDifferError(
                f"{what} differs between the members of the run, which must all do the same: "
                f"member {other} has digest {digests[other] & _SHOWN:08x}, and member 0 has "
                f"{digests[0] & _SHOWN:08x}.",
                hint="Give random numbers a seed, and read the same files on every machine.",
            )


def gather_events(members: Members, trace: Trace, since: int) -> None:
    """Let the ``trace`` of each member have the events of all, by the first one's clock, and with
    the full names of devices. Collective.

    Args:
        since: the number of events that it had before the run; all members have them.
    """
    if members.size == 1:
        return
    ahead = members.clocks_ahead()
    everyone = members.all_of((trace.events[since:], trace.clocks, trace.round_trips))
    del trace.events[since:]
    for table in (trace.clocks, trace.round_trips):
        table.clear()
    for (events, clocks, trips), seconds in zip(everyone, ahead, strict=True):
        trace.events += [_on_one_clock(event, seconds) for event in events]
        trace.clocks.update({full_name(device): clock for device, clock in clocks.items()})
        trace.round_trips.update({full_name(device): trip for device, trip in trips.items()})


def _on_one_clock(event: Event, ahead: float) -> Event:
    """Return ``event`` of a member whose clock is ``ahead`` of the first one's."""
    return replace(
        event,
        device=full_name(event.device),
        queued=event.queued - ahead,
        start=event.start - ahead,
        end=event.end - ahead,
    )


@contextmanager
def members_set(members: Members) -> Iterator[None]:
    """Run with ``members`` within the block: sessions opened there belong to all of them."""
    global _current
    before, _current = _current, members
    try:
        yield
    finally:
        _current = before
