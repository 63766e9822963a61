"""Progress of training: events for the hooks, and a printed line per epoch."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.runtime.phrases import phrase
from playgrad.training.chunk_loop import Watch

_SPEED_SECONDS = 5.0
"""Steps per second are measured over about this time."""
_MOST_POINTS = 20_000
"""Steps before a resumed training that are reported again."""


class TrainingProgress:
    """Emits ``fit_begin``, ``progress``, ``epoch_end`` and ``fit_end``.

    Time spent paused does not count.

    Args:
        names: the columns of the logs.
        total: the number of steps; 0 if it is not known.
        verbose: 1 to print a line after each epoch.

    Attributes:
        epoch: the number of the epoch, from 1.
        logs: the logs of the last epoch.
    """

    def __init__(self, watch: Watch, names: Sequence[str], total: int, verbose: int) -> None:
        self.watch = watch
        self.names = list(names)
        self.total = total
        self.verbose = verbose
        self.epoch = 1
        self.epochs = 0
        self.accuracy = next((i for i, name in enumerate(names) if name.endswith("accuracy")), None)
        self._started = time.perf_counter()
        self._epoch_began = 0.0
        self._recent: deque[tuple[float, int]] = deque()
        self.logs: Mapping[str, float] = {}

    @property
    def seconds(self) -> float:
        """Seconds since ``begin``, without pauses."""
        return time.perf_counter() - self._started - self.watch.seconds_paused

    @property
    def _test_accuracy(self) -> float | None:
        return None if self.accuracy is None else self.logs.get(f"val_{self.names[self.accuracy]}")

    def begin(
        self,
        epochs: int,
        done: int,
        seconds: float,
        rows: np.ndarray[Any, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Emit ``fit_begin`` with ``facts`` about the training.

        Args:
            done, seconds: the steps done before, and their time, if the training is resumed.
            rows: loss and metrics of those steps. A page that ended without notice has not shown
                all of them.
        """
        if rows is not None and len(rows):
            facts["points"] = self._points(done, rows[-_MOST_POINTS:])
        self.epochs = epochs
        self._started = time.perf_counter() - seconds
        self._epoch_began = seconds
        self._recent.append((seconds, done))
        self.watch.hooks.emit(
            {
                "kind": "fit_begin",
                "epochs": epochs,
                "done": done,
                "total_steps": self.total,
                "metrics": self.names[1:],
                **facts,
            }
        )

    def steps(self, done: int, rows: np.ndarray[Any, Any]) -> None:
        """Emit ``progress``.

        Args:
            done: the number of steps done so far.
            rows: loss and metrics of the latest of them.
        """
        seconds = self.seconds
        self._recent.append((seconds, done))
        while len(self._recent) > 2 and self._recent[1][0] < seconds - _SPEED_SECONDS:
            self._recent.popleft()
        since, before = self._recent[0]
        speed = (done - before) / max(seconds - since, 1e-9)
        self.watch.hooks.emit(
            {
                "kind": "progress",
                "epoch": self.epoch,
                "step": done,
                "total_steps": self.total,
                "points": self._points(done, rows),
                "steps_per_second": speed,
                "seconds": seconds,
                "eta_seconds": (self.total - done) / speed if speed and self.total else None,
            }
        )

    def _points(self, done: int, rows: np.ndarray[Any, Any]) -> list[list[float | None]]:
        """Return step, loss and accuracy of the steps up to ``done``."""
        first = done - len(rows) + 1
        return [
            [
                first + i,
                float(row[0]),
                None if self.accuracy is None else float(row[self.accuracy]),
            ]
            for i, row in enumerate(rows)
        ]

    def epoch_end(self, done: int, logs: Mapping[str, float]) -> None:
        """Emit ``epoch_end`` with the means and the seconds of the epoch, and print them."""
        now = self.seconds
        seconds, self._epoch_began = now - self._epoch_began, now
        name = None if self.accuracy is None else self.names[self.accuracy]
        self.logs = logs
        self.watch.hooks.emit(
            {
                "kind": "epoch_end",
                "epoch": self.epoch,
                "step": done,
                "loss": logs["loss"],
                "accuracy": None if name is None else logs[name],
                "test_loss": logs.get("val_loss"),
                "test_accuracy": self._test_accuracy,
                "seconds": seconds,
            }
        )
        if self.verbose:
            numbers = ", ".join(f"{key} {value:.4f}" for key, value in logs.items())
            epochs, shown = self.epochs, f"{seconds:.1f}"
            line = phrase("epoch", epoch=self.epoch, epochs=epochs, numbers=numbers, seconds=shown)
            print(line, flush=True)

    def end(self, reason: str, done: int, dispatches: int, parallel: Mapping[str, Any]) -> None:
        """Emit ``fit_end``.

        Args:
            reason: "completed", "stopped" or "failed".
            dispatches: the number of dispatches per step.
            parallel: the report of the strategy.
        """
        self.watch.hooks.emit(
            {
                "kind": "fit_end",
                "reason": reason,
                "steps": done,
                "seconds": self.seconds,
                "test_accuracy": self._test_accuracy,
                "dispatches_per_step": dispatches,
                "parallel": dict(parallel),
            }
        )
