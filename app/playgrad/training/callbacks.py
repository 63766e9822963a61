"""Callbacks: user code that ``fit`` calls, and the history that it returns."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Protocol

import numpy as np

from playgrad.ops.state import Variable
from playgrad.optim.optimizer import Optimizer, checked_rate
from playgrad.runtime.phrases import phrase
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]
Logs = dict[str, float]
LEARNING_RATE = "learning_rate"
"""The name under which callbacks that change the learning rate add it to the logs of an epoch."""


class TrainedModel(Protocol):
    """The parts of a model that callbacks may use while it is trained."""

    stop_training: bool

    @property
    def optimizer(self) -> Optimizer | None: ...

    @property
    def session(self) -> Session: ...

    def evaluate(self, x: Any, y: Any, batch_size: int | None = None) -> Any: ...

    def predict(self, x: Any, batch_size: int | None = None) -> Any: ...

    @property
    def trainable_variables(self) -> list[Variable]: ...

    def direction_of(self, log: str) -> str | None: ...

    def named_weights(self) -> dict[str, Array]: ...

    def set_weights(self, values: Mapping[str, Array]) -> None: ...

    def save_weights(self, file: Any) -> None: ...

    def save(self, file: Any) -> None: ...


class Callback:
    """Base class of callbacks: override the methods that ``fit`` should call.

    Training stays on the device for many steps at a time. ``on_steps_end`` is called after each
    such chunk of steps, which takes at most about 0.1 s. A callback with ``on_train_batch_begin``
    or ``on_train_batch_end`` makes every chunk one step, which small models notice.

    Attributes:
        model: the model being trained. Set ``model.stop_training = True`` to end training after
            the current epoch, or in ``on_train_batch_end`` after the current step.
        observer: an `Observer` that watches the training for the callback, if there is one.
        runs_last: whether it is called after the others, so that it saves their states.
        ends_last: whether its ``on_train_end`` is called after those of others, which may have
            replaced the weights.
    """

    model: TrainedModel
    observer: Any = None
    runs_last: bool = False
    ends_last: bool = False

    def steps_left(self, step: int) -> int:
        """Return the most steps that the next chunk after ``step`` steps may have.

        A callback that has something to do at exact steps limits them here.
        """
        return sys.maxsize

    def set_model(self, model: TrainedModel) -> None:
        """Set ``model``; called before training begins."""
        self.model = model

    def get_state(self) -> dict[str, Any]:
        """Return the state that a resumed training needs: numbers, text, arrays, and dictionaries
        of them. Without it, the callback begins anew when training is resumed from a checkpoint."""
        return {}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take over the result of ``get_state``. Called after ``on_train_begin``, or in its place
        if the training was completed."""

    def on_train_begin(self, logs: Logs) -> None:
        """Called before the first epoch."""

    def on_train_end(self, logs: Logs) -> None:
        """Called after the last epoch, and after the averages of ``use_ema`` became the weights."""

    def on_train_interrupted(self, error: BaseException) -> None:
        """Called in place of ``on_train_end`` if training is stopped or fails.

        It may change the weights: a resumed training nevertheless continues with the weights of
        its last step. Not called after the loss of a device, after which the next ``fit``
        continues.

        Args:
            error: the error that ended the training; KeyboardInterrupt if it was stopped.
        """

    def on_epoch_begin(self, epoch: int, logs: Logs) -> None:
        """Called before epoch ``epoch``, counted from 0."""

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        """Called after an epoch.

        Args:
            logs: means of loss and metrics over the epoch; means over the validation data have the
                prefix ``val_``. Numbers that a callback adds are in the history, too.
        """

    def on_test_begin(self, logs: Logs) -> None:
        """Called before the validation data is evaluated."""

    def on_test_end(self, logs: Logs) -> None:
        """Called after the validation data has been evaluated; ``logs`` are the results."""

    def on_train_batch_begin(self, batch: int, logs: Logs) -> None:
        """Called before each step; ``batch`` is its number in the epoch, from 0."""

    def on_train_batch_end(self, batch: int, logs: Logs) -> None:
        """Called after each step.

        Args:
            batch: the number of the step in the epoch, from 0.
            logs: means of loss and metrics over the epoch so far.
        """

    @property
    def watches_batches(self) -> bool:
        """True if the callback has a method that is called for every batch."""
        return self._has("on_train_batch_begin", "on_train_batch_end")

    @property
    def minds_interruptions(self) -> bool:
        """True if the callback has the method ``on_train_interrupted``."""
        return self._has("on_train_interrupted")

    def _has(self, *names: str) -> bool:
        return any(
            name in vars(self) or getattr(type(self), name) is not getattr(Callback, name)
            for name in names
        )

    def on_steps_end(self, step: int, logs: Logs) -> None:
        """Called after a chunk of steps.

        Args:
            step: the number of steps done so far.
            logs: loss and metrics of the last step.
        """


class LambdaCallback(Callback):
    """A callback made of functions: ``LambdaCallback(on_epoch_end=lambda epoch, logs: ...)``.

    Raises:
        TypeError: a name is not that of a method of `Callback`.
    """

    def __init__(self, **functions: Callable[..., Any]) -> None:
        for name, function in functions.items():
            if not (name.startswith("on_") and hasattr(Callback, name)):
                known = [method for method in vars(Callback) if method.startswith("on_")]
                raise TypeError(f"LambdaCallback has no {name}; use {', '.join(known)}")
            setattr(self, name, function)


class LearningRateScheduler(Callback):
    """Set the learning rate before each epoch; the history has it as ``learning_rate``.

    Args:
        schedule: ``schedule(epoch, current_rate) -> rate`` or ``schedule(epoch) -> rate``, with
            epochs counted from 0. A rate that is not a finite number of at least 0 raises
            ValueError.
        verbose: 1 to print each rate.
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0) -> None:
        self.schedule = schedule
        self.verbose = verbose
        self._takes_rate = _takes_two(schedule)

    def on_epoch_begin(self, epoch: int, logs: Logs) -> None:
        optimizer, session = self.model.optimizer, self.model.session
        assert optimizer is not None
        arguments: tuple[Any, ...] = (epoch,)
        if self._takes_rate:
            arguments += (float(session.value(optimizer.learning_rate)),)
        rate = self.schedule(*arguments)
        session.assign({optimizer.learning_rate: checked_rate(rate)})
        if self.verbose:
            print(phrase("rate", epoch=epoch + 1, rate=f"{rate:g}"))

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        optimizer = self.model.optimizer
        assert optimizer is not None
        logs[LEARNING_RATE] = float(self.model.session.value(optimizer.learning_rate))


def _takes_two(function: Callable[..., Any]) -> bool:
    """Return whether ``function`` can be called with two arguments; True if nothing is known."""
    try:
        inspect.signature(function).bind(0, 0.0)
    except TypeError:
        return False
    except ValueError:  # a function without a signature
        pass
    return True


class TerminateOnNaN(Callback):
    """End training, without an error, when a loss is NaN or infinite.

    Without this callback `fit` raises NonFiniteError. Either way the weights are as
    before the step.

    Args:
        raise_error: whether to raise NonFiniteError all the same.
    """

    def __init__(self, raise_error: bool = False) -> None:
        self.raise_error = raise_error


class History:
    """Losses and metrics of one ``fit``.

    Attributes:
        history: for each name, a list with one mean per epoch; names of validation results begin
            with ``val_``. Callbacks may have added others, such as ``learning_rate``.
        epoch: the numbers of the epochs, from 0.
        steps: float32 (steps, columns): loss and metrics of every step, with columns as in
            ``names``.
        names: ``loss``, then the metrics; one such as precision has a column for each mean that it
            is computed from, ``precision/hits``.
        seconds: duration of training and evaluation, without pauses.
        train_seconds: duration without evaluation.
        parallel: the report of the strategy; for asynchronous replicas, their updates, their
            staleness and the devices that were lost.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []
        self.seconds = 0.0
        self.train_seconds = 0.0
        self.parallel: dict[str, Any] = {}
        self._rows: list[np.ndarray[Any, Any]] = []
        self._logged: set[str] = set()

    @property
    def steps(self) -> np.ndarray[Any, Any]:
        return np.concatenate(self._rows or [np.zeros((0, len(self.names)), np.float32)])

    @property
    def losses(self) -> np.ndarray[Any, Any]:
        """The loss of every step."""
        losses: np.ndarray[Any, Any] = self.steps[:, 0]
        return losses

    def restore(
        self,
        steps: np.ndarray[Any, Any],
        means: Mapping[str, list[float]],
        seconds: float,
        train_seconds: float,
    ) -> None:
        """Take over the steps, and the means of the epochs, of a training that is resumed."""
        self.seconds = seconds
        self._rows = [steps]
        self.history = {name: list(values) for name, values in means.items()}
        self.epoch = list(range(len(self.history.get("loss", ()))))
        self.train_seconds = train_seconds

    def add_steps(self, rows: np.ndarray[Any, Any]) -> None:
        """Append the numbers of further steps."""
        self._rows.append(rows)

    def add_epoch(self, epoch: int, logs: Logs) -> None:
        """Append the means of an epoch."""
        self.epoch.append(epoch)
        self._logged = set()
        self.update_epoch(logs)

    def update_epoch(self, logs: Logs) -> None:
        """Take over entries that callbacks have added to the logs of the last epoch or changed."""
        for name, value in logs.items():
            if not isinstance(value, Real):
                continue
            values = self.history.setdefault(name, [])
            if name in self._logged:
                values[-1] = float(value)
            else:
                values.append(float(value))
                self._logged.add(name)
