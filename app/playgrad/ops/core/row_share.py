"""Chunks of kernels whose rows along the first axis do not depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from playgrad.graph.opdef import Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.wasm.step import StepCode
from playgrad.wasm.threads import ChunkCode
from playgrad.wasm.values import StackValue


@dataclass(frozen=True)
class SharedRows:
    """That a kernel computes the rows of its first input, along the first axis, one by one.

    Attributes:
        seconds: about those that it takes for an element of the largest operand.
        whole: the numbers of inputs that all rows need.
        unless_first: the name of an attribute, an axis, that must not be the first one.
    """

    seconds: float
    whole: Collection[int] = ()
    unless_first: str | None = None


@dataclass(frozen=True)
class RowChunks:
    """How rows are cut.

    Attributes:
        rows: how many there are.
        size: how many a chunk has; the last one has the rest.
        steps: the bytes from a row to the next one of each operand; 0 for those of all rows.
    """

    rows: int
    size: int
    steps: tuple[int, ...]

    @classmethod
    def of(
        cls,
        step: StepCode,
        how: SharedRows,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        attrs: Attrs,
    ) -> RowChunks | None:
        """Return how to cut a kernel; None to leave it whole."""
        specs = [*inputs, *outputs]
        if inputs[0].rank < 2 or (how.unless_first and attrs[how.unless_first] == 0):
            return None
        rows = inputs[0].static_shape[0]
        seconds = how.seconds * max(spec.size for spec in specs)
        chunks = step.chunks(seconds, rows)
        if chunks == 1:
            return None
        steps = tuple(
            0
            if number in how.whole or not spec.rank or spec.static_shape[0] != rows
            else prod(spec.static_shape[1:]) * np.dtype(spec.dtype).itemsize
            for number, spec in enumerate(specs)
        )
        if not all(steps[len(inputs) :]):
            return None
        return cls(rows, -(-rows // chunks), steps)

    @property
    def count(self) -> int:
        """The number of chunks."""
        return -(-self.rows // self.size)

    @property
    def rest(self) -> int:
        """The rows of the last chunk."""
        return self.rows - (self.count - 1) * self.size

    def specs(self, specs: Sequence[TensorSpec], rows: int) -> tuple[TensorSpec, ...]:
        """Return the specs of the operands of a chunk of ``rows``."""
        return tuple(
            TensorSpec((rows, *spec.shape[1:]), spec.dtype) if step else spec
            for spec, step in zip(specs, self.steps, strict=True)
        )

    def share(
        self,
        step: StepCode,
        key: Hashable,
        places: Sequence[StackValue],
        call: Callable[[ChunkCode, int, Sequence[StackValue]], None],
        others: Sequence[StackValue] = (),
        private: int = 0,
    ) -> None:
        """Have threads share the rows.

        Args:
            key: of the code that ``call`` writes: for one chunk with so many rows, from the places
                of its operands, and ``others``.
            private: the bytes that a thread needs at `ChunkCode.scratch`.
        """

        def write(job: ChunkCode) -> None:
            operands = job.arguments[: len(places)]
            first = job.f.copy(job.chunk * self.size)
            pairs = zip(operands, self.steps, strict=True)
            moved = [place + first * step if step else place for place, step in pairs]
            moved += job.arguments[len(places) :]
            with job.f.when(job.chunk.equals(self.count - 1)):
                call(job, self.rest, moved)
            with job.f.otherwise():
                call(job, self.size, moved)

        step.split((key, self), self.count, (*places, *others), write, private)
