"""Copies of the weights of a network in training, from which its records are computed later.

A copy takes the time of reading the weights, a record that of the gradients and activations of a
sample. So a training without an open view keeps copies, evenly spread over its steps, within bounds
of memory and time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.inspection.histories import MOST_RECORDS
from playgrad.ops.state import Variable

Array = np.ndarray[Any, Any]
Weights = dict[Variable, Array]
MOST_BYTES = 32 << 20
"""Of all copies. Of a network with more than half of that in weights there are none."""
LARGEST_SHARE = 0.005
"""Of the training time that copying may take, after the first copy."""


class WeightSnapshots:
    """The weights at some steps, in their order."""

    def __init__(self) -> None:
        self._kept: dict[int, Weights] = {}
        self._size = 0  # bytes of a copy
        self._spent = self._cost = 0.0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def steps(self) -> list[int]:
        """The steps of the copies."""
        return list(self._kept)

    @property
    def most(self) -> int:
        """The number of copies that are kept."""
        return min(MOST_RECORDS, MOST_BYTES // max(1, self._size))

    def begin(self) -> None:
        """Begin to count the time of a fit."""
        self._spent = 0.0

    def is_due(self, step: int, total: int, seconds: float) -> bool:
        """Return whether to copy the weights now.

        Args:
            total: the number of steps of the fit; 0 if it is not known.
            seconds: that the fit has taken.
        """
        if self._size and self.most < 2:
            return False  # a copy was too large to be kept
        if not self._kept:
            return True
        first, last = next(iter(self._kept)), next(reversed(self._kept))
        span = max(total, step - first)
        is_far = step < last or step - last >= max(1, span // max(1, self.most))
        return is_far and self._spent + self._cost <= LARGEST_SHARE * seconds

    def keep(self, step: int, weights: Weights, cost: float) -> None:
        """Keep the weights of a step, and drop the weights of later ones, which have been undone.

        Args:
            cost: the seconds that it took to copy them.
        """
        self._spent += cost
        self._cost = cost
        self._size = sum(array.nbytes for array in weights.values())
        self._kept = {at: each for at, each in self._kept.items() if at < step}
        if self.most < 2:
            return
        self._kept[step] = weights
        if len(self._kept) > self.most:
            steps = self.steps
            gaps = [after - before for before, after in zip(steps, steps[2:], strict=False)]
            del self._kept[steps[1 + int(np.argmin(gaps))]]

    def pop_farthest(self, known: Sequence[int]) -> tuple[int, Weights] | None:
        """Remove and return the weights of the step that is farthest from all ``known`` ones. Those
        that are too close for a record of their own are dropped: None if there are no others."""
        if not self._kept:
            return None
        steps = np.array(self.steps)
        distances = np.abs(steps[:, None] - np.array(known, float)).min(axis=1, initial=np.inf)
        farthest = int(np.argmax(distances))
        span = max([*known, *self._kept]) - min([*known, *self._kept])
        if distances[farthest] < max(1, span / MOST_RECORDS):
            self._kept.clear()
            return None
        step = int(steps[farthest])
        return step, self._kept.pop(step)
