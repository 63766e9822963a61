"""Runs jobs, several at the same time, wherever a trial can be started."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any, Protocol, TypeAlias

from playgrad.sweeps.worker import TrialJob

Message: TypeAlias = dict[str, Any]
"""Its ``kind`` is "epoch" (a milestone; the trial waits), "end", or "error" with a ``text``."""
_LOOK_SECONDS = 1.0
Judge: TypeAlias = Callable[[Message], bool]
"""Returns whether a job that has reached a milestone continues."""


class RunningTrial(Protocol):
    """A job that was started."""

    def next(self, continues: bool | None = None) -> Message:
        """Return the next message of the trial.

        Args:
            continues: the answer to the milestone before; None for the first message.
        """

    def kill(self) -> None:
        """End the trial; `next`, in another thread, then returns an error."""

    def close(self) -> None:
        """Free what the trial, which has ended, still holds."""


class Pool(Protocol):
    """Runs jobs. Attributes: ``parallel``, the number of jobs at the same time."""

    parallel: int

    def submit(self, job: TrialJob, judge: Judge) -> Future[Message]:
        """Run ``job``; return its last message, of the kind "end" or "error"."""

    def wait(self, futures: Collection[Future[Message]]) -> Collection[Future[Message]]:
        """Wait until some of ``futures`` are done, and return these."""

    def close(self) -> None:
        """End all jobs."""


class TrialPool:
    """A pool with a thread for each trial: one that crashes or fills the memory ends no other.

    Args:
        start: starts a job, without waiting for it.
        parallel: the number of jobs at the same time.
    """

    def __init__(self, start: Callable[[TrialJob], RunningTrial], parallel: int) -> None:
        self.parallel = parallel
        self._start = start
        self._threads = ThreadPoolExecutor(parallel, "trial")
        self._running: set[RunningTrial] = set()
        self._lock = Lock()
        self._closed = False

    def submit(self, job: TrialJob, judge: Judge) -> Future[Message]:
        """Run ``job``; return its last message, of the kind "end" or "error"."""
        return self._threads.submit(self._run, job, judge)

    def wait(self, futures: Collection[Future[Message]]) -> Collection[Future[Message]]:
        """Wait until some of ``futures`` are done, and return these."""
        # A signal in the moment before Python begins to wait would be noticed at the end only.
        while not (done := wait(futures, _LOOK_SECONDS, FIRST_COMPLETED).done):
            pass
        return done

    def close(self) -> None:
        """End all jobs."""
        with self._lock:
            self._closed = True
            for trial in self._running:
                trial.kill()
        self._threads.shutdown(cancel_futures=True)

    def _run(self, job: TrialJob, judge: Judge) -> Message:
        with self._lock:
            if self._closed:
                return {"kind": "error", "text": "stopped"}
            trial = self._start(job)
            self._running.add(trial)
        try:
            message = trial.next()
            while message["kind"] == "epoch":
                message = trial.next(judge(message))
            return message
        finally:
            with self._lock:
                self._running.discard(trial)
            trial.close()
