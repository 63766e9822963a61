"""Chunks of operations that draw a random number for each element, whose number is its counter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playgrad.graph.opdef import Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.row_share import Chunks, PartChunks
from playgrad.wasm.step import StepCode, chunk_size

_UNIT = 16
"""Elements that stay together: whole vectors, and pairs of random words."""


@dataclass(frozen=True)
class SharedElements:
    """That a kernel computes each element of the result by its number, and can compute a
    `PART`: so many elements.

    Attributes:
        seconds: about those of an element.
    """

    seconds: float

    def chunks(
        self,
        step: StepCode,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        attrs: Attrs,
    ) -> Chunks | None:
        """Return how to cut a kernel; None to leave it whole."""
        total = outputs[0].size
        chunks = step.chunks(self.seconds * total, -(-total // _UNIT))
        if chunks == 1:
            return None
        steps = tuple(
            np.dtype(spec.dtype).itemsize if spec.size == total else 0
            for spec in (*inputs, *outputs)
        )
        return PartChunks(total, chunk_size(total, chunks, _UNIT), steps)
