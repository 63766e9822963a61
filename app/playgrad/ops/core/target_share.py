"""Chunks of kernels that reduce slices into rows: each thread computes some of the rows, in the
order of the whole. It looks at all indices or, if they are ordered, for its first and last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from playgrad.graph.opdef import Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.row_share import PartChunks
from playgrad.wasm.step import StepCode, chunk_size

_SECONDS = 2e-10
"""About those of an element."""
_INDEX = 4
"""The elements that take as long as it takes to look at an index, about."""


@dataclass(frozen=True)
class SharedTargets:
    """That a kernel can compute a `PART`: so many rows of the result, from a number on.

    Attributes:
        ids: the number of the input with an index for each slice.
    """

    ids: int

    def chunks(
        self,
        step: StepCode,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        attrs: Attrs,
    ) -> PartChunks | None:
        """Return how to cut a kernel; None to leave it whole."""
        (y,), axis = outputs, attrs.get("axis", 0)
        if y.dtype == "float16":  # all of it is converted first
            return None
        shape = y.static_shape
        rows, width = shape[axis], prod(shape[axis + 1 :])
        slices = inputs[self.ids].size * prod(shape[:axis])
        seconds = _SECONDS * slices * (width + _INDEX)
        # All threads together look at indices for at most half of the time of the sums.
        most = rows if attrs.get("sorted") else min(rows, width // (2 * _INDEX))
        chunks = step.chunks(seconds, most)
        if chunks == 1:
            return None
        steps = (*(0 for _ in inputs), width * np.dtype(y.dtype).itemsize)
        repeats = not attrs.get("sorted")
        return PartChunks(rows, chunk_size(rows, chunks), steps, repeats=repeats)
