"""The process of one trial: ``python -m playgrad.sweeps.worker``.

It reads a `TrialJob` as a line of JSON from standard input, and writes messages as lines of JSON to
standard output. What the program prints goes to a file. After an epoch that is a milestone, it
waits for a line that says whether to continue.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import pickle
import signal
import sys
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from playgrad.runtime.hooks import set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.program_file import run_program
from playgrad.sweeps.space import Settings
from playgrad.sweeps.trial_hooks import TrialHooks, returned


@dataclass(frozen=True)
class TrialJob:
    """What one trial is to do.

    Attributes:
        settings: values by their names.
        program: the path of the program; None for a function.
        source: the program's text, with the settings; the pickled function in Base64.
        options: values for `Options`.
        weights: the file for the weights of the last model.
        log: the file for what is printed.
        milestones: numbers of epochs after which the trial may be ended.
    """

    settings: Settings
    program: str | None
    source: str
    options: dict[str, Any]
    weights: str
    log: str
    milestones: list[int] = field(default_factory=list)

    def to_json(self) -> str:
        """Return the job as a line of JSON."""
        return json.dumps(asdict(self))


class ProcessHooks(TrialHooks):
    """Sends messages as lines of JSON, and reads the answers.

    Args:
        questions, answers: the streams for them.
    """

    def __init__(self, job: TrialJob, questions: BinaryIO, answers: BinaryIO) -> None:
        super().__init__(job.milestones)
        self._parent = os.getppid()
        self._questions = questions
        self._answers = answers

    def tell(self, **message: Any) -> None:
        """Send a message."""
        self._questions.write(json.dumps(message).encode() + b"\n")
        self._questions.flush()

    def judged(self, **message: Any) -> bool:
        self.tell(**message)
        return self._answers.readline().strip() == b"continue"

    def stopped(self) -> bool:
        return super().stopped() or os.getppid() != self._parent


def run_job(job: TrialJob, hooks: TrialHooks) -> dict[str, Any]:
    """Run a job, and return the message about its end.

    Raises:
        GraphError: the program has trained nothing by ``fit``.
    """
    before = set_hooks(hooks)
    try:
        with options_set(Options(**job.options)):
            return hooks.run(partial(_work, job), Path(job.weights))
    finally:
        set_hooks(before)


def _work(job: TrialJob) -> dict[str, float]:
    """Run a job; return what its function returned."""
    if job.program is None:
        function = pickle.loads(base64.b64decode(job.source))  # ours, from our pipe
        return returned(function(**job.settings))
    run_program(Path(job.program), job.options.get("seed") or 0, job.source.encode())
    return {}


def _end_with_parent() -> None:
    """Have the system end this process when the one that started it has ended: on Linux, by
    ``PR_SET_PDEATHSIG`` of ``prctl(2)``. Elsewhere, `TrialHooks.stopped` notices it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main() -> int:
    """Run the job on standard input."""
    _end_with_parent()
    answers, questions = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    job = TrialJob(**json.loads(answers.readline()))
    log = os.open(job.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for stream, file in ((0, nothing), (1, log), (2, log)):
        os.dup2(file, stream)
    hooks = ProcessHooks(job, questions, answers)
    try:
        hooks.tell(**run_job(job, hooks))
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
        text = str(error).partition("\n")[0]
        hooks.tell(kind="error", text=f"{type(error).__name__}: {text}" if text else repr(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
