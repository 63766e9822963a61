"""Asynchronous successive halving: trials that do worse than most are ended early."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from playgrad.errors import DataError


@dataclass
class Halving:
    """The rule of ASHA that ends trials (Li et al. 2020, "A system for massively parallel
    hyperparameter tuning").

    A trial is compared after ``first``, ``first * factor``, ... epochs with all that have come as
    far. It continues if it belongs to the best ``1 / factor`` of them. No trial waits, so
    the first ones always continue.

    Args:
        epochs: the number of epochs of a whole trial.
        first: the number of epochs before the first comparison.
        factor: above 1.

    Raises:
        DataError: there is no milestone before the end, or the factor is too small.
    """

    epochs: int
    first: int = 1
    factor: int = 3
    _values: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        if self.factor < 2 or self.first < 1:
            raise DataError("halving needs a factor of at least 2, and at least one epoch first.")
        if not self.milestones:
            raise DataError(
                f"halving compares trials after {self.first} epochs, but they have {self.epochs}.",
                hint="Train for more epochs, or compare earlier.",
            )

    @property
    def milestones(self) -> list[int]:
        """The numbers of epochs after which trials are compared."""
        found = []
        epoch = self.first
        while epoch < self.epochs:
            found.append(epoch)
            epoch *= self.factor
        return found

    def continues(self, epoch: int, value: float) -> bool:
        """Return whether a trial continues after ``epoch``.

        Args:
            value: of its metric at that epoch; smaller is better. NaN is worse than any.
        """
        if math.isnan(value):
            return False
        with self._lock:
            others = self._values[epoch]
            continues = not others or value <= float(np.quantile(others, 1 / self.factor))
            others.append(value)
        return continues
