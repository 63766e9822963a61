"""The executor's threads: one for each device, and a pool for heavy tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

from playgrad.runtime.tasks import SegmentTask, Task

Job = tuple[Callable[[], None], "Future[None]"]


class DeviceThread:
    """The thread of one device, which does the device's work in order.

    It is a daemon, unlike the threads of a ``ThreadPoolExecutor``: a device that never answers must
    not keep the process from exiting.
    """

    def __init__(self, device: str) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        thread = threading.Thread(target=self._work, name=f"playgrad-{device}", daemon=True)
        try:
            thread.start()
        except BaseException:  # a stop while it waits for the thread to start
            self.close()
            raise

    def start(self, work: Callable[[], None]) -> Future[None]:
        """Do ``work`` on the thread, after all work that was started before."""
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


class Threads:
    """Threads that are started when they are first needed."""

    def __init__(self) -> None:
        self._devices: dict[str, DeviceThread] = {}
        self._pool: ThreadPoolExecutor | None = None

    def of_device(self, device: str) -> DeviceThread:
        """Return the thread of ``device``."""
        if device not in self._devices:
            self._devices[device] = DeviceThread(device)
        return self._devices[device]

    def pool(self, size: int) -> ThreadPoolExecutor:
        """Return the pool for heavy tasks, of ``size`` threads when it is first needed."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(size, "playgrad-cpu")
        return self._pool

    def abandon(self, task: Task) -> None:
        """Abandon the thread in which ``task`` hangs: its device's, or one of the pool."""
        if isinstance(task, SegmentTask):
            task.give_up()
            if task.device in self._devices:
                self._devices.pop(task.device).close()
        elif self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    def close(self) -> None:
        """End the threads. They start again when they are needed."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        for thread in self._devices.values():
            thread.close()
        self._devices.clear()
