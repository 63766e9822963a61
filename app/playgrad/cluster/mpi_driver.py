"""Progress of MPI's requests while the program computes: MPI works only when it is called."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

Array = np.ndarray[Any, Any]
NAP = 50e-6
"""Seconds between two looks at a request."""


class Driven:
    """A request that only its `Driver` looks at: MPI demands that one thread does at a time.

    Args:
        request: of MPI.
        buffers: what it reads and writes, which mpi4py does not keep.

    Attributes:
        end: since when it is done, in seconds of ``time.perf_counter``; None until then.
    """

    def __init__(self, request: MPI.Request, buffers: Sequence[Array]) -> None:
        self.request = request
        self.buffers = buffers
        self.end: float | None = None


class Driver:
    """A thread that lets MPI make progress with requests while other threads compute."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: list[Driven] = []
        self._wakeup = threading.Event()
        self._thread: threading.Thread | None = None

    def drive(self, driven: Driven) -> Driven:
        """Drive ``driven`` until it is done; return it."""
        with self._lock:
            self._under_way.append(driven)
        self._wakeup.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        return driven

    def is_done(self, driven: Driven) -> bool:
        """Return whether ``driven`` is done. A thread that waits looks itself: to wait for the
        other one to look would take as long as Python needs to change threads."""
        self._look()
        return driven.end is not None

    def forget_all(self) -> None:
        """Drive nothing any more."""
        with self._lock:
            self._under_way.clear()

    def _work(self) -> None:
        while True:
            self._wakeup.wait()
            self._wakeup.clear()
            while self._under_way:
                self._look()
                time.sleep(NAP)

    def _look(self) -> None:
        with self._lock:
            for driven in self._under_way:
                if driven.request.Test():
                    driven.end = time.perf_counter()
            self._under_way = [each for each in self._under_way if each.end is None]
