"""Callbacks that watch a metric: its value in the logs, and whether larger values are better."""

from __future__ import annotations

import math

from playgrad.errors import DataError, GraphError
from playgrad.graph.source import warn_user
from playgrad.training.callbacks import Callback, Logs, TrainedModel


class MonitorCallback(Callback):
    """Base class of callbacks that watch a metric.

    Args:
        monitor: the name in the logs to watch.
        mode: "min" or "max": whether smaller or larger is better; "auto" asks the loss or metric of
            that name.
        min_delta: the smallest change that counts as an improvement.

    Attributes:
        best: the best value so far; None before the first.

    Raises:
        DataError: there is no such mode.
    """

    def __init__(self, monitor: str, mode: str, min_delta: float = 0.0) -> None:
        if mode not in ("auto", "min", "max"):
            raise DataError(f"mode must be 'auto', 'min' or 'max', got {mode!r}.")
        self.monitor = monitor
        self.mode = mode
        self.min_delta = abs(min_delta)
        self.best: float | None = None
        self._has_warned = False
        self._sign = -1.0 if mode == "max" else 1.0

    def set_model(self, model: TrainedModel) -> None:
        """Set ``model``, and learn which direction is better.

        Raises:
            GraphError: ``mode`` is "auto", and no loss or metric says it.
        """
        super().set_model(model)
        if self.mode == "auto" and self.compares:
            direction = model.direction_of(self.monitor)
            if direction is None:
                raise GraphError(
                    f"{type(self).__name__} cannot tell whether smaller or larger values of "
                    f"{self.monitor!r} are better.",
                    hint="Pass mode='min' or mode='max'.",
                )
            self._sign = -1.0 if direction == "max" else 1.0

    @property
    def compares(self) -> bool:
        """Whether values are compared at all."""
        return True

    def value_in(self, logs: Logs) -> float | None:
        """Return the value of the metric; None, with a warning, if it is not in the logs."""
        if self.monitor not in logs:
            if not self._has_warned:
                warn_user(
                    f"{type(self).__name__} watches {self.monitor!r}, which is not in the logs, so "
                    f"it does nothing. Use one of {', '.join(logs)}; val_... needs "
                    "validation_data."
                )
            self._has_warned = True
            return None
        return logs[self.monitor]

    def improves(self, value: float, reference: float | None) -> bool:
        """Return whether ``value`` is better than ``reference``; NaN never is."""
        if reference is None:
            return not math.isnan(value)
        return self._sign * value < self._sign * reference - self.min_delta
