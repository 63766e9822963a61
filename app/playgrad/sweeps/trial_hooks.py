"""What a trial learns from its training, and the message about its end."""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.errors import DataError, GraphError
from playgrad.runtime.hooks import Event, Hooks
from playgrad.sweeps.trial import finite
from playgrad.training.callbacks import History

MOST_POINTS = 240
"""Points of a curve that are kept, as many as the page draws."""


class TrialHooks(Hooks):
    """Collects the curve of the last ``fit``, and asks at milestones whether to continue.

    Args:
        milestones: numbers of epochs after which the trial may be ended.
    """

    def __init__(self, milestones: list[int]) -> None:
        self.milestones = milestones
        self.model: Any = None  # trained by `fit` last
        self.looped: Any = None  # trained by a loop of the program's own last
        self.facts: dict[str, Any] = {}
        self.cut = False
        self._began = time.monotonic()

    @abstractmethod
    def judged(self, **message: Any) -> bool:
        """Send a message about a milestone, and return the answer."""

    def fitting(self, model: Any) -> None:
        super().fitting(model)
        self.model = model

    def looping(self, model: Any) -> None:
        super().looping(model)
        self.looped = model

    def stopped(self) -> bool:
        """Return whether the trial is to end: it was compared, or nobody waits for it any more."""
        return self.cut or super().stopped()

    def emit(self, event: Event) -> None:
        super().emit(event)
        kind = event["kind"]
        if kind == "fit_begin":
            names = ("device", "adapter", "parameters", "epochs", "total_steps")
            self.facts = {name: event[name] for name in names if name in event}
        elif kind == "progress":
            self.facts["step"] = event["step"]
        elif kind == "epoch_end" and event["epoch"] in self.milestones:
            results = self.results(self.metrics())
            self.cut = not self.judged(kind="epoch", epoch=event["epoch"], **results)

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

    def run(self, work: Callable[[], dict[str, float]], weights: Path) -> dict[str, Any]:
        """Run a trial, and return the message about its end.

        Args:
            work: runs the program or function, and returns its results.
            weights: the file for the weights of the last model.

        Raises:
            GraphError: nothing was trained by ``fit``.
        """
        try:
            result = work()
        except KeyboardInterrupt:  # by which `fit` ends when it is stopped
            if not self.cut:
                raise
            result = {}
        metrics = self.metrics() | result
        if not metrics:
            raise GraphError(
                "the program called no fit(), so there is nothing to compare.",
                hint="Train with fit(), or pass a function that returns a number to pg.sweep.",
            )
        model = self.model or self.looped
        if model is not None:
            try:
                model.save_weights(weights)
            except GraphError as error:  # the program has closed it
                print(f"The weights are not kept: {error}", file=sys.stderr)
        seconds = round(time.monotonic() - self._began, 3)
        about = {"cut": self.cut, "facts": self.facts, "seconds": seconds}
        return {"kind": "end", **self.results(metrics), **about, **self.curve()}


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
