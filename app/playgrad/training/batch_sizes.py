"""The numbers of samples in the batches of a training."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError

Array = np.ndarray[Any, Any]
_FROM = "samples from step "
"""Begins the name of a size in the state of a resumed training."""


class BatchSizes:
    """The numbers of samples in the batches of a training, as they are found out.

    Attributes:
        done: the number of steps done.
    """

    def __init__(self) -> None:
        self.done = 0
        self._steps: list[int] = []  # from which on batches are of another size
        self._sizes: list[int] = []

    def next(self, size: int) -> None:
        """Note the size of the batch of the next step."""
        if not self._sizes or self._sizes[-1] != size:
            self._steps.append(self.done)
            self._sizes.append(size)

    def of(self, first: int, count: int) -> Array:
        """Return the sizes in ``count`` steps from ``first``.

        Raises:
            CheckpointError: none is known, as an old checkpoint does not have them.
        """
        if not self._sizes:
            raise CheckpointError(
                "the checkpoint was made by an earlier version of playgrad, and does not tell how "
                "many samples the batches had.",
                hint="Train from the start.",
            )
        found = [
            self._sizes[max(bisect_right(self._steps, first + i) - 1, 0)] for i in range(count)
        ]
        return np.array(found, np.int64)

    def state(self) -> dict[str, int]:
        """Return the sizes for a checkpoint."""
        pairs = zip(self._steps, self._sizes, strict=True)
        return {f"{_FROM}{step}": size for step, size in pairs}

    def resume(self, state: Mapping[str, int]) -> None:
        """Take up the sizes of a training that is resumed."""
        sizes = {
            int(name.removeprefix(_FROM)): size
            for name, size in state.items()
            if name.startswith(_FROM)
        }
        self._steps = sorted(sizes)
        self._sizes = [sizes[step] for step in self._steps]
