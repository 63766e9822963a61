"""The folder of a sweep: its record, from which it can be continued, and the weights of the best.

``sweep.json`` is replaced as a whole after each trial. ``sweep.playgrad`` is a project whose runs
are the trials, for the page.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playgrad.errors import CheckpointError
from playgrad.io.whole_files import write_whole
from playgrad.sweeps.program_settings import with_settings
from playgrad.sweeps.space import in_words
from playgrad.sweeps.trial import CUT, DONE, RUNNING, SweepTrial, finite
from playgrad.training.checkpoints.project_file import SavedProgram, pack_project

FILE = "sweep.json"
PROJECT = "sweep.playgrad"
WEIGHTS = "best.safetensors"
_FORMAT = "playgrad sweep"
_VERSION = 1
_MOST_RUNS = 30
"""Runs that the page keeps."""
_STATES = {DONE: "done", CUT: "stopped"}


class SweepFolder:
    """The folder of a sweep.

    Args:
        path: is created.
        about: what is tried and how; a sweep is continued only with the same.

    Raises:
        CheckpointError: the folder cannot be created or read, or has another sweep.
    """

    def __init__(self, path: Path, about: Mapping[str, Any]) -> None:
        self.path = path.absolute()  # a program may change the working directory
        self.about = json.loads(json.dumps(about))
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"{path} cannot be created: {error.strerror}.") from None
        self.former = self._read()

    def _read(self) -> dict[int, SweepTrial]:
        """Return the trials of the record that have ended, by their numbers."""
        file = self.path / FILE
        try:
            record = json.loads(file.read_bytes())
            if (record["format"], record["version"]) != (_FORMAT, _VERSION):
                raise CheckpointError(f"{file} is of another version.")
            trials = [SweepTrial.from_json(each) for each in record["trials"]]
            about = dict(record["about"])
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise CheckpointError(
                f"{file} cannot be read: {error}.", hint="Choose another folder, or delete it."
            ) from None
        if about != self.about:
            names = [
                name
                for name in self.about.keys() | about.keys()
                if self.about.get(name) != about.get(name)
            ]
            raise CheckpointError(
                f"{self.path} has another sweep, with another {', '.join(sorted(names))}.",
                hint="Choose another folder.",
            )
        return {trial.number: trial for trial in trials if trial.ended}

    def weights_of(self, trial: SweepTrial) -> Path:
        """Return the file in which a trial leaves its weights."""
        return self.path / f"trial-{trial.number}.safetensors"

    def log_of(self, trial: SweepTrial) -> Path:
        """Return the file of what a trial prints."""
        return self.path / f"trial-{trial.number}.log"

    def write(self, trials: Sequence[SweepTrial]) -> None:
        """Write the record.

        Raises:
            CheckpointError: the disk is full, or the folder not writable.
        """
        record = {
            "format": _FORMAT, "version": _VERSION, "about": self.about,
            "trials": [trial.to_json() for trial in trials if trial.state != RUNNING],
        }  # fmt: skip
        self._write(FILE, json.dumps(record, indent=1).encode())

    def write_project(
        self, source: str, title: str, trials: Sequence[SweepTrial], best: SweepTrial
    ) -> None:
        """Write the best trials as runs of a project, whose program is that of the best.

        Args:
            source: the program's text.
            title: its name.
            trials: the best first.

        Raises:
            CheckpointError: the disk is full, or the folder not writable.
        """
        now = round(1000 * time.time())
        program = SavedProgram(title, with_settings(source, best.settings))
        shown = sorted(trials[:_MOST_RUNS], key=lambda trial: trial.number)
        runs = [
            _run(trial, with_settings(source, trial.settings), now) | {"exampleId": program.id}
            for trial in shown
        ]
        progress = {"state": "ready", "step": 0, "totalSteps": 0}
        name = f"{title}, sweep"
        self._write(PROJECT, pack_project(program, name, now, progress, {"runs": runs}))

    def _write(self, name: str, content: bytes) -> None:
        try:
            write_whole(self.path / name, content)
        except OSError as error:
            raise CheckpointError(
                f"{self.path / name} cannot be written: {error.strerror}."
            ) from None


def _run(trial: SweepTrial, code: str, now: int) -> dict[str, Any]:
    """Return a trial as the page records a run."""
    facts, metrics = trial.facts, trial.metrics

    def metric(ending: str, test: bool) -> float | None:
        names = [n for n in metrics if n.endswith(ending) and n.startswith("val_") == test]
        return finite(metrics[names[0]]) if names else None

    return {
        "id": now + trial.number, "number": trial.number, "title": in_words(trial.settings),
        "code": code, "device": "auto", "ranOn": facts.get("adapter") or facts.get("device", "CPU"),
        "lab": None, "state": _STATES.get(trial.state, "error"), "step": facts.get("step", 0),
        "totalSteps": facts.get("total_steps", 0), "seconds": trial.seconds,
        "loss": metric("loss", False), "accuracy": metric("accuracy", False),
        "testAccuracy": metric("accuracy", True), "trainAccuracy": metric("accuracy", False),
        "testLoss": metric("loss", True), "isPinned": False, "colour": (trial.number - 1) % 8,
        "parameters": facts.get("parameters", 0), "epochs": facts.get("epochs", 0),
        "steps": trial.steps, "losses": trial.losses,
    }  # fmt: skip
