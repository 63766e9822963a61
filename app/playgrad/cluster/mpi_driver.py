"""Progress of MPI's requests while the program computes: MPI works only when it is called."""

from __future__ import annotations

import threading
import time

from mpi4py import MPI

NAP = 50e-6
"""Seconds between two looks at a request."""


class Driven:
    """A request that the thread of a `Driver` alone looks at, as MPI demands.

    Attributes:
        end: since when it is done, in seconds of ``time.perf_counter``; None until then.
    """

    def __init__(self, request: MPI.Request) -> None:
        self.request = request
        self.end: float | None = None


class Driver:
    """A thread that lets MPI make progress with requests while other threads compute."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: list[Driven] = []
        self._wakeup = threading.Event()
        self._thread: threading.Thread | None = None

    def drive(self, request: MPI.Request) -> Driven:
        """Drive ``request`` until it is done."""
        driven = Driven(request)
        with self._lock:
            self._under_way.append(driven)
        self._wakeup.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()
        return driven

    def forget_all(self) -> None:
        """Drive nothing any more."""
        with self._lock:
            self._under_way.clear()

    def _work(self) -> None:
        while True:
            self._wakeup.wait()
            self._wakeup.clear()
            while self._under_way:
                with self._lock:
                    for driven in self._under_way:
                        if driven.request.Test():
                            driven.end = time.perf_counter()
                    self._under_way = [each for each in self._under_way if each.end is None]
                time.sleep(NAP)
