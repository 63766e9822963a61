"""One step in which all members compare what they do: one reduction of six numbers over MPI."""

from __future__ import annotations

import threading
from zlib import crc32

import numpy as np
from mpi4py import MPI

CALL, RUN = 0, 1
"""Kinds of comparisons: a call that waits for all, and a run that begins."""


class MemberComparison:
    """Compares a call with the calls that the other members make at this point.

    MPI finds the largest of each number. Of a number and its negative, these are the largest and
    the smallest, and so tell whether all are equal.

    Args:
        comm: where all members compare, in the same order.
        kind: `CALL` or `RUN`.
        call: the call in words.
        numbers: up to two more.
    """

    def __init__(self, comm: MPI.Intracomm, kind: int, call: str, *numbers: int) -> None:
        code = crc32(call.encode())
        self._kind = kind
        self._own = np.array([code, -code, kind, -kind, *numbers, 0, 0][:6], np.int64)
        self._largest = np.empty_like(self._own)
        self._lock = threading.Lock()  # several devices may wait
        self._request = comm.Iallreduce(self._own, self._largest, MPI.MAX)

    def is_done(self) -> bool:
        """Return whether all members have come here."""
        with self._lock:
            return self._request.Test()

    @property
    def is_one_kind(self) -> bool:
        """Whether all members made comparisons of this kind."""
        return bool(self._largest[2] == -self._largest[3])

    @property
    def differs(self) -> bool:
        """Whether members made other calls, or begin runs with other feeds."""
        largest = self._largest
        return not (
            self.is_one_kind
            and largest[0] == -largest[1]
            and (self._kind == CALL or largest[4] == -largest[5])
        )

    @property
    def numbers(self) -> tuple[int, int]:
        """The largest of each of the two numbers."""
        return int(self._largest[4]), int(self._largest[5])
