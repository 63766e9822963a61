"""A trial in a process on a machine of a Ray cluster.

An actor starts the process, and passes on its messages. What the process has written, its weights
and its log, comes with the last one.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, TypeAlias

from playgrad.io.whole_files import write_whole
from playgrad.parallel.ray_cluster import Ray, first_line, reserved_gpu
from playgrad.sweeps.pool import Message
from playgrad.sweeps.trial_process import TrialProcess
from playgrad.sweeps.worker import TrialJob

Files: TypeAlias = dict[str, bytes]
"""By the names of a job's attributes, "log" and "weights"."""

_STOP_SECONDS = 5.0


class RayTrials:
    """Starts jobs on a cluster. An actor whose trial has ended is used for the next one.

    Args:
        ray: the module, connected.
        cluster: says what a trial takes.
    """

    def __init__(self, ray: ModuleType, cluster: Ray) -> None:
        self.ray = ray
        self.idle: list[Any] = []
        self._cluster = cluster

    def new_actor(self) -> Any:
        """Return a new actor, at once."""
        return self._cluster.new_actor(self.ray, TrialActor, self._cluster.threads, methods=2)

    def start(self, job: TrialJob) -> RayTrial:
        """Return the trial of ``job``."""
        return RayTrial(job, self)


class RayTrial:
    """A job on a machine that Ray chooses."""

    def __init__(self, job: TrialJob, trials: RayTrials) -> None:
        self._job = job
        self._trials = trials
        self._ray = trials.ray
        self._is_new = not trials.idle
        self._actor = trials.new_actor() if self._is_new else trials.idle.pop()
        self._is_alive = True

    def next(self, continues: bool | None = None) -> Message:
        """Return the next message; see `playgrad.sweeps.pool.RunningTrial`."""
        request = self._job if continues is None else continues
        try:
            message, files = self._ray.get(self._actor.next.remote(request))
        except self._ray.exceptions.RayError as error:
            # It has died since the trial before, and was not killed.
            if continues is None and not self._is_new and self._is_alive:
                self._actor, self._is_new = self._trials.new_actor(), True
                return self.next()
            self._is_alive = False
            return {"kind": "error", "text": f"its process on Ray has ended: {first_line(error)}"}
        for name, content in files.items():
            path = Path(getattr(self._job, name))
            try:
                write_whole(path, content)
            except OSError as error:
                return {"kind": "error", "text": f"{path} cannot be written: {error.strerror}"}
        return message

    def kill(self) -> None:
        """End the trial."""
        self._is_alive = False
        with suppress(self._ray.exceptions.RayError):  # it has ended, or its machine is gone
            self._ray.get(self._actor.kill.remote(), timeout=_STOP_SECONDS)
        self._ray.kill(self._actor)

    def close(self) -> None:
        """Leave the actor to another trial."""
        if self._is_alive:
            self._trials.idle.append(self._actor)
        else:
            self._ray.kill(self._actor)


class TrialActor:
    """The process of a trial on the machine where this object is.

    Args:
        threads: as for `TrialProcess`.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def _start(self, job: TrialJob) -> None:
        """Start a job with temporary files in place of its own."""
        self._folder = TemporaryDirectory(prefix="playgrad-")
        log, weights = (
            str(Path(self._folder.name, Path(path).name)) for path in (job.log, job.weights)
        )
        options = job.options
        if (gpu := reserved_gpu()) and options.get("device") in (None, "gpu"):
            options = options | {"device": gpu}
        self._job = replace(job, log=log, weights=weights, options=options)
        self._process = TrialProcess(self._job, self._threads)

    def next(self, request: TrialJob | bool) -> tuple[Message, Files]:
        """Return the next message, and after the last one the files.

        Args:
            request: the job to start, or the answer to its last message.
        """
        if isinstance(request, TrialJob):
            self._start(request)
            message = self._process.next()
        else:
            message = self._process.next(request)
        if message["kind"] == "epoch":
            return message, {}
        self._process.close()
        paths = {"log": Path(self._job.log), "weights": Path(self._job.weights)}
        files = {name: path.read_bytes() for name, path in paths.items() if path.exists()}
        self._folder.cleanup()
        return message, files

    def kill(self) -> None:
        """End the process and all that it has started."""
        self._process.kill()
