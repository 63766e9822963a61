"""What user code may do while a model trains, and the record that training leaves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from playgrad.errors import GraphError
from playgrad.optim import checked_rate

if TYPE_CHECKING:
    from playgrad.models.model import Model

Logs = Mapping[str, float]


class Callback:
    """Base of callbacks: methods that ``fit`` calls, each of which does nothing here.

    Training stays on the device for many steps at a time, so there is no call after each batch;
    ``on_steps_end`` comes after each such chunk (at most about a tenth of a second of steps).

    Attributes:
        model: the model being trained. Set ``model.stop_training = True`` to end after the epoch.
    """

    model: Model

    def set_model(self, model: Model) -> None:
        self.model = model

    def on_train_begin(self, logs: Logs) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Logs) -> None:
        """After the last epoch; not when training is stopped or fails."""

    def on_epoch_begin(self, epoch: int, logs: Logs) -> None:
        """Before epoch ``epoch``, counted from 0."""

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        """After an epoch: its means, and those of the validation data with ``val_`` before them."""

    def on_steps_end(self, step: int, logs: Logs) -> None:
        """After a chunk of steps: ``step`` done so far, and the numbers of the last one."""


class LambdaCallback(Callback):
    """A callback of functions, each given by its name."""

    def __init__(self, **functions: Callable[..., Any]) -> None:
        for name, function in functions.items():
            if not (name.startswith("on_") and hasattr(Callback, name)):
                known = [method for method in vars(Callback) if method.startswith("on_")]
                raise TypeError(f"LambdaCallback has no {name}; there are {', '.join(known)}")
            setattr(self, name, function)


class EarlyStopping(Callback):
    """Ends training when a number has not improved for some epochs.

    Args:
        monitor: which of the logs; ``val_loss`` needs validation data.
        min_delta: what counts as an improvement.
        patience: epochs without one that are borne.
        mode: "min" or "max": which way is better; "auto" takes "max" for accuracies.
        restore_best_weights: whether to go back to the best epoch's weights.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0.0,
        patience: int = 0,
        mode: str = "auto",
        restore_best_weights: bool = False,
    ) -> None:
        self.monitor = monitor
        self.min_delta = abs(min_delta)
        self.patience = patience
        self.sign = -1.0 if mode == "max" or (mode == "auto" and "acc" in monitor) else 1.0
        self.restore_best_weights = restore_best_weights
        self.stopped_epoch: int | None = None
        self._forget()

    def _forget(self) -> None:
        self.best = math.inf
        self.waited = 0
        self._weights: Mapping[str, Any] | None = None

    def on_train_begin(self, logs: Logs) -> None:
        self.stopped_epoch = None
        self._forget()

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        if self.monitor not in logs:
            raise GraphError(
                f"EarlyStopping watches {self.monitor!r}, which is not measured.",
                hint=f"There is {', '.join(logs)}; val_ needs validation_data.",
            )
        value = self.sign * logs[self.monitor]
        if value < self.best - self.min_delta:
            self.best, self.waited = value, 0
            if self.restore_best_weights:
                self._weights = self.model.get_weights()
            return
        self.waited += 1
        if self.waited > self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self._weights is not None:
                self.model.set_weights(self._weights)


class LearningRateScheduler(Callback):
    """Sets the learning rate before each epoch: ``schedule(epoch, current rate) -> rate``.

    Raises:
        ValueError: the schedule gave no finite number of at least 0.
    """

    def __init__(self, schedule: Callable[[int, float], float]) -> None:
        self.schedule = schedule

    def on_epoch_begin(self, epoch: int, logs: Logs) -> None:
        optimizer, _ = self.model.compiled()
        session = self.model.session
        rate = self.schedule(epoch, float(session.value(optimizer.learning_rate)))
        session.assign({optimizer.learning_rate: checked_rate(rate)})


class History:
    """The record of a ``fit``.

    Attributes:
        history: for each name a list with one number an epoch, ``val_`` before validation's.
        epoch: the numbers of the epochs, from 0.
        steps: float32 (steps, columns): the numbers of every step, columns as in ``names``.
        names: ``loss``, then the metrics.
        seconds: how long training took, evaluation included, pauses not.
        train_seconds: that without the evaluation.
        parallel: what a strategy has to tell: of asynchronous replicas their updates, staleness
            and losses of devices.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []
        self.seconds = 0.0
        self.train_seconds = 0.0
        self.parallel: dict[str, Any] = {}
        self._rows: list[np.ndarray[Any, Any]] = []

    @property
    def steps(self) -> np.ndarray[Any, Any]:
        return np.concatenate(self._rows or [np.zeros((0, len(self.names)), np.float32)])

    @property
    def losses(self) -> np.ndarray[Any, Any]:
        """The loss of every step."""
        losses: np.ndarray[Any, Any] = self.steps[:, 0]
        return losses

    def add_steps(self, rows: np.ndarray[Any, Any]) -> None:
        self._rows.append(rows)

    def add_epoch(self, epoch: int, logs: Logs) -> None:
        self.epoch.append(epoch)
        for name, value in logs.items():
            self.history.setdefault(name, []).append(value)
