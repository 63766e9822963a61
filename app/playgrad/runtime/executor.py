"""The ready-queue executor.

A table holds how many predecessors each task still waits for. Tasks that wait for none are ready;
finishing one lowers the counts of its successors. Ready tasks are independent, so they may run at
the same time:

- where several devices work segment by segment, they do so at the same time. On the desktop each
  has a lane, a thread of its own, so that its memory stays in one core's cache. A lane that ends a
  segment goes on with its device's next one, and wakes those whose turn it is. In a page, which has
  one thread for Python, a segment is a call to the device's worker that is not waited for;
- heavy single operations of the processor are handed to a pool of threads. All others run on the
  calling thread, as handing over a small one costs more than doing it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from playgrad.devices.pending import TIMEOUT_SECONDS
from playgrad.runtime.blas import shared_among
from playgrad.runtime.lanes import Lane
from playgrad.runtime.run import Run
from playgrad.runtime.tasks import SegmentTask, Task
from playgrad.runtime.trace import Trace


def default_threads() -> int:
    """Threads worth having: one a core; none in a browser, where Python has a single one."""
    return 0 if sys.platform == "emscripten" else (os.cpu_count() or 1)


class Executor:
    """Runs lists of tasks in any order that their edges allow.

    Args:
        threads: size of the pool for heavy tasks; 0 or 1 runs everything on the calling thread,
            except that devices with lanes still work at the same time.
        choose: picks the next task from the ready ones (their positions); the first by default.
            Tests use it to try other legal orders.

    Attributes:
        timeout: seconds after which devices that have ended no task are given up.
        delays: seconds that each segment of a device is held up, by device: to see what a slow
            member does to the others.
    """

    def __init__(
        self, threads: int | None = None, choose: Callable[[Sequence[int]], int] | None = None
    ) -> None:
        self.threads = default_threads() if threads is None else threads
        self.choose = choose
        self.timeout = TIMEOUT_SECONDS
        self.delays: Mapping[str, float] = {}
        self._pool: ThreadPoolExecutor | None = None
        self._lanes: dict[str, Lane] = {}

    def run(
        self,
        tasks: Sequence[Task],
        trace: Trace | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Run all ``tasks``. The first error ends the run, after what has begun has ended.

        What does not end within ``timeout`` is left to itself.

        Raises:
            RuntimeError: tasks wait for each other in a circle.
            KeyboardInterrupt: ``stop`` answered true between two tasks.
            DeviceTimeoutError: a device does not come to an end.
        """
        if len(tasks) == 1 and trace is None and not self.delays:
            _run_only(tasks[0], stop)  # most training steps: there is nothing to keep order of
            return
        devices = {task.device for task in tasks if isinstance(task, SegmentTask)}
        with shared_among(sum(device.startswith("cpu") for device in devices)):
            Run(self, tasks, trace, stop).run()

    def lane(self, device: str) -> Lane:
        """The thread that works for ``device``."""
        if device not in self._lanes:
            self._lanes[device] = Lane(device)
        return self._lanes[device]

    def pool(self) -> ThreadPoolExecutor:
        """The threads for heavy tasks."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, "playgrad-cpu")
        return self._pool

    def forget(self, task: Task) -> None:
        """Leave the thread that ``task`` hangs in to itself: a lane, or one of the pool."""
        if isinstance(task, SegmentTask):
            task.give_up()
            if task.device in self._lanes:
                self._lanes.pop(task.device).close()
        elif self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        for lane in self._lanes.values():
            lane.close()
        self._lanes.clear()


def _run_only(task: Task, stop: Callable[[], bool] | None) -> None:
    if stop is not None and stop():
        raise KeyboardInterrupt
    if isinstance(task, SegmentTask):
        for pending in task.steps(0.0, None):
            pending.wait()
    else:
        task.work()
