"""Callbacks that are called for every batch, for which every chunk of steps is one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.training.callbacks import Callback
from playgrad.training.objectives import Objectives
from playgrad.training.steps import TrainStep

Array = np.ndarray[Any, Any]


class BatchCallbacks:
    """The callbacks of a training that are called for every batch.

    Args:
        callbacks: all callbacks of the training.
    """

    def __init__(
        self, callbacks: Sequence[Callback], step: TrainStep, objectives: Objectives
    ) -> None:
        self.callbacks = [callback for callback in callbacks if callback.watches_batches]
        self.step = step
        self.objectives = objectives
        self._sums: Array | None = None
        self._samples = 0

    def __bool__(self) -> bool:
        return bool(self.callbacks)

    def begin(self, batch: int) -> None:
        """Announce batch number ``batch`` of the epoch."""
        for callback in self.callbacks:
            callback.on_train_batch_begin(batch, {})

    def end(self, first: int, rows: Array, samples: Array) -> None:
        """Report finished batches.

        Args:
            first: the number of the first of them in its epoch.
            rows: their losses and metrics.
            samples: their numbers of samples.
        """
        for batch, row in enumerate(rows.astype(np.float64), first):
            count = int(samples[batch - first])
            if batch == 0 or self._sums is None:
                self._sums, self._samples = np.zeros_like(row), 0
            self._sums = self._sums + row * count
            self._samples += count
            means = map(float, self._sums / self._samples)
            columns = dict(zip(self.step.names, means, strict=True))
            logs = self.objectives.logs(columns, self._samples)
            for callback in self.callbacks:
                callback.on_train_batch_end(batch, logs)
