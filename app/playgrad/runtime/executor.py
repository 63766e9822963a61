"""The ready-queue executor.

A table holds how many predecessors each task still waits for. Tasks that wait for none are ready;
finishing one lowers the counts of its successors. Ready tasks are independent, so they may run at
the same time: heavy ones are handed to a pool of threads, all others run on the calling thread, as
handing over a small one costs more than doing it.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from playgrad.runtime.trace import Event, Trace


@dataclass
class Task:
    """A piece of work. ``after`` are positions of tasks in the same list that must end before."""

    name: str
    device: str
    work: Callable[[], None]
    after: tuple[int, ...] = ()
    heavy: bool = False


def default_threads() -> int:
    """Threads worth having: one a core; none in a browser, where Python has a single one."""
    return 0 if sys.platform == "emscripten" else (os.cpu_count() or 1)


class Executor:
    """Runs lists of tasks in any order that their edges allow.

    Args:
        threads: size of the pool for heavy tasks; 0 or 1 runs everything on the calling thread.
        choose: picks the next task from the ready ones (their positions); the first by default.
            Tests use it to try other legal orders.
    """

    def __init__(
        self, threads: int | None = None, choose: Callable[[Sequence[int]], int] | None = None
    ) -> None:
        self.threads = default_threads() if threads is None else threads
        self.choose = choose
        self._pool: ThreadPoolExecutor | None = None

    def run(
        self,
        tasks: Sequence[Task],
        trace: Trace | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        """Run all ``tasks``. The first error ends the run, after what has begun has ended.

        Raises:
            RuntimeError: tasks wait for each other in a circle.
            KeyboardInterrupt: ``stop`` answered true between two tasks.
        """
        waiting = [len(task.after) for task in tasks]
        followers: list[list[int]] = [[] for _ in tasks]
        for number, task in enumerate(tasks):
            for before in task.after:
                followers[before].append(number)
        ready = deque(number for number, missing in enumerate(waiting) if missing == 0)
        queued = dict.fromkeys(ready, time.perf_counter())
        running: dict[Future[None], int] = {}
        done = 0

        def finished(number: int) -> None:
            nonlocal done
            done += 1
            now = time.perf_counter() if trace is not None else 0.0
            for follower in followers[number]:
                waiting[follower] -= 1
                if waiting[follower] == 0:
                    queued[follower] = now
                    ready.append(follower)

        try:
            while ready or running:
                if stop is not None and stop():
                    raise KeyboardInterrupt
                self._hand_over(tasks, ready, running, queued, trace)
                if ready:
                    number = self._take(ready)
                    _work(tasks[number], queued[number], trace)
                    finished(number)
                elif running:
                    wait(running, return_when=FIRST_COMPLETED)
                for future in [future for future in running if future.done()]:
                    number = running.pop(future)
                    future.result()
                    finished(number)
        finally:
            wait(running)
        if done != len(tasks):
            raise RuntimeError("tasks wait for each other in a circle")

    def _take(self, ready: deque[int]) -> int:
        if self.choose is None:
            return ready.popleft()
        number = self.choose(tuple(ready))
        ready.remove(number)
        return number

    def _hand_over(
        self,
        tasks: Sequence[Task],
        ready: deque[int],
        running: dict[Future[None], int],
        queued: dict[int, float],
        trace: Trace | None,
    ) -> None:
        """Give heavy ready tasks to the pool, but keep one for the calling thread."""
        if self.threads < 2 or len(ready) < 2:
            return
        heavy = [number for number in ready if tasks[number].heavy]
        for number in heavy[1:] if len(heavy) == len(ready) else heavy:
            if len(running) >= self.threads - 1:
                return
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self.threads - 1, "playgrad-cpu")
            ready.remove(number)
            running[self._pool.submit(_work, tasks[number], queued[number], trace)] = number

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def _work(task: Task, queued: float, trace: Trace | None) -> None:
    if trace is None:
        task.work()
        return
    start = time.perf_counter()
    task.work()
    trace.events.append(Event(task.name, task.device, queued, start, time.perf_counter()))
