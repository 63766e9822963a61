"""``playgrad sweep``: trains a program with many settings, and reports the best."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TypeVar

from playgrad.errors import DataError
from playgrad.runtime.default_device import AUTO
from playgrad.sweeps.halving import Halving
from playgrad.sweeps.record import PROJECT, WEIGHTS
from playgrad.sweeps.space import Between, Value
from playgrad.sweeps.subject import Subject
from playgrad.sweeps.sweep import Sweep, trial_in_words

T = TypeVar("T")


def sweep(program: Path, options: argparse.Namespace) -> int:
    """Run the trials that the command line describes; return 1 if none has a result."""
    grid: dict[str, list[Value]] = _by_name(options.grid)
    random: dict[str, Between | list[Value]] = _by_name(options.random)
    halving = None
    if options.halving is not None:
        halving = Halving(options.epochs, options.first_epochs or 1, options.halving)
    path = options.folder or Path(f"sweep-{program.stem}")
    trials = Sweep(
        Subject.of_program(program), grid, random, options.trials, path,
        metric=options.metric, mode=options.mode, halving=halving,
        options={
            "device": None if options.device == AUTO else options.device,
            "epochs": options.epochs,
            "batch_size": options.batch_size,
            "seed": options.seed,
        },
        parallel=options.parallel, ray=options.ray,
        report=lambda trial: _say(trial_in_words(trial)),
    )  # fmt: skip
    if former := trials.folder.former:
        _say(f"continuing: {len(former)} trials in {path} have ended")
    result = trials.run()
    best = result.best
    if options.json:
        record = {
            "metric": result.metric, "direction": result.direction, "folder": str(result.folder),
            "best": best.to_json(), "trials": [trial.to_json() for trial in result.trials],
        }  # fmt: skip
        print(json.dumps(record), flush=True)
        return 0
    print(result)
    if result.weights is not None:
        print(f"weights of the best: {path / WEIGHTS}")
    print(f"all runs, for the page: {path / PROJECT}")
    return 0


def _by_name(pairs: list[tuple[str, T]] | None) -> dict[str, T]:
    """Return settings by their names.

    Raises:
        DataError: a name is given twice.
    """
    settings = dict(pairs or [])
    if len(settings) < len(pairs or []):
        raise DataError("a setting is given twice.")
    return settings


def _say(text: str) -> None:
    print(f"playgrad: {text}", file=sys.stderr, flush=True)
