"""Runs jobs in processes of this machine, each in a new one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, TypeAlias

from playgrad.sweeps.worker import TrialJob

Message: TypeAlias = dict[str, Any]
Judge: TypeAlias = Callable[[Message], bool]
"""Returns whether a job that has reached a milestone continues."""

_LAST_BYTES = 400


class Processes:
    """A pool of processes: a job that crashes or fills the memory ends no other.

    Args:
        parallel: the number of jobs at the same time.
    """

    def __init__(self, parallel: int) -> None:
        self._threads = ThreadPoolExecutor(parallel, "trial")
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = Lock()
        self._closed = False
        share = max(1, (os.cpu_count() or 1) // parallel)
        known = {"OPENBLAS_NUM_THREADS": str(share), **os.environ}
        folders = os.pathsep.join(path or os.getcwd() for path in sys.path)
        # Without the working directory before the standard library.
        self._environment = {**known, "PYTHONPATH": folders, "PYTHONSAFEPATH": "1"}

    def submit(self, job: TrialJob, judge: Judge) -> Future[Message]:
        """Run ``job``; return its last message, of the kind "end" or "error"."""
        return self._threads.submit(self._run, job, judge)

    def close(self) -> None:
        """End all jobs."""
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)
        self._threads.shutdown(cancel_futures=True)

    def _run(self, job: TrialJob, judge: Judge) -> Message:
        with self._lock:
            if self._closed:
                return {"kind": "error", "text": "stopped"}
            process = subprocess.Popen(
                [sys.executable, "-m", "playgrad.sweeps.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment,
                start_new_session=True,  # Ctrl+C reaches this process, which ends the others
            )  # fmt: skip
            self._running.add(process)
        assert process.stdin is not None and process.stdout is not None
        last: Message = {}
        # What the program has started may hold the pipe open after the program has ended.
        watcher = Thread(target=_clean_up, args=[process], daemon=True)
        watcher.start()
        try:
            with suppress(BrokenPipeError):
                self._answer(process, job.to_json())
                for line in process.stdout:
                    last = json.loads(line)
                    if last["kind"] == "epoch":
                        self._answer(process, "continue" if judge(last) else "stop")
            status = process.wait()
        finally:
            with self._lock:
                self._running.discard(process)
            _kill(process)
            watcher.join()
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
        return last if last.get("kind") in ("end", "error") else _ended(status, job)

    @staticmethod
    def _answer(process: subprocess.Popen[bytes], line: str) -> None:
        assert process.stdin is not None
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()


def _clean_up(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a process, and end all that it has started."""
    process.wait()
    _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it has started, as far as it stayed in its session."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _ended(status: int, job: TrialJob) -> Message:
    """Return the message about a process that ended without one."""
    how = f"exited with status {status}"
    if status < 0:
        with suppress(ValueError):
            how = f"was ended by {signal.Signals(-status).name}"
    said = ""
    with suppress(OSError):
        with open(job.log, "rb") as log:
            log.seek(max(0, os.path.getsize(job.log) - _LAST_BYTES))
            lines = log.read().decode(errors="replace").strip().splitlines()
        said = f": {lines[-1]}" if lines else ""
    return {"kind": "error", "text": f"its process {how}{said}"}
