"""The ready-queue executor.

A table holds how many predecessors each task still waits for. Tasks that wait for none are ready;
finishing one lowers the counts of its successors. Ready tasks are independent, so they may run at
the same time:

- where several devices work segment by segment, each does its segments in a lane of its own: a
  thread on the desktop; in a page, which has one thread for Python, a call to the device's worker
  that is not waited for;
- heavy single operations of the processor are handed to a pool of threads. All others run on the
  calling thread, as handing over a small one costs more than doing it.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from playgrad.compiler.segments import Segment
from playgrad.devices.pending import TIMEOUT_SECONDS, Delay, Pending, wait_any
from playgrad.errors import DeviceTimeoutError
from playgrad.runtime.blas import shared_among
from playgrad.runtime.lanes import Lane
from playgrad.runtime.ready import ReadyTable
from playgrad.runtime.trace import Event, Trace, delay_event


@dataclass
class Task:
    """A piece of work. ``after`` are positions of tasks in the same list that must end before."""

    name: str
    device: str
    work: Callable[[], None]
    after: tuple[int, ...] = ()
    heavy: bool = False
    kind: str = "forward"


def _nothing() -> None:
    """A segment's work is its ``steps``; and not every device needs to know that it is given up."""


@dataclass
class SegmentTask(Task):
    """A device's segment: ``steps(queued, trace)`` begins work and yields what is to be waited for
    before it goes on. It notes its own events. ``give_up`` is called when it does not come to an
    end and nobody waits for it any more.

    ``behind`` is the device's earlier segment, one of ``after``. A device does its segments in
    order, so it may be given this one when that has begun: without a trace, steps begin all of
    their work before they yield."""

    work: Callable[[], None] = _nothing
    give_up: Callable[[], None] = _nothing
    steps: Callable[[float, Trace | None], Generator[Pending, None, None]] = field(kw_only=True)
    segment: Segment | None = None
    behind: int | None = None


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
            _Run(self, tasks, trace, stop).run()

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
        """Leave the thread that ``task`` hangs in to itself."""
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


class _Run:
    """One list of tasks under way."""

    def __init__(
        self,
        executor: Executor,
        tasks: Sequence[Task],
        trace: Trace | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.executor = executor
        self.tasks = tasks
        self.trace = trace
        self.stop = stop
        self.table = ReadyTable([task.after for task in tasks])
        self.ready = deque(self.table.first())
        self.queued = dict.fromkeys(self.ready, time.perf_counter())
        self.running: dict[Future[None], int] = {}
        self.parked: dict[int, tuple[Generator[Pending, None, None], Pending]] = {}
        self.last_end = time.perf_counter()
        devices = {task.device for task in tasks if isinstance(task, SegmentTask)}
        self.several = len(devices) > 1
        self.next = {
            task.behind: number
            for number, task in enumerate(tasks)
            if isinstance(task, SegmentTask) and task.behind is not None
        }

    def run(self) -> None:
        try:
            while self.ready or self.running or self.parked:
                if self.stop is not None and self.stop():
                    raise KeyboardInterrupt
                self._hand_over()
                if self.ready:
                    self._do(self._take())
                else:
                    self._wait()
                self._collect()
        finally:
            self._settle()
        if self.table.left:
            raise RuntimeError("tasks wait for each other in a circle")

    def _take(self) -> int:
        if self.executor.choose is None:
            return self.ready.popleft()
        number = self.executor.choose(tuple(self.ready))
        self.ready.remove(number)
        return number

    def _hand_over(self) -> None:
        """Give segments to their lanes, and heavy tasks to the pool; but keep one of those for the
        calling thread."""
        if self.several and sys.platform != "emscripten":
            for number in [n for n in self.ready if isinstance(self.tasks[n], SegmentTask)]:
                self._start(number, self.executor.lane(self.tasks[number].device).start)
        if self.executor.threads < 2 or len(self.ready) < 2:
            return
        heavy = [number for number in self.ready if self.tasks[number].heavy]
        for number in heavy[1:] if len(heavy) == len(self.ready) else heavy:
            if len(self.running) >= self.executor.threads - 1:
                return
            self._start(number, self.executor.pool().submit)

    def _start(self, number: int, begin: Callable[[Callable[[], None]], Future[None]]) -> None:
        self.ready.remove(number)
        self.running[begin(lambda: self._whole(number))] = number

    def _do(self, number: int) -> None:
        """On the calling thread: the whole task, or in a page its first part."""
        task = self.tasks[number]
        if self.several and isinstance(task, SegmentTask):
            self._advance(number, self._steps(number))
            if number in self.parked and self.trace is None and not self.executor.delays:
                self._begun(number)
        else:
            self._whole(number)
            self._finished(number)

    def _whole(self, number: int) -> None:
        task = self.tasks[number]
        if isinstance(task, SegmentTask):
            for pending in self._steps(number):
                pending.wait()
            return
        start = time.perf_counter()
        task.work()
        if self.trace is not None:
            end = time.perf_counter()
            queued = self.queued[number]
            self.trace.events.append(Event(task.name, task.device, queued, start, end, task.kind))

    def _steps(self, number: int) -> Generator[Pending, None, None]:
        task = self.tasks[number]
        assert isinstance(task, SegmentTask)
        delay = self.executor.delays.get(task.device)
        if delay:
            start = time.perf_counter()
            yield Delay(delay)
            if self.trace is not None:
                self.trace.events.append(
                    delay_event(task.name, task.device, start, time.perf_counter())
                )
        yield from task.steps(self.queued[number], self.trace)

    def _advance(self, number: int, steps: Generator[Pending, None, None]) -> None:
        for pending in steps:
            if not pending.done():
                self.parked[number] = (steps, pending)
                return
        self._finished(number)

    def _begun(self, number: int) -> None:
        follower = self.next.get(number)
        if follower is not None and self.table.passed(number, follower):
            self.queued[follower] = time.perf_counter()
            self.ready.append(follower)

    def _collect(self) -> None:
        for future in [future for future in self.running if future.done()]:
            number = self.running.pop(future)
            future.result()
            self._finished(number)
        waiting: set[str] = set()
        for number, (steps, pending) in list(self.parked.items()):
            # A device's segments end in order, or an error could hide behind those that it causes.
            device = self.tasks[number].device
            if device in waiting or not pending.done():
                waiting.add(device)
            else:
                del self.parked[number]
                self._advance(number, steps)

    def _finished(self, number: int) -> None:
        self.last_end = time.perf_counter()
        for follower in self.table.finished(number):
            self.queued[follower] = self.last_end
            self.ready.append(follower)

    def _wait(self) -> None:
        """Until something has ended, or for a moment where a stop must be looked for."""
        left = self.last_end + self.executor.timeout - time.perf_counter()
        if left <= 0:
            raise self._timed_out()
        self._sleep(min(left, 0.1))

    def _sleep(self, seconds: float) -> None:
        """Until something may have ended."""
        if self.running:
            wait(self.running, timeout=seconds, return_when=FIRST_COMPLETED)
        elif not any(pending.done() for _, pending in self.parked.values()):
            wait_any([pending for _, pending in self.parked.values()], seconds)

    def _timed_out(self) -> DeviceTimeoutError:
        late = ", ".join(f"{task.device} ('{task.name}')" for task in self._forget_all())
        return DeviceTimeoutError(
            f"no answer for {self.executor.timeout:g} s from {late}.",
            hint="The device hangs, or needs longer than the session's timeout allows.",
        )

    def _forget_all(self) -> list[Task]:
        """Wait no more for anything under way."""
        late = [self.tasks[number] for number in (*self.running.values(), *self.parked)]
        self.running.clear()
        self.parked.clear()
        for task in late:
            self.executor.forget(task)
        return late

    def _settle(self) -> None:
        """After an error: wait until what has begun has ended, but not for what hangs."""
        end = time.perf_counter() + self.executor.timeout
        while (self.running or self.parked) and time.perf_counter() < end:
            self._sleep(min(end - time.perf_counter(), 0.1))
            for future in [future for future in self.running if future.done()]:
                del self.running[future]
            for number in [n for n, (_, pending) in self.parked.items() if pending.done()]:
                self.parked.pop(number)[0].close()
        self._forget_all()
