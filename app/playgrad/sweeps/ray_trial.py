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
from typing import TypeAlias

from playgrad.parallel.ray_cluster import Ray, first_line, reserved_gpu
from playgrad.sweeps.pool import Message
from playgrad.sweeps.trial_process import TrialProcess
from playgrad.sweeps.worker import TrialJob

Files: TypeAlias = dict[str, bytes]
"""By the names of a job's attributes, "log" and "weights"."""

_STOP_SECONDS = 5.0


class RayTrial:
    """A job on a machine that Ray chooses.

    Args:
        ray: the module, connected.
        cluster: says what the trial takes.
    """

    def __init__(self, job: TrialJob, ray: ModuleType, cluster: Ray) -> None:
        self._job = job
        self._ray = ray
        self._actor = cluster.new_actor(ray, TrialActor, job, cluster.threads, methods=2)

    def next(self, continues: bool | None = None) -> Message:
        """Return the next message; see `playgrad.sweeps.pool.RunningTrial`."""
        try:
            message, files = self._ray.get(self._actor.next.remote(continues))
        except self._ray.exceptions.RayError as error:
            return {"kind": "error", "text": f"its process on Ray has ended: {first_line(error)}"}
        for name, content in files.items():
            path = Path(getattr(self._job, name))
            try:
                path.write_bytes(content)
            except OSError as error:
                return {"kind": "error", "text": f"{path} cannot be written: {error.strerror}"}
        return message

    def kill(self) -> None:
        """End the trial."""
        with suppress(self._ray.exceptions.RayError):  # it has ended, or its machine is gone
            self._ray.get(self._actor.kill.remote(), timeout=_STOP_SECONDS)
        self._ray.kill(self._actor)

    def close(self) -> None:
        """Free the resources that Ray has reserved."""
        self._ray.kill(self._actor)


class TrialActor:
    """The process of a trial on the machine where this object is.

    Args:
        job: its files are replaced by temporary ones.
        threads: as for `TrialProcess`.
    """

    def __init__(self, job: TrialJob, threads: int) -> None:
        self._folder = TemporaryDirectory(prefix="playgrad-")
        log, weights = (
            str(Path(self._folder.name, Path(path).name)) for path in (job.log, job.weights)
        )
        options = job.options
        if (gpu := reserved_gpu()) and options.get("device") in (None, "gpu"):
            options = options | {"device": gpu}
        self._job = replace(job, log=log, weights=weights, options=options)
        self._process = TrialProcess(self._job, threads)

    def next(self, continues: bool | None) -> tuple[Message, Files]:
        """Return the next message, and after the last one the files."""
        message = self._process.next(continues)
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
