"""Clocks of the members of a run, which count from when each machine was started."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from mpi4py import MPI

_TAG = 2
_READINGS = 8
"""Readings of another member's clock. The one with the quickest answer counts (Cristian 1989)."""


def clock_name() -> str:
    """Return a name that is equal in all processes with one ``time.perf_counter``; empty where the
    system does not say."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()
        return boot + os.readlink("/proc/self/ns/time")
    except OSError:
        return ""


def clocks_ahead(
    comm: MPI.Intracomm, names: Sequence[str], wait: Callable[[MPI.Request], None]
) -> list[float]:
    """Return by how many seconds the clock of each member is ahead of the first one's, as far as
    this member knows: the first one knows all. Collective.

    It is off by at most half of the time in which the member answers.

    Args:
        names: the `clock_name` of each member.
        wait: waits for a request.
    """
    ahead = [0.0] * comm.size
    for rank in range(1, comm.size):
        if names[rank] and names[rank] == names[0]:
            continue
        if comm.rank == 0:
            ahead[rank] = min(_reading(comm, rank, wait) for _ in range(_READINGS))[1]
        elif comm.rank == rank:
            for _ in range(_READINGS):
                wait(comm.Irecv(np.empty(0), 0, _TAG))
                wait(comm.Isend(np.array([time.perf_counter()]), 0, _TAG))
    return ahead


def _reading(
    comm: MPI.Intracomm, rank: int, wait: Callable[[MPI.Request], None]
) -> tuple[float, float]:
    """Return the seconds until a member has answered, and by how many its clock is ahead."""
    answer = np.empty(1)
    before = time.perf_counter()
    wait(comm.Isend(np.empty(0), rank, _TAG))
    wait(comm.Irecv(answer, rank, _TAG))
    after = time.perf_counter()
    return after - before, float(answer[0]) - (before + after) / 2
