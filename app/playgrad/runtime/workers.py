"""The other threads of a run: a thread for each device, and a pool."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from queue import SimpleQueue

from playgrad.runtime.run_state import RunState
from playgrad.runtime.tasks import SegmentTask
from playgrad.runtime.threads import Threads


class Workers:
    """Threads that take tasks from the state of a run. All methods need its lock.

    Args:
        size: the number of threads for heavy tasks, the calling one included.
        devices: the devices that have threads.

    Attributes:
        occupied: whether the calling thread runs a task that may take long. Then the pool's threads
            take whatever is ready, light tasks as well.
        wakeups: wakes the calling thread.
    """

    def __init__(
        self,
        state: RunState,
        threads: Threads,
        size: int,
        devices: Collection[str],
    ) -> None:
        self.occupied = False
        self.wakeups: SimpleQueue[None] = SimpleQueue()
        self._state = state
        self._threads = threads
        self._size = size
        self._pooled = 0  # threads of the pool at work
        self._idle = set(devices)  # whose threads wait to be woken

    def hand_over(self) -> None:
        """Hand over ready tasks to free threads of the pool: heavy ones, but keep one task for the
        calling thread; if that is occupied, all heavy ones, and one thread for the light ones."""
        ready, tasks = self._state.ready, self._state.tasks
        if self._size < 2 or self._state.ending or not ready:
            return
        offered = [number for number in ready if tasks[number].heavy]
        if self.occupied:
            offered += [number for number in self._nodes() if not tasks[number].heavy][:1]
        elif len(offered) == len(ready):
            del offered[0]
        for number in offered[: self._size - 1 - self._pooled]:
            ready.remove(number)
            self._state.running.add(number)
            self._pooled += 1
            self._threads.pool(self._size - 1).submit(self._run_pooled, number)

    def wake_devices(self) -> None:
        """Wake the idle threads of devices whose segments are ready."""
        tasks = self._state.tasks
        for device in {tasks[number].device for number in self._state.segments} & self._idle:
            self._idle.remove(device)
            self._threads.of_device(device).start(partial(self._run_segments, device))

    def _nodes(self) -> list[int]:
        """Return the ready tasks that any thread may run."""
        tasks = self._state.tasks
        return [n for n in self._state.ready if not isinstance(tasks[n], SegmentTask)]

    def _run_pooled(self, first: int) -> None:
        """Run ``first`` on a thread of the pool, and then light tasks while the calling thread is
        occupied."""
        number: int | None = first
        state = self._state
        while number is not None:
            error = self._error_of(number)
            with state.lock:
                self._ended(number, error)
                number = next(iter(self._nodes()), None) if self.occupied else None
                if number is None or state.ending:
                    number = None
                    self._pooled -= 1
                else:
                    state.ready.remove(number)
                    state.running.add(number)
                if self.occupied:
                    self.hand_over()
                self.wake_devices()
                self.wakeups.put(None)

    def _run_segments(self, device: str) -> None:
        """Run the segments of a device on its thread, one by one, until none is ready."""
        with self._state.lock:
            number = self._next_of(device)
        while number is not None:
            error = self._error_of(number)
            with self._state.lock:
                self._ended(number, error)
                number = self._next_of(device)

    def _next_of(self, device: str) -> int | None:
        """Return the next segment for the thread of ``device``, and wake other threads."""
        state, number = self._state, None
        if not state.ending:
            number = state.take(state.segments, lambda each: state.tasks[each].device == device)
        if number is not None:
            state.running.add(number)
        else:
            self._idle.add(device)
        if not state.ending:
            self.wake_devices()
        if self.occupied:
            self.hand_over()
        if state.ready or state.ending or not (state.running or state.segments):
            self.wakeups.put(None)
        return number

    def _error_of(self, number: int) -> BaseException | None:
        """Run a task; return its error."""
        try:
            self._state.run_whole(number)
        except BaseException as error:
            return error
        return None

    def _ended(self, number: int, error: BaseException | None) -> None:
        """Note that a task has ended, unless it was abandoned."""
        if number not in self._state.running:
            return
        self._state.running.remove(number)
        if error is None:
            self._state.finish(number)
        else:
            self._state.fail(error)
