"""Models, or their weights, saved during training."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playgrad.errors import CheckpointError, DataError
from playgrad.io.project_archive import ENDING
from playgrad.io.weights import FORMATS
from playgrad.runtime.phrases import phrase
from playgrad.training.callbacks import Logs
from playgrad.training.data_checks import check_count
from playgrad.training.monitor import MonitorCallback

_WHOLE = (ENDING, ".keras")
_OF_WEIGHTS = (*(f".{name}" for name in FORMATS), ".weights.h5")


class ModelCheckpoint(MonitorCallback):
    """Save the model or its weights after each epoch, after the best, or every few steps.

    A ``.playgrad`` file has all that is needed to resume training: load it with `pg.load`, then
    call ``fit(..., resume=True)``. `Model.load_weights` loads any of the files. Each is written
    whole or not at all.

    Args:
        filepath: a path that ends in ``.playgrad``, or ``.keras`` for a file of Keras, or in
            ``.safetensors``, ``.npz`` or ``.weights.h5`` for weights. It may hold the number of
            the epoch, from 1, that of the step, and the names of the logs:
            ``"run-{epoch:02d}-{val_loss:.3f}.playgrad"``. Otherwise each file replaces the last.
        monitor: the name in the logs that decides which model is best; ``val_loss`` needs
            validation data, and is known after an epoch only.
        verbose: 1 to print the name of each file.
        save_best_only: whether to save only when ``monitor`` has improved.
        save_weights_only: whether to save weights alone; None goes by the ending.
        mode: "min" or "max": whether smaller or larger is better; "auto" asks the loss or metric of
            that name.
        save_freq: "epoch", or a number of steps.
        initial_value_threshold: with ``save_best_only``, the value to improve upon at first.

    Raises:
        DataError: an argument has a value that is not supported, or does not fit the ending.
        DataError: ``save_freq`` is a number that is not whole, or less than 1.
    """

    def __init__(
        self,
        filepath: str | Path,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool | None = None,
        mode: str = "auto",
        save_freq: str | int = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        if save_freq != "epoch":
            if isinstance(save_freq, str):
                raise DataError(
                    f"save_freq must be 'epoch' or a number of steps, got {save_freq!r}."
                )
            check_count(save_freq, "save_freq")
        super().__init__(monitor, mode)
        self.filepath = str(filepath)
        self.runs_last = _check_ending(self.filepath, save_weights_only)
        self.save_freq = save_freq
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.best = initial_value_threshold
        self._epoch = 0
        self._step = 0

    @property
    def compares(self) -> bool:
        return self.save_best_only

    def get_state(self) -> dict[str, Any]:
        return {"best": self.best, "epoch": self._epoch}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.best, self._epoch = state["best"], state.get("epoch", 0)

    def steps_left(self, step: int) -> int:
        if isinstance(self.save_freq, str):
            return super().steps_left(step)
        return self.save_freq - step % self.save_freq

    def on_epoch_begin(self, epoch: int, logs: Logs) -> None:
        self._epoch = epoch

    def on_steps_end(self, step: int, logs: Logs) -> None:
        self._step = step
        if not isinstance(self.save_freq, str) and step % self.save_freq == 0:
            self._save(self._epoch, logs)

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        if self.save_freq == "epoch":
            self._save(epoch, logs)

    def _save(self, epoch: int, logs: Logs) -> None:
        if self.save_best_only:
            value = self.value_in(logs)
            if value is None or not self.improves(value, self.best):
                return
            self.best = value
        path = self._path(epoch, logs)
        if self.runs_last:
            self.model.save(path)
        else:
            self.model.save_weights(path)
        if self.verbose:
            print(phrase("saved", epoch=epoch + 1, path=path))

    def _path(self, epoch: int, logs: Logs) -> str:
        names = {"epoch": epoch + 1, "step": self._step, **logs}
        try:
            return self.filepath.format(**names)
        except (KeyError, IndexError, ValueError) as error:
            raise CheckpointError(
                f"ModelCheckpoint cannot name a file by {self.filepath!r}: {error}.",
                hint=f"Use {{epoch}}, {{step}} or one of the logs: {', '.join(logs)}.",
            ) from None


def _check_ending(path: str, weights_only: bool | None) -> bool:
    """Return whether files with the ending of ``path`` have more than weights.

    Raises:
        DataError: there are no such files, or ``weights_only`` says something else.
    """
    low = path.lower()
    ending = ".weights.h5" if low.endswith(".weights.h5") else Path(low).suffix
    if ending not in (*_WHOLE, *_OF_WEIGHTS):
        raise DataError(
            f"filepath must end in {' or '.join(_WHOLE)}, or in {' or '.join(_OF_WEIGHTS)} for "
            f"weights, got {path!r}."
        )
    has_all = ending in _WHOLE
    if weights_only is not None and weights_only == has_all:
        needed = " or ".join(_OF_WEIGHTS) if weights_only else " or ".join(_WHOLE)
        raise DataError(
            f"with save_weights_only={weights_only}, filepath must end in {needed}, got {path!r}."
        )
    return has_all
