"""Chunks of reductions: each thread computes some of the results, in the order of the whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from playgrad.graph.opdef import Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.row_share import Chunks, PartChunks
from playgrad.wasm.reductions import ResultPart, kept_axes
from playgrad.wasm.step import StepCode, chunk_size

_SECONDS = 5e-10
"""About those of an element."""
_COLUMNS = 16
"""Columns that stay together: they are added up side by side, from whole lines of a cache."""

Axes = Callable[[tuple[int, ...], tuple[int, ...], Attrs], Sequence[int]]
"""Returns the axes that are reduced: of the shapes of the input and of the result."""


@dataclass(frozen=True)
class SharedResults:
    """That a kernel reduces an array along ``axes``, and can compute a `PART` of the results, a
    `ResultPart`."""

    axes: Axes

    def chunks(
        self,
        step: StepCode,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        attrs: Attrs,
    ) -> Chunks | None:
        """Return how to cut a kernel; None to leave it whole."""
        (x,), (y,) = inputs, outputs
        if x.dtype == "float16":  # all of it is converted first
            return None
        item = np.dtype(x.dtype).itemsize
        kept = kept_axes(x.static_shape, self.axes(x.static_shape, y.static_shape, attrs), item)
        best = ResultPart(0, 0)
        count = 1
        for axis, total in enumerate(kept.sizes):
            unit = _COLUMNS if kept.read[axis] == item else 1
            chunks = step.chunks(_SECONDS * x.size, -(-total // unit))
            if chunks > count:
                count, best = chunks, ResultPart(axis, chunk_size(total, chunks, unit))
        if count == 1:
            return None
        steps = (kept.read[best.axis], kept.write[best.axis])
        return ResultChunks(kept.sizes[best.axis], best.size, steps, best.axis)


@dataclass(frozen=True)
class ResultChunks(PartChunks):
    """Results along ``axis`` of those that `kept_axes` returns."""

    axis: int

    def part(self, size: int) -> ResultPart:
        """Return the part of a chunk of so many results."""
        return ResultPart(self.axis, size)
