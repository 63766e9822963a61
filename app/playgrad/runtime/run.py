"""One run of a list of tasks, and its threads."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock

from playgrad.devices.pending import Pending
from playgrad.devices.this_host import wait_any
from playgrad.errors import DeviceTimeoutError
from playgrad.runtime.tasks import Attend, ReadyTable, SegmentTask, Task, delayed, never
from playgrad.runtime.threads import Threads
from playgrad.runtime.trace import Event, Trace


class Run:
    """A list of tasks being run. State that several threads use is guarded by ``lock``.

    Args:
        threads: device threads and the pool.
        size: number of threads for heavy tasks, the calling one included.
        choose, timeout, delays: as in `Executor`.
        commit: called at the end, unless an error came before variables changed.

    Attributes:
        ready: tasks for the calling thread to run, or to hand over to the pool.
        segments: tasks for device threads to run.
        running: tasks that device threads or the pool are running.
        pooled: number of the pool's threads at work.
        occupied: whether the calling thread runs a task that may take long. Then the pool's threads
            take whatever is ready, light tasks as well.
        idle: devices whose threads wait to be woken.
        next_segment: the next segment of the device, for each segment that has one.
        parked: in a page, begun tasks that wait for their device, without a thread.
        wakeups: wakes the calling thread.
        error: the first error.
        writing: whether a final task has begun. Then a stop or an error no longer ends the run:
            whatever can still be done is done, so that all devices that are left make the step.
        ending: whether no more tasks are begun.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        threads: Threads,
        *,
        size: int,
        choose: Callable[[Sequence[int]], int] | None,
        timeout: float,
        delays: Mapping[str, float],
        trace: Trace | None,
        stop: Callable[[], bool] | None,
        commit: Callable[[], None],
    ) -> None:
        self.tasks = tasks
        self.threads = threads
        self.size = size
        self.choose = choose
        self.timeout = timeout
        self.delays = delays
        self.trace = trace
        self.stop = stop
        self.commit = commit
        self.table = ReadyTable([task.after for task in tasks])
        self.lock = Lock()
        self.ready: deque[int] = deque()
        self.segments: deque[int] = deque()
        self.queued: dict[int, float] = {}
        self.running: set[int] = set()
        self.pooled = 0
        self.occupied = False
        self.parked: dict[int, tuple[Generator[Pending, None, None], Pending]] = {}
        self.wakeups: SimpleQueue[None] = SimpleQueue()
        self.error: BaseException | None = None
        self.writing = False
        self.ending = False
        devices = {task.device for task in tasks if isinstance(task, SegmentTask)}
        self.several_devices = len(devices) > 1
        self.next_segment = {
            task.previous: number
            for number, task in enumerate(tasks)
            if isinstance(task, SegmentTask) and task.previous is not None
        }
        self.device_threads = self.several_devices and sys.platform != "emscripten"
        self.idle = devices if self.device_threads else set()
        self._queue(self.table.first())

    def run(self) -> None:
        """Run all tasks; see `Executor.run`."""
        with self.lock:
            self._wake_devices()
        going = True
        try:
            while going:
                try:
                    going = self._step()
                except BaseException as error:
                    with self.lock:
                        self._failed(error)
        finally:
            self._drain()
        first, self.error = self.error, None
        try:
            if first is None and self.table.left:
                raise RuntimeError("the tasks have a circular dependency")
            if first is None or self.writing:
                self.commit()
            if first is not None:
                raise first
        finally:
            del first  # it refers to frames that refer to this run

    def _step(self) -> bool:
        """Run a task on the calling thread, or wait for others; return whether to go on."""
        if self.stop is not None and not (self.writing or self.ending) and self.stop():
            raise KeyboardInterrupt
        with self.lock:
            if self.ending:
                return False
            self._hand_over()
            number = self._take(self.ready)
            under_way = bool(self.running or self.segments or self.parked)
            self.occupied = number is not None and self._may_take_long(number)
            self._hand_over()
        if number is not None:
            self._do(number)
        elif under_way:
            self._wait()
        else:
            return False
        self._resume_parked()
        return True

    def _failed(self, error: BaseException) -> None:
        """Note an error. No more tasks begin, unless variables are changing already: then a second
        interrupt is needed."""
        interrupted = isinstance(error, KeyboardInterrupt)
        again = interrupted and isinstance(self.error, KeyboardInterrupt)
        self.ending = self.ending or again or not self.writing
        self.error = self.error or error

    def _queue(self, numbers: Sequence[int]) -> None:
        """Queue tasks that have become ready."""
        self.last_end = time.perf_counter()
        for number in numbers:
            self.queued[number] = self.last_end
            on_device = self.device_threads and isinstance(self.tasks[number], SegmentTask)
            (self.segments if on_device else self.ready).append(number)

    def _take(
        self, queue: deque[int], accepts: Callable[[int], bool] = lambda number: True
    ) -> int | None:
        """Take the next task from ``queue`` that ``accepts`` is true of."""
        candidates = [number for number in queue if accepts(number)]
        if not candidates:
            return None
        if self.choose is None:
            number = min(candidates, key=self._computes_here)  # the first of them
        else:
            number = self.choose(tuple(candidates))
        queue.remove(number)
        self.writing = self.writing or self.tasks[number].final
        return number

    def _computes_here(self, number: int) -> bool:
        """Return whether a task computes on the thread that runs it, not on a device elsewhere."""
        task = self.tasks[number]
        return task.here if isinstance(task, SegmentTask) else True

    # The pool and the device threads

    def _hand_over(self) -> None:
        """Hand over ready tasks to free threads of the pool: heavy ones, but keep one task for the
        calling thread; if that is occupied, all heavy ones, and one thread for the light ones."""
        if self.size < 2 or self.ending or not self.ready:
            return
        offered = [number for number in self.ready if self.tasks[number].heavy]
        if self.occupied:
            offered += [number for number in self._nodes() if not self.tasks[number].heavy][:1]
        elif len(offered) == len(self.ready):
            del offered[0]
        for number in offered[: self.size - 1 - self.pooled]:
            self.ready.remove(number)
            self.running.add(number)
            self.pooled += 1
            self.threads.pool(self.size - 1).submit(self._run_pooled, number)

    def _nodes(self) -> list[int]:
        """Return the ready tasks that any thread may run."""
        return [n for n in self.ready if not isinstance(self.tasks[n], SegmentTask)]

    def _run_pooled(self, first: int) -> None:
        """Run tasks on a thread of the pool: ``first``, and while the calling thread is occupied,
        those that are ready then."""
        number: int | None = first
        while number is not None:
            error = self._error_of(number)
            with self.lock:
                self._ended(number, error)
                number = next(iter(self._nodes()), None) if self.occupied else None
                if number is None or self.ending:
                    number = None
                    self.pooled -= 1
                else:
                    self.ready.remove(number)
                    self.running.add(number)
                if self.occupied:
                    self._hand_over()
                self._wake_devices()
                self.wakeups.put(None)

    def _wake_devices(self) -> None:
        for device in {self.tasks[number].device for number in self.segments} & self.idle:
            self.idle.remove(device)
            self.threads.of_device(device).start(partial(self._run_segments, device))

    def _run_segments(self, device: str) -> None:
        """Run the segments of a device on its thread, one by one, until none is ready."""
        with self.lock:
            number = self._next_of(device)
        while number is not None:
            error = self._error_of(number)
            with self.lock:
                self._ended(number, error)
                number = self._next_of(device)

    def _next_of(self, device: str) -> int | None:
        """Return the next segment for the thread of ``device``, and wake other devices' threads."""
        number = None if self.ending else self._take(self.segments, partial(self._is_of, device))
        if number is not None:
            self.running.add(number)
        else:
            self.idle.add(device)
        if not self.ending:
            self._wake_devices()
        if self.occupied:
            self._hand_over()
        if self.ready or self.ending or not (self.running or self.segments):
            self.wakeups.put(None)
        return number

    def _is_of(self, device: str, number: int) -> bool:
        return self.tasks[number].device == device

    def _error_of(self, number: int) -> BaseException | None:
        """Run a task on a thread other than the caller's; return its error."""
        try:
            self._run_whole(number)
        except BaseException as error:
            return error
        return None

    def _ended(self, number: int, error: BaseException | None) -> None:
        """Note that a task has ended on another thread, unless it was abandoned."""
        if number not in self.running:
            return
        self.running.remove(number)
        if error is None:
            self._queue(self.table.finished(number))
        else:
            self._failed(error)

    # The calling thread

    def _may_take_long(self, number: int) -> bool:
        task = self.tasks[number]
        return task.heavy or isinstance(task, SegmentTask)

    def _do(self, number: int) -> None:
        """Run a task on the calling thread; of a segment in a page, only until its first wait."""
        if self.several_devices and isinstance(self.tasks[number], SegmentTask):
            self._advance(number, self._coroutine(number, self._attend))
            if number in self.parked and self.trace is None and not self.delays:
                self._begun(number)
        else:
            self._run_whole(number)
            self._finished(number)

    def _run_whole(self, number: int) -> None:
        task = self.tasks[number]
        if isinstance(task, SegmentTask):
            for pending in self._coroutine(number, never):
                pending.wait()
            return
        start = time.perf_counter()
        task.work()
        if self.trace is not None:
            end = time.perf_counter()
            times = (self.queued[number], start, end)
            self.trace.events.append(
                Event(task.name, task.device, *times, task.kind, nodes=(task.name,))
            )

    def _coroutine(self, number: int, attend: Attend) -> Generator[Pending, None, None]:
        task = self.tasks[number]
        assert isinstance(task, SegmentTask)
        delay = self.delays.get(task.device, 0.0)
        return delayed(task, delay, self.queued[number], self.trace, attend)

    def _attend(self) -> bool:
        """Resume and begin what other devices do, while the calling thread is at a task of its own.

        An error of theirs ends the run after that task.
        """
        try:
            self._resume_parked()
            while not self.ending and (number := self._next_elsewhere()) is not None:
                self._do(number)
        except BaseException as error:
            with self.lock:
                self._failed(error)
        return False

    def _next_elsewhere(self) -> int | None:
        with self.lock:
            return self._take(self.ready, lambda number: not self._computes_here(number))

    def _advance(self, number: int, coroutine: Generator[Pending, None, None]) -> None:
        for pending in coroutine:
            if not pending.done():
                self.parked[number] = (coroutine, pending)
                return
        self._finished(number)

    def _begun(self, number: int) -> None:
        """Queue the device's next segment, if it waits only for this one to end."""
        follower = self.next_segment.get(number)
        if follower is not None and self.table.remove_edge(number, follower):
            self._queue([follower])

    def _finished(self, number: int) -> None:
        with self.lock:
            self._queue(self.table.finished(number))
            self._wake_devices()

    def _resume_parked(self) -> None:
        """Resume the parked tasks whose wait is over."""
        busy: set[str] = set()
        for number in list(self.parked):
            if number not in self.parked:
                continue  # one that was resumed here computes on this thread, and resumed others
            coroutine, pending = self.parked[number]
            # Strictly in the device's order, or an error could be hidden by those it causes.
            device = self.tasks[number].device
            if device in busy or not pending.done():
                busy.add(device)
            else:
                del self.parked[number]
                self._advance(number, coroutine)

    # Waiting and ending

    def _wait(self) -> None:
        """Sleep until a task has ended, or for a moment if a stop must be checked for."""
        left = self.last_end + self.timeout - time.perf_counter()
        if left <= 0:
            raise self._timed_out()
        self._sleep(min(left, 0.1))

    def _sleep(self, seconds: float) -> None:
        """Sleep until a task may have ended, for at most ``seconds``."""
        if not self.parked:
            with suppress(Empty):
                self.wakeups.get(timeout=seconds)
        elif not any(pending.done() for _, pending in self.parked.values()):
            wait_any([pending for _, pending in self.parked.values()], seconds)

    def _timed_out(self) -> DeviceTimeoutError:
        late = ", ".join(f"{task.device} ('{task.name}')" for task in self._abandon_all())
        return DeviceTimeoutError(
            f"no answer for {self.timeout:g} s from {late}.",
            hint="The device hangs, or needs longer than the session's timeout allows.",
        )

    def _abandon_all(self) -> list[Task]:
        """Abandon all tasks under way, and return them."""
        with self.lock:
            self.ending = True
            left = [self.tasks[number] for number in (*sorted(self.running), *self.parked)]
            self.running.clear()
            self.parked.clear()
        for task in left:
            self.threads.abandon(task)
        return left

    def _drain(self) -> None:
        """Wait until all tasks that have begun have ended, but abandon those that hang."""
        self.ending = True
        end = time.perf_counter() + self.timeout
        while (self.running or self.parked) and time.perf_counter() < end:
            self._sleep(min(end - time.perf_counter(), 0.1))
            for number in [n for n, (_, pending) in self.parked.items() if pending.done()]:
                self.parked.pop(number)[0].close()
        self._abandon_all()
