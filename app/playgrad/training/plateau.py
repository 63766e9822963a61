"""Lower learning rates where training has come to a plateau."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.errors import DataError, GraphError
from playgrad.runtime.phrases import phrase
from playgrad.training.callbacks import LEARNING_RATE, Logs
from playgrad.training.monitor import MonitorCallback


class ReduceLROnPlateau(MonitorCallback):
    """Multiply the learning rate by ``factor`` when a metric has stopped improving.

    The history has the rate of each epoch as ``learning_rate``.

    Args:
        monitor: the name in the logs to watch; ``val_loss`` needs validation data.
        factor: between 0 and 1.
        patience: the number of epochs without improvement after which the rate is reduced.
        verbose: 1 to print each reduction.
        mode: "min" or "max": whether smaller or larger is better; "auto" asks the loss or metric of
            that name.
        min_delta: the smallest change that counts as an improvement.
        cooldown: the number of epochs after a reduction that are not counted.
        min_lr: the smallest rate.

    Raises:
        DataError: an argument is out of range.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ) -> None:
        if not 0.0 < factor < 1.0:
            raise DataError(f"factor of ReduceLROnPlateau must be between 0 and 1, got {factor}.")
        super().__init__(monitor, mode, min_delta)
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.min_lr = min_lr
        self._reset()

    def _reset(self) -> None:
        self.best = None
        self.waited = 0
        self.resting = 0

    def get_state(self) -> dict[str, Any]:
        return {"best": self.best, "waited": self.waited, "resting": self.resting}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.best, self.waited, self.resting = state["best"], state["waited"], state["resting"]

    def on_train_begin(self, logs: Logs) -> None:
        optimizer = self.model.optimizer
        if optimizer is not None and optimizer.schedule is not None:
            raise GraphError(
                f"ReduceLROnPlateau cannot set the rate of {type(optimizer).__name__}: it follows "
                f"the schedule {type(optimizer.schedule).__name__}.",
                hint="Pass the optimizer a number as its learning rate.",
            )
        self._reset()

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        logs[LEARNING_RATE] = self._rate()
        value = self.value_in(logs)
        if value is None:
            return
        if self.resting:
            self.resting -= 1
            self.waited = 0
        if self.improves(value, self.best):
            self.best, self.waited = value, 0
            return
        if self.resting:
            return
        self.waited += 1
        if self.waited >= self.patience:
            self._reduce(epoch)
            self.resting, self.waited = self.cooldown, 0

    def _rate(self) -> float:
        assert self.model.optimizer is not None
        return float(self.model.session.value(self.model.optimizer.learning_rate))

    def _reduce(self, epoch: int) -> None:
        rate = self._rate()
        reduced = max(rate * self.factor, self.min_lr)
        if reduced >= rate:
            return
        assert self.model.optimizer is not None
        self.model.session.assign({self.model.optimizer.learning_rate: reduced})
        if self.verbose:
            print(phrase("reducedRate", epoch=epoch + 1, rate=f"{reduced:g}"))
