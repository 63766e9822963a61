"""Joining a run as one of its members."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from playgrad.cluster.hosts import HostSlots
from playgrad.cluster.link import ADDRESS, TOKEN, Link, LinkedStream, SilentStream
from playgrad.devices.machines import machines_set
from playgrad.devices.registry import reset_logical_devices, set_logical_devices
from playgrad.errors import DeviceError, as_of_another_member, portable_error
from playgrad.io.writing import writing
from playgrad.parallel.collectives.choice import links_set
from playgrad.runtime.blas import limited_to
from playgrad.runtime.members import Members, members_set


def is_member() -> bool:
    """Return whether this process was started as a member of a run."""
    return ADDRESS in os.environ and TOKEN in os.environ


class Membership:
    """The part of one process in a run.

    Only the first member writes to the standard streams, through the supervisor: all would write
    the same. Errors are told to the supervisor when the member ends.

    Args:
        hosts: the machines of the run.

    Raises:
        OSError: the supervisor cannot be reached.

    Attributes:
        text: what to tell of the error that ends the member.
    """

    def __init__(self, hosts: Sequence[HostSlots]) -> None:
        from playgrad.cluster.mpi import MpiMembers

        self.text = ""
        self._members = MpiMembers()
        rank = self._members.rank
        self._places = [host for host in hosts for _ in range(host.slots)]
        self._link = Link(os.environ[ADDRESS], os.environ[TOKEN], rank)
        if rank == 0:
            sys.stdout = LinkedStream(self._link, "stdout")
            sys.stderr = LinkedStream(self._link, "stderr")
        else:
            sys.stdout = sys.stderr = SilentStream()

    @contextmanager
    def joined(self, kind: str) -> Iterator[Members]:
        """Compute with the other members within the block.

        Member ``r`` has the device ``<kind>:r``, and is the only one that does.

        Args:
            kind: "cpu" or "gpu".
        """
        from playgrad.cluster.links import measured_link

        members = self._members
        place = self._places[members.rank]
        set_logical_devices(**{"cpu": members.size, kind: members.size})
        before = writing.once, writing.here
        writing.once, writing.here = self._once, self._is_first_of_machine
        share = max(1, (os.cpu_count() or 1) // place.slots)
        try:
            with (
                members_set(members),
                machines_set([each.name for each in self._places]),
                limited_to(share),
                links_set(measured_link(members)),
            ):
                yield members
        finally:
            writing.once, writing.here = before
            reset_logical_devices()

    def end(self, code: int) -> None:
        """Tell the supervisor that this member ends with ``code``."""
        self._link.end(code, self.text)

    @property
    def _is_first_of_machine(self) -> bool:
        rank = self._members.rank
        return rank == 0 or self._places[rank - 1] != self._places[rank]

    def _once(self, write: Callable[[], None]) -> None:
        """Write a file on each machine once, and have all wait until it is there.

        Raises:
            Exception: any of them failed, at all members.
        """
        failure: Exception | None = None
        if self._is_first_of_machine:
            try:
                write()
            except Exception as error:
                failure = error
        errors = self._members.all_of(None if failure is None else portable_error(failure))
        if failure is not None:
            raise failure
        for each in errors:
            if each is not None:
                raise as_of_another_member(each)


def kind_for(device: str) -> str:
    """Return the kind of device of every member, from the option ``--device``.

    Raises:
        DeviceError: a single device is named.
    """
    if ":" in device:
        raise DeviceError(
            f"each process of --hosts has a device of its own, so --device {device} is too few.",
            hint="Use --device cpu or --device gpu.",
        )
    return "cpu" if device == "auto" else device
