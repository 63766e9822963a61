"""The tasks of a run: the ones ready to begin, the ones under way, and the reason of its end."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from threading import Lock

from playgrad.devices.pending import Pending
from playgrad.runtime.tasks import Attend, ReadyTable, SegmentTask, Task, delayed, never
from playgrad.runtime.trace import Event, Trace


class RunState:
    """The state of a run, which its threads change only while they hold ``lock``.

    Args:
        tasks: the tasks of the run; all others name them by their positions.
        choose: as in `Executor`.
        device_threads: whether the threads of devices run their segments.
        delays: as in `Executor`.
        trace: records the tasks, if there is one.

    Attributes:
        ready: tasks for the calling thread to run, or to hand over to the pool.
        segments: tasks for the threads of their devices.
        queued: when each task became ready.
        running: tasks that other threads than the calling one are running.
        error: the first error.
        writing: whether a final task has begun. Then a stop or an error no longer ends the run:
            whatever can still be done is done, so that all devices that are left make the step.
        ending: whether no more tasks are begun.
        last_end: when a task ended, or the run began.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        choose: Callable[[Sequence[int]], int] | None,
        device_threads: bool,
        delays: Mapping[str, float],
        trace: Trace | None,
    ) -> None:
        self.tasks = tasks
        self.lock = Lock()
        self.ready: deque[int] = deque()
        self.segments: deque[int] = deque()
        self.queued: dict[int, float] = {}
        self.running: set[int] = set()
        self.error: BaseException | None = None
        self.writing = False
        self.ending = False
        self._choose = choose
        self._device_threads = device_threads
        self._delays = delays
        self._trace = trace
        self._table = ReadyTable([task.after for task in tasks])
        self._queue(self._table.first())

    @property
    def left(self) -> int:
        """The number of tasks that have not ended."""
        return self._table.left

    def take(
        self, queue: deque[int], accepts: Callable[[int], bool] = lambda number: True
    ) -> int | None:
        """Take the next task from ``queue`` that ``accepts`` is true of; None if there is none."""
        candidates = [number for number in queue if accepts(number)]
        if not candidates:
            return None
        if self._choose is None:
            number = min(candidates, key=self.computes_here)  # the first of them
        else:
            number = self._choose(tuple(candidates))
        queue.remove(number)
        self.writing = self.writing or self.tasks[number].final
        return number

    def computes_here(self, number: int) -> bool:
        """Return whether a task computes on the thread that runs it, not on a device elsewhere."""
        task = self.tasks[number]
        return task.here if isinstance(task, SegmentTask) else True

    def finish(self, number: int) -> None:
        """Note that a task has ended, and queue the tasks that waited for it alone."""
        self._queue(self._table.finished(number))

    def wait_no_longer(self, follower: int, number: int) -> None:
        """Queue ``follower`` if it waits only for task ``number``, which has begun."""
        if self._table.remove_edge(number, follower):
            self._queue([follower])

    def fail(self, error: BaseException) -> None:
        """Note an error. No more tasks begin, unless variables are changing already: then a second
        interrupt is needed."""
        interrupted = isinstance(error, KeyboardInterrupt)
        again = interrupted and isinstance(self.error, KeyboardInterrupt)
        self.ending = self.ending or again or not self.writing
        self.error = self.error or error

    @property
    def is_observed(self) -> bool:
        """True if each task is to begin when the device's last one has ended, not earlier."""
        return self._trace is not None or bool(self._delays)

    def run_whole(self, number: int) -> None:
        """Run a task on any thread, and wait until it is done. Needs no lock."""
        task = self.tasks[number]
        if isinstance(task, SegmentTask):
            for pending in self.coroutine(number, never):
                pending.wait()
            return
        start = time.perf_counter()
        task.work()
        if self._trace is not None:
            times = (self.queued[number], start, time.perf_counter())
            self._trace.events.append(
                Event(task.name, task.device, *times, task.kind, nodes=(task.name,))
            )

    def coroutine(self, number: int, attend: Attend) -> Generator[Pending, None, None]:
        """Return the coroutine that does the work of a segment."""
        task = self.tasks[number]
        assert isinstance(task, SegmentTask)
        delay = self._delays.get(task.device, 0.0)
        return delayed(task, delay, self.queued[number], self._trace, attend)

    def _queue(self, numbers: Sequence[int]) -> None:
        self.last_end = time.perf_counter()
        for number in numbers:
            self.queued[number] = self.last_end
            on_device = self._device_threads and isinstance(self.tasks[number], SegmentTask)
            (self.segments if on_device else self.ready).append(number)
