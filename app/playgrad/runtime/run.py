"""One run of a list of tasks, as the calling thread sees it.

The run's state (`RunState`) has the tasks whose predecessors have ended, in two queues. A thread
that is free takes the next task, and the end of a task queues the tasks that waited for it. Threads
of devices take segments, and threads of the pool heavy operations (`Workers`); the calling thread
takes all other tasks, one for each turn of its loop, and sleeps if there is none. In a page it is
the only thread. There it does not wait for a segment but *parks* it as soon as the segment waits
for its device, takes other tasks, and resumes it when the device has answered; while it computes a
segment itself, it attends to the others now and then. The first error ends the run: nothing more
begins, and tasks that have begun are waited for. But once a task that changes variables has begun,
everything that does not need the failed task is done first. A device from which nothing is heard
for too long is abandoned.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from queue import Empty

from playgrad.devices.machines import full_name
from playgrad.devices.pending import Pending
from playgrad.devices.this_host import wait_any
from playgrad.errors import DeviceTimeoutError
from playgrad.runtime.run_state import RunState
from playgrad.runtime.tasks import SegmentTask, Task
from playgrad.runtime.threads import Threads
from playgrad.runtime.trace import Trace
from playgrad.runtime.workers import Workers

_MOMENT = 0.1
"""Seconds after which a sleeping thread asks whether to stop."""


class Run:
    """A list of tasks being run.

    Args:
        threads: device threads and the pool.
        size: number of threads for heavy tasks, the calling one included.
        choose, timeout, delays: as in `Executor`.
        commit: called at the end, unless an error came before variables changed.
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
        devices = {task.device for task in tasks if isinstance(task, SegmentTask)}
        self._several_devices = len(devices) > 1
        device_threads = self._several_devices and sys.platform != "emscripten"
        self._tasks = tasks
        self._threads = threads
        self._timeout = timeout
        self._stop = stop
        self._commit = commit
        self._state = RunState(tasks, choose, device_threads, delays, trace)
        self._workers = Workers(self._state, threads, size, devices if device_threads else ())
        self._parked: dict[int, tuple[Generator[Pending, None, None], Pending]] = {}
        self._next_segment = {
            task.previous: number
            for number, task in enumerate(tasks)
            if isinstance(task, SegmentTask) and task.previous is not None
        }

    def run(self) -> None:
        """Run all tasks; see `Executor.run`."""
        state = self._state
        with state.lock:
            self._workers.wake_devices()
        going = True
        try:
            while going:
                try:
                    going = self._step()
                except BaseException as error:
                    with state.lock:
                        state.fail(error)
        finally:
            self._drain()
        first, state.error = state.error, None
        try:
            if first is None and state.left:
                raise RuntimeError("the tasks have a circular dependency")
            if first is None or state.writing:
                self._commit()
            if first is not None:
                raise first
        finally:
            del first  # it refers to frames that refer to this run

    def _step(self) -> bool:
        """Run a task, or wait for others; return whether there may be more."""
        state, workers = self._state, self._workers
        if self._stop is not None and not (state.writing or state.ending) and self._stop():
            raise KeyboardInterrupt
        with state.lock:
            if state.ending:
                return False
            workers.hand_over()
            number = state.take(state.ready)
            under_way = bool(state.running or state.segments or self._parked)
            workers.occupied = number is not None and self._may_take_long(number)
            workers.hand_over()
        if number is not None:
            self._do(number)
        elif under_way:
            self._wait()
        else:
            return False
        self._resume_parked()
        return True

    # Tasks

    def _may_take_long(self, number: int) -> bool:
        task = self._tasks[number]
        return task.heavy or isinstance(task, SegmentTask)

    def _do(self, number: int) -> None:
        """Run a task on the calling thread; of a segment in a page, only until its first wait."""
        if self._several_devices and isinstance(self._tasks[number], SegmentTask):
            self._advance(number, self._state.coroutine(number, self._attend))
            follower = self._next_segment.get(number)
            is_begun = number in self._parked and not self._state.is_observed
            if is_begun and follower is not None:  # the device does them in order
                self._state.wait_no_longer(follower, number)
        else:
            self._state.run_whole(number)
            self._finished(number)

    def _finished(self, number: int) -> None:
        with self._state.lock:
            self._state.finish(number)
            self._workers.wake_devices()

    # Segments in a page

    def _advance(self, number: int, coroutine: Generator[Pending, None, None]) -> None:
        """Run a segment until it is done or waits for its device; then it is parked."""
        for pending in coroutine:
            if not pending.done():
                self._parked[number] = (coroutine, pending)
                return
        self._finished(number)

    def _resume_parked(self) -> None:
        """Resume the parked tasks whose wait is over."""
        busy: set[str] = set()
        for number in list(self._parked):
            if number not in self._parked:
                continue  # one that was resumed here computes on this thread, and resumed others
            coroutine, pending = self._parked[number]
            # Strictly in the device's order, or an error could be hidden by those it causes.
            device = self._tasks[number].device
            if device in busy or not pending.done():
                busy.add(device)
            else:
                del self._parked[number]
                self._advance(number, coroutine)

    def _attend(self) -> bool:
        """Resume and begin tasks of other devices, while the calling thread has a task of its own.

        An error in these tasks ends the run after that task.
        """
        state = self._state
        try:
            self._resume_parked()
            while not state.ending:
                with state.lock:
                    number = state.take(state.ready, lambda each: not state.computes_here(each))
                if number is None:
                    break
                self._do(number)
        except BaseException as error:
            with state.lock:
                state.fail(error)
        return False

    # Waiting and ending

    def _wait(self) -> None:
        """Sleep until a task has ended, or for a moment if a stop must be checked for."""
        left = self._state.last_end + self._timeout - time.perf_counter()
        if left <= 0:
            late = ", ".join(
                f"{full_name(task.device)} ('{task.name}')" for task in self._abandon_all()
            )
            raise DeviceTimeoutError(
                f"no answer for {self._timeout:g} s from {late}.",
                hint="The device hangs, or needs longer than the session's timeout allows.",
            )
        self._sleep(min(left, _MOMENT))

    def _sleep(self, seconds: float) -> None:
        """Sleep until a task may have ended, for at most ``seconds``."""
        waiting = [pending for _, pending in self._parked.values()]
        if not waiting:
            with suppress(Empty):
                self._workers.wakeups.get(timeout=seconds)
        elif not any(pending.done() for pending in waiting):
            wait_any(waiting, seconds)

    def _abandon_all(self) -> list[Task]:
        """Abandon all tasks under way, and return them."""
        with self._state.lock:
            self._state.ending = True
            running = self._state.running
            left = [self._tasks[number] for number in (*sorted(running), *self._parked)]
            running.clear()
            self._parked.clear()
        for task in left:
            self._threads.abandon(task)
        return left

    def _drain(self) -> None:
        """Wait until all tasks that have begun have ended, but abandon tasks that hang."""
        self._state.ending = True
        end = time.perf_counter() + self._timeout
        while (self._state.running or self._parked) and time.perf_counter() < end:
            self._sleep(min(end - time.perf_counter(), _MOMENT))
            for number in [n for n, (_, pending) in self._parked.items() if pending.done()]:
                self._parked.pop(number)[0].close()
        self._abandon_all()
