"""Weights saved during training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from playgrad.errors import CheckpointError
from playgrad.training.callbacks import Callback, Logs
from playgrad.training.monitor import monitored, sign_of


class ModelCheckpoint(Callback):
    """Save the weights after each epoch, or after the best.

    Each file is written whole or not at all; `Model.load_weights` loads it.

    Args:
        filepath: a path that ends in ``.safetensors`` or ``.npz``. It may hold the number of the
            epoch, from 1, and the names of the logs: ``"w-{epoch:02d}-{val_loss:.3f}.npz"``.
            Otherwise each file replaces the last.
        monitor: the name in the logs that decides what is best; ``val_loss`` needs validation
            data.
        verbose: 1 to print the name of each file.
        save_best_only: whether to save only when ``monitor`` has improved.
        save_weights_only: must be True: files hold weights, the program builds the model.
        mode: "min" or "max": whether smaller or larger is better; "auto" goes by the name.
        save_freq: must be "epoch": steps run on the device without Python in between.
        initial_value_threshold: with ``save_best_only``, the value to improve upon at first.

    Raises:
        ValueError: an argument has a value that is not supported.
    """

    def __init__(
        self,
        filepath: str | Path,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = True,
        mode: str = "auto",
        save_freq: str | int = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        if not save_weights_only:
            raise ValueError(
                "ModelCheckpoint saves weights only: build the model in the program, then load them"
            )
        if save_freq != "epoch":
            raise ValueError(
                f"save_freq must be 'epoch', got {save_freq!r}; to save more often, train in "
                "shorter epochs"
            )
        self.filepath = str(filepath)
        if Path(self.filepath).suffix not in (".safetensors", ".npz"):
            raise ValueError(f"filepath must end in .safetensors or .npz, got {self.filepath!r}")
        self.monitor = monitor
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.sign = sign_of(monitor, mode)
        threshold = initial_value_threshold
        self.best = math.inf if threshold is None else self.sign * threshold

    def get_state(self) -> dict[str, Any]:
        return {"best": self.best}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.best = state["best"]

    def on_epoch_end(self, epoch: int, logs: Logs) -> None:
        if self.save_best_only:
            value = self.sign * monitored(logs, self.monitor, "ModelCheckpoint")
            if not value < self.best:
                return
            self.best = value
        path = self._path(epoch, logs)
        self.model.save_weights(path)
        if self.verbose:
            print(f"epoch {epoch + 1}: saved {path}")

    def _path(self, epoch: int, logs: Logs) -> str:
        try:
            return self.filepath.format(epoch=epoch + 1, **logs)
        except (KeyError, IndexError, ValueError) as error:
            raise CheckpointError(
                f"ModelCheckpoint cannot name a file by {self.filepath!r}: {error}.",
                hint=f"Use {{epoch}} or one of the logs: {', '.join(logs)}.",
            ) from None
