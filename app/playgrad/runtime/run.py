"""A list of tasks under way, and the threads that are at it."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING

from playgrad.devices.pending import Delay, Pending
from playgrad.devices.this_host import wait_any
from playgrad.errors import DeviceTimeoutError
from playgrad.runtime.ready import ReadyTable
from playgrad.runtime.tasks import SegmentTask, Task
from playgrad.runtime.trace import Event, Trace, delay_event

if TYPE_CHECKING:
    from playgrad.runtime.executor import Executor


class Run:
    """One list of tasks under way. What several threads touch is touched under ``lock``.

    Attributes:
        ready: what the calling thread may do, or hand to the pool.
        segments: what lanes may do.
        running: what other threads do: lanes, or the pool.
        idle: devices whose lanes wait to be woken.
        behind: the next segment of a segment's device.
        parked: what waits for its device without a thread, in a page.
        news: wakes the calling thread.
        error: what ended a task on another thread.
        ending: whether no more segments are begun.
    """

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
        self.lock = Lock()
        self.ready: deque[int] = deque()
        self.segments: deque[int] = deque()
        self.queued: dict[int, float] = {}
        self.running: set[int] = set()
        self.parked: dict[int, tuple[Generator[Pending, None, None], Pending]] = {}
        self.news: SimpleQueue[None] = SimpleQueue()
        self.error: BaseException | None = None
        self.ending = False
        devices = {task.device for task in tasks if isinstance(task, SegmentTask)}
        self.several = len(devices) > 1
        self.behind = {
            task.behind: number
            for number, task in enumerate(tasks)
            if isinstance(task, SegmentTask) and task.behind is not None
        }
        self.with_lanes = self.several and sys.platform != "emscripten"
        self.idle = devices if self.with_lanes else set()
        self._queue(self.table.first())

    def run(self) -> None:
        try:
            with self.lock:
                self._wake_lanes()
            while True:
                if self.stop is not None and self.stop():
                    raise KeyboardInterrupt
                with self.lock:
                    if self.error is not None:
                        raise self.error
                    self._hand_over()
                    number = self._take(self.ready)
                    under_way = bool(self.running or self.segments or self.parked)
                if number is not None:
                    self._do(number)
                elif under_way:
                    self._wait()
                else:
                    break
                self._go_on()
        finally:
            self._settle()
        if self.table.left:
            raise RuntimeError("tasks wait for each other in a circle")

    def _queue(self, numbers: Sequence[int]) -> None:
        self.last_end = time.perf_counter()
        for number in numbers:
            self.queued[number] = self.last_end
            of_lane = self.with_lanes and isinstance(self.tasks[number], SegmentTask)
            (self.segments if of_lane else self.ready).append(number)

    def _take(self, queue: deque[int], device: str | None = None) -> int | None:
        """The next of ``queue``, or if ``device`` is given the next of its own, if there is one."""
        own = [n for n in queue if device is None or self.tasks[n].device == device]
        if not own:
            return None
        number = own[0] if self.executor.choose is None else self.executor.choose(tuple(own))
        queue.remove(number)
        return number

    def _hand_over(self) -> None:
        """Give heavy tasks to the pool; but keep one for the calling thread."""
        if self.executor.threads < 2 or len(self.ready) < 2:
            return
        heavy = [number for number in self.ready if self.tasks[number].heavy]
        for number in heavy[1:] if len(heavy) == len(self.ready) else heavy:
            if sum(self.tasks[n].heavy for n in self.running) >= self.executor.threads - 1:
                return
            self.ready.remove(number)
            self.running.add(number)
            self.executor.pool().submit(self._heavy, number)

    def _heavy(self, number: int) -> None:
        """On a thread of the pool."""
        error = self._failure(number)
        with self.lock:
            self._ended(number, error)
            self._wake_lanes()
            self.news.put(None)

    def _wake_lanes(self) -> None:
        for device in {self.tasks[number].device for number in self.segments} & self.idle:
            self.idle.remove(device)
            self.executor.lane(device).start(partial(self._segments, device))

    def _segments(self, device: str) -> None:
        """On a device's lane: its segments, one after the other, until none is ready."""
        with self.lock:
            number = self._next(device)
        while number is not None:
            error = self._failure(number)
            with self.lock:
                self._ended(number, error)
                number = self._next(device)

    def _next(self, device: str) -> int | None:
        """What the lane of ``device`` goes on with; the lanes of others are woken for theirs."""
        number = None if self.ending else self._take(self.segments, device)
        if number is not None:
            self.running.add(number)
        else:
            self.idle.add(device)
        if not self.ending:
            self._wake_lanes()
        if self.ready or self.ending or not (self.running or self.segments):
            self.news.put(None)
        return number

    def _failure(self, number: int) -> BaseException | None:
        """Do a task on a thread that is not the caller's."""
        try:
            self._whole(number)
        except BaseException as error:
            return error
        return None

    def _ended(self, number: int, error: BaseException | None) -> None:
        """Note that a task has ended on another thread, if anyone still waits for it."""
        if number not in self.running:
            return
        self.running.remove(number)
        if error is None:
            self._queue(self.table.finished(number))
        else:
            self.error = self.error or error
            self.ending = True

    def _do(self, number: int) -> None:
        """On the calling thread: the whole task, or in a page its first part."""
        if self.several and isinstance(self.tasks[number], SegmentTask):
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
        """A device may be given its next segment while it is at this one."""
        follower = self.behind.get(number)
        if follower is not None and self.table.passed(number, follower):
            self._queue([follower])

    def _finished(self, number: int) -> None:
        with self.lock:
            self._queue(self.table.finished(number))
            self._wake_lanes()

    def _go_on(self) -> None:
        """With what is parked and has what it waited for."""
        busy: set[str] = set()
        for number, (steps, pending) in list(self.parked.items()):
            # A device's segments end in order, or an error could hide behind those that it causes.
            device = self.tasks[number].device
            if device in busy or not pending.done():
                busy.add(device)
            else:
                del self.parked[number]
                self._advance(number, steps)

    def _wait(self) -> None:
        """Until something has ended, or for a moment where a stop must be looked for."""
        left = self.last_end + self.executor.timeout - time.perf_counter()
        if left <= 0:
            raise self._timed_out()
        self._sleep(min(left, 0.1))

    def _sleep(self, seconds: float) -> None:
        """Until something may have ended."""
        if not self.parked:
            with suppress(Empty):
                self.news.get(timeout=seconds)
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
        with self.lock:
            self.ending = True
            left = [self.tasks[number] for number in (*sorted(self.running), *self.parked)]
            self.running.clear()
            self.parked.clear()
        for task in left:
            self.executor.forget(task)
        return left

    def _settle(self) -> None:
        """After an error: wait until what has begun has ended, but not for what hangs."""
        self.ending = True
        end = time.perf_counter() + self.executor.timeout
        while (self.running or self.parked) and time.perf_counter() < end:
            self._sleep(min(end - time.perf_counter(), 0.1))
            for number in [n for n, (_, pending) in self.parked.items() if pending.done()]:
                self.parked.pop(number)[0].close()
        self._forget_all()
        self.error = None  # it holds the frames that hold the run
