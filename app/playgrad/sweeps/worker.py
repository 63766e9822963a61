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
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from numbers import Real
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from playgrad.errors import DataError, GraphError
from playgrad.runtime.hooks import Event, Hooks, set_hooks
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.program_file import run_program
from playgrad.sweeps.space import Settings
from playgrad.sweeps.trial import finite
from playgrad.training.callbacks import History

MOST_POINTS = 240
"""Points of a curve that are kept, as many as the page draws."""


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


class TrialHooks(Hooks):
    """Collects the curve of the last ``fit``, and asks at milestones whether to continue."""

    def __init__(self, job: TrialJob, questions: BinaryIO, answers: BinaryIO) -> None:
        self.job = job
        self.model: Any = None  # trained by `fit` last
        self.looped: Any = None  # trained by a loop of the program's own last
        self.facts: dict[str, Any] = {}
        self.cut = False
        self._parent = os.getppid()
        self._questions = questions
        self._answers = answers

    def tell(self, **message: Any) -> None:
        """Send a message."""
        self._questions.write(json.dumps(message).encode() + b"\n")
        self._questions.flush()

    def fitting(self, model: Any) -> None:
        self.model = model

    def looping(self, model: Any) -> None:
        self.looped = model

    def stopped(self) -> bool:
        """Return whether the trial is to end: it was compared, or nobody waits for it any more."""
        return self.cut or os.getppid() != self._parent

    def emit(self, event: Event) -> None:
        kind = event["kind"]
        if kind == "fit_begin":
            names = ("device", "adapter", "parameters", "epochs", "total_steps")
            self.facts = {name: event[name] for name in names if name in event}
        elif kind == "progress":
            self.facts["step"] = event["step"]
        elif kind == "epoch_end" and event["epoch"] in self.job.milestones:
            self.tell(kind="epoch", epoch=event["epoch"], **self.results(self.metrics()))
            self.cut = self._answers.readline().strip() != b"continue"

    @property
    def history(self) -> History | None:
        """That of the last ``fit``; None before the first."""
        return getattr(self.model, "history", None)

    def metrics(self) -> dict[str, float]:
        """Return the last value of each loss and metric."""
        return {} if self.history is None else last_values(self.history)

    def results(self, metrics: dict[str, float]) -> dict[str, Any]:
        """Return metrics, and whether smaller ("min") or larger values ("max") are better."""
        directions = {} if self.model is None else {n: self.model.direction_of(n) for n in metrics}
        return {"metrics": metrics, "directions": directions}

    def curve(self) -> dict[str, list[Any]]:
        """Return the losses of the last ``fit``, thinned, and their steps."""
        losses = np.zeros(0) if self.history is None else self.history.steps[:, 0]
        kept = np.unique(np.linspace(0, len(losses) - 1, MOST_POINTS).astype(int))
        kept = kept[kept >= 0][: len(losses)]
        return {
            "steps": [int(step) + 1 for step in kept],
            "losses": [finite(float(losses[step])) for step in kept],
        }


def last_values(history: History) -> dict[str, float]:
    """Return the last value of each loss and metric of a history."""
    return {name: float(values[-1]) for name, values in history.history.items() if values}


def returned(result: Any) -> dict[str, float]:
    """Return what a function of a sweep returned, as metrics.

    Args:
        result: None, a number, numbers by their names, or what ``fit`` returns.

    Raises:
        DataError: it is something else.
    """
    if result is None:
        return {}
    if isinstance(result, History):
        return last_values(result)
    if isinstance(result, Mapping) and all(isinstance(each, Real) for each in result.values()):
        return {str(name): float(value) for name, value in result.items()}
    try:
        return {"value": float(result)}
    except (TypeError, ValueError):
        raise DataError(
            f"the function returned {type(result).__name__}.",
            hint="Return a number, a dictionary of numbers, or what fit() returns.",
        ) from None


def run_job(job: TrialJob, hooks: TrialHooks) -> dict[str, Any]:
    """Run a job, and return the message about its end.

    Raises:
        GraphError: the program has trained nothing by ``fit``.
    """
    before = set_hooks(hooks)
    try:
        with options_set(Options(**job.options)):
            try:
                result = _work(job)
            except KeyboardInterrupt:  # by which `fit` ends when it is stopped
                if not hooks.cut:
                    raise
                result = {}
        metrics = hooks.metrics() | result
        if not metrics:
            raise GraphError(
                "the program called no fit(), so there is nothing to compare.",
                hint="Train with fit(), or pass a function that returns a number to pg.sweep.",
            )
        model = hooks.model or hooks.looped
        if model is not None:
            try:
                model.save_weights(job.weights)
            except GraphError as error:  # the program has closed it
                print(f"The weights are not kept: {error}", file=sys.stderr)
        about = {"cut": hooks.cut, "facts": hooks.facts}
        return {"kind": "end", **hooks.results(metrics), **about, **hooks.curve()}
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
    hooks = TrialHooks(job, questions, answers)
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
