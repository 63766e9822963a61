"""Lanes: each device does its own work in order, at the same time as the others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue

Job = tuple[Callable[[], None], "Future[None]"]


class Lane:
    """One device's thread.

    It is a daemon, unlike those of a ``ThreadPoolExecutor``: a device that never answers must not
    keep the process from ending.
    """

    def __init__(self, device: str) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        thread = threading.Thread(target=self._work, name=f"playgrad-{device}", daemon=True)
        try:
            thread.start()
        except BaseException:  # a stop while it waits for the thread to begin
            self.close()
            raise

    def start(self, work: Callable[[], None]) -> Future[None]:
        """Have ``work`` done after what was started before."""
        future: Future[None] = Future()
        self._jobs.put((work, future))
        return future

    def close(self) -> None:
        """End the thread once its work is done."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            work, future = job
            try:
                work()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(None)
            del job, work, future  # or the last run's values would live until the next
