"""The ready-queue executor.

A table holds the number of predecessors that each task still waits for. Tasks that wait for none
are ready; the end of a task lowers the counts of its successors. Ready tasks are independent, so
they may run at the same time:

- Devices that work segment by segment run at the same time. On a desktop each has its own thread,
  which keeps the device's memory in one core's cache. A thread that ends a segment continues with
  its device's next one, and wakes the threads of other devices whose segments became ready. In a
  page, which has one thread for Python, a segment is a call to the device's worker that is not
  waited for. Such calls come first; between the operations of cpu:0, which that thread computes
  itself, it begins calls that have become ready.
- Heavy operations of the processor go to a pool of threads. All others run on the calling thread:
  handing over a small operation costs more than running it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from playgrad.devices.kinds import kind_of
from playgrad.devices.pending import TIMEOUT_SECONDS
from playgrad.runtime.blas import shared_among
from playgrad.runtime.run import Run
from playgrad.runtime.tasks import SegmentTask, Task, never
from playgrad.runtime.threads import Threads
from playgrad.runtime.trace import Trace


def default_threads() -> int:
    """Return the number of threads to use: one for each core, or 0 in a browser, where Python has
    only one."""
    return 0 if sys.platform == "emscripten" else (os.cpu_count() or 1)


class Executor:
    """Runs lists of tasks in any order that their edges allow.

    Args:
        threads: number of threads for heavy tasks, the calling one included; with 0 or 1 they all
            run on the calling thread. Device threads are not counted.
        choose: picks the next task from the positions of the ready ones; by default the first.
            Tests use it to try other legal orders.

    Attributes:
        timeout: seconds without the end of a task after which devices are abandoned.
        delays: seconds by which each segment of a device is delayed, by device name, to show the
            effect of a slow device on the others.
    """

    def __init__(
        self, threads: int | None = None, choose: Callable[[Sequence[int]], int] | None = None
    ) -> None:
        self.threads = default_threads() if threads is None else threads
        self.choose = choose
        self.timeout = TIMEOUT_SECONDS
        self.delays: Mapping[str, float] = {}
        self._threads = Threads()

    def run(
        self,
        tasks: Sequence[Task],
        trace: Trace | None = None,
        stop: Callable[[], bool] | None = None,
        commit: Callable[[], None] = lambda: None,
    ) -> None:
        """Run all ``tasks``. The first error ends the run, once the tasks that have begun have
        ended; if a final task is among them, once all that do not need the failed one have.

        Tasks that do not end within ``timeout`` are abandoned.

        Args:
            commit: is called in the end, but not if an error came before the first final task.

        Raises:
            RuntimeError: the tasks have a circular dependency.
            KeyboardInterrupt: ``stop`` returned true between two tasks.
            DeviceTimeoutError: a device did not finish in time.
        """
        if len(tasks) == 1 and trace is None and not self.delays:
            _run_only(tasks[0], stop)  # most training steps: nothing needs to be ordered
            commit()
            return
        devices = {task.device for task in tasks if isinstance(task, SegmentTask)}
        with shared_among(sum(kind_of(device).on_cores for device in devices)):
            Run(
                tasks,
                self._threads,
                size=self.threads,
                choose=self.choose,
                timeout=self.timeout,
                delays=self.delays,
                trace=trace,
                stop=stop,
                commit=commit,
            ).run()

    def close(self) -> None:
        """End the threads."""
        self._threads.close()


def _run_only(task: Task, stop: Callable[[], bool] | None) -> None:
    if stop is not None and stop():
        raise KeyboardInterrupt
    if isinstance(task, SegmentTask):
        for pending in task.coroutine(0.0, None, never):
            pending.wait()
    else:
        task.work()
