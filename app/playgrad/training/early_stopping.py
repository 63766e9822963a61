"""Ending training when a metric has stopped improving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.errors import PlaygradError
from playgrad.runtime.phrases import phrase
from playgrad.training.callbacks import Logs
from playgrad.training.monitor import MonitorCallback


class EarlyStopping(MonitorCallback):
    """Stop training when a metric has stopped improving.

    Args:
        monitor: the name in the logs to watch; ``val_loss`` needs validation data.
        min_delta: the smallest change that counts as an improvement.
        patience: the number of epochs without improvement after which training stops.
        verbose: 1 to print when training was stopped, and which weights are restored.
        mode: "min" or "max": whether smaller or larger is better; "auto" asks the loss or metric of
            that name.
        baseline: training also stops unless the metric becomes better than this within
            ``patience`` epochs; None for any value.
        restore_best_weights: whether training ends with the weights of the best epoch, also if it
            is stopped or fails.
        start_from_epoch: the first epoch, from 0, that is considered.

    Attributes:
        stopped_epoch: the epoch after which training was stopped; None if it was not.
        best: the best value so far; None before the first.
        best_epoch: the epoch of the best value.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0.0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.start_from_epoch = start_from_epoch
        self.stopped_epoch: int | None = None
        self._reset()

    def _reset(self) -> None:
        self.best = None
        self.best_epoch = 0
        self.waited = 0
        self._weights: Mapping[str, Any] | None = None

    def get_state(self) -> dict[str, Any]:
        return {
            "best": self.best,
            "best_epoch": self.best_epoch,
            "waited": self.waited,
            "stopped_epoch": self.stopped_epoch,
            "weights": None if self._weights is None else dict(self._weights),
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.best, self.waited = state["best"], state["waited"]
        self.best_epoch = state.get("best_epoch", 0)
        self.stopped_epoch, self._weights = state["stopped_epoch"], state["weights"]

    def on_train_begin(self, logs: Logs) -> None:
        self.stopped_epoch = None
        self._reset()

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        if epoch < self.start_from_epoch:
            return
        value = self.value_in(logs)
        if value is None:
            return
        is_best = self.improves(value, self.best)
        if self.restore_best_weights and (is_best or self._weights is None):
            self._weights = self.model.named_weights()
            self.best_epoch = epoch
        self.waited += 1
        if is_best:
            self.best, self.best_epoch = value, epoch
            if self.baseline is None or self.improves(value, self.baseline):
                self.waited = 0
        elif self.waited >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs: Logs) -> None:
        if self.verbose and self.stopped_epoch is not None:
            print(phrase("stoppedEarly", epoch=self.stopped_epoch + 1))
        self._restore()

    def on_train_interrupted(self, error: BaseException) -> None:
        self._restore()
        if self._weights is not None and isinstance(error, PlaygradError):
            epoch = self.best_epoch + 1
            error.message += f" EarlyStopping then restored the weights of epoch {epoch}, the best."

    def _restore(self) -> None:
        if self._weights is not None:
            if self.verbose:
                print(phrase("bestWeights", epoch=self.best_epoch + 1))
            self.model.set_weights(self._weights)
