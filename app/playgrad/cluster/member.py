"""Joining a run as one of its members."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from playgrad.devices.registry import reset_logical_devices, set_logical_devices
from playgrad.runtime.members import Members, members_set


@contextmanager
def joined() -> Iterator[Members]:
    """Take part in the run that this process was started for, within the block.

    Member ``r`` has the device ``cpu:r``, and ``gpu:r`` on one of its machine's adapters.
    """
    from playgrad.cluster.mpi import MpiMembers

    members = MpiMembers()
    set_logical_devices(cpu=members.size)
    try:
        with members_set(members):
            yield members
    finally:
        reset_logical_devices()
