"""A trial in a process of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from threading import Thread

from playgrad.sweeps.pool import Message
from playgrad.sweeps.worker import TrialJob

_LAST_BYTES = 400


class TrialProcess:
    """A job in a new process, `playgrad.sweeps.worker`, and all that the process starts.

    Args:
        threads: for the matrix products of NumPy, unless the environment says how many.
    """

    def __init__(self, job: TrialJob, threads: int) -> None:
        self._job = job
        known = {"OPENBLAS_NUM_THREADS": str(threads), **os.environ}
        folders = os.pathsep.join(path or os.getcwd() for path in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "playgrad.sweeps.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            # Without the working directory before the standard library.
            env={**known, "PYTHONPATH": folders, "PYTHONSAFEPATH": "1"},
            start_new_session=True,  # Ctrl+C reaches this process, which ends the others
        )  # fmt: skip
        # What the program has started may hold the pipe open after the program has ended.
        self._watcher = Thread(target=self._clean_up, daemon=True)
        self._watcher.start()

    def next(self, continues: bool | None = None) -> Message:
        """Return the next message; see `playgrad.sweeps.pool.RunningTrial`."""
        assert self._process.stdin is not None and self._process.stdout is not None
        answer = "continue" if continues else "stop"
        answer = self._job.to_json() if continues is None else answer
        with suppress(BrokenPipeError):
            self._process.stdin.write(answer.encode() + b"\n")
            self._process.stdin.flush()
        last: Message = {}
        for line in self._process.stdout:
            last = json.loads(line)
            if last["kind"] == "epoch":
                return last
        status = self._process.wait()
        return last or _ended(status, self._job)

    def kill(self) -> None:
        """End the process and all that it has started, as far as it stayed in its session."""
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def close(self) -> None:
        """Free the pipes, after the end of the process."""
        self.kill()
        self._watcher.join()
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()

    def _clean_up(self) -> None:
        self._process.wait()
        self.kill()


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
