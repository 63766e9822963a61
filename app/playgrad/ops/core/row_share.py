"""Chunks of kernels whose results do not depend on each other, which threads share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Protocol

import numpy as np

from playgrad.graph.opdef import Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.wasm.step import StepCode, chunk_size
from playgrad.wasm.threads import ChunkCode
from playgrad.wasm.values import StackValue

WriteChunk = Callable[[ChunkCode, int, Sequence[StackValue], StackValue], None]
"""Writes the code of a chunk: of so many rows, from the places of their operands and other
arguments, and the number of the first row."""
PART = "part"
"""The attribute of a chunk of `PartChunks`: which part of the results it computes."""


@dataclass(frozen=True)
class Chunks(ABC):
    """How a kernel is cut along an axis.

    Attributes:
        total: how many rows, or other parts that stay whole, there are.
        size: how many a chunk has; the last one has the rest.
        steps: the bytes from one to the next of each operand; 0 for operands that all need.
        repeats: whether all chunks together do more than the whole, which a thread that is alone
            does then.
    """

    total: int
    size: int
    steps: tuple[int, ...]
    repeats: bool = field(default=False, kw_only=True)

    @property
    def count(self) -> int:
        """The number of chunks."""
        return -(-self.total // self.size)

    @property
    def rest(self) -> int:
        """The rows of the last chunk."""
        return self.total - (self.count - 1) * self.size

    @abstractmethod
    def specs(self, specs: Sequence[TensorSpec], size: int) -> tuple[TensorSpec, ...]:
        """Return the specs of the operands of a chunk of so many rows."""

    @abstractmethod
    def attrs(self, attrs: Attrs, size: int) -> Attrs:
        """Return the attributes of a chunk of so many rows."""

    def share(
        self,
        step: StepCode,
        key: Hashable,
        places: Sequence[StackValue],
        call: WriteChunk,
        others: Sequence[StackValue] = (),
        private: int = 0,
    ) -> None:
        """Have threads share the rows.

        Args:
            key: of the code that ``call`` writes.
            others: further arguments of ``call``, the same for all chunks.
            private: the bytes that a thread needs at `ChunkCode.scratch`.
        """

        def write(job: ChunkCode) -> None:
            operands = job.arguments[: len(places)]
            first = job.f.copy(job.chunk * self.size)
            pairs = zip(operands, self.steps, strict=True)
            moved = [place + first * step if step else place for place, step in pairs]
            moved += job.arguments[len(places) :]
            with job.f.when(job.chunk.equals(self.count - 1)):
                call(job, self.rest, moved, first)
            with job.f.otherwise():
                call(job, self.size, moved, first)

        step.split((key, self), self.count, (*places, *others), write, private)


class PartChunks(Chunks):
    """Chunks of a kernel that computes a `PART` of its results if it is told which."""

    def specs(self, specs: Sequence[TensorSpec], size: int) -> tuple[TensorSpec, ...]:
        """Return the specs of the operands: those of the whole."""
        return tuple(specs)

    def attrs(self, attrs: Attrs, size: int) -> Attrs:
        """Return the attributes of a chunk of so many rows."""
        return {**attrs, PART: self.part(size)}

    def part(self, size: int) -> Any:
        """Return the part that a chunk of so many rows computes."""
        return size


class Sharing(Protocol):
    """Says how threads share a kernel."""

    def chunks(
        self,
        step: StepCode,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        attrs: Attrs,
    ) -> Chunks | None:
        """Return how to cut a kernel; None to leave it whole."""


@dataclass(frozen=True)
class SharedRows:
    """That a kernel computes the rows of an input, along the first axis, one by one.

    Attributes:
        seconds: about those that it takes for an element of the largest operand.
        whole: the numbers of inputs that all rows need.
        unless_first: the name of an attribute, an axis, that must not be the first one.
        only_first: that of an axis that must be the first one.
        rows_of: the number of the input.
        rank: its axes, at least.
    """

    seconds: float
    whole: Collection[int] = ()
    unless_first: str | None = None
    only_first: str | None = None
    rows_of: int = 0
    rank: int = 2

    def chunks(
        self,
        step: StepCode,
        inputs: Sequence[TensorSpec],
        outputs: Sequence[TensorSpec],
        attrs: Attrs,
    ) -> Chunks | None:
        """Return how to cut a kernel; None to leave it whole."""
        specs, shape = [*inputs, *outputs], inputs[self.rows_of].static_shape
        if len(shape) < self.rank or (self.unless_first and attrs[self.unless_first] == 0):
            return None
        if self.only_first and attrs.get(self.only_first, 0) != 0:
            return None
        rows = shape[0]
        steps = tuple(
            0
            if number in self.whole or not spec.rank or spec.static_shape[0] != rows
            else prod(spec.static_shape[1:]) * np.dtype(spec.dtype).itemsize
            for number, spec in enumerate(specs)
        )
        if not all(steps[len(inputs) :]):
            return None
        largest = max(spec.size for spec, row in zip(specs, steps, strict=True) if row)
        chunks = step.chunks(self.seconds * largest, rows)
        return None if chunks == 1 else RowChunks(rows, chunk_size(rows, chunks), steps)


@dataclass(frozen=True)
class RowChunks(Chunks):
    """Rows along the first axis."""

    def specs(self, specs: Sequence[TensorSpec], size: int) -> tuple[TensorSpec, ...]:
        """Return the specs of the operands of a chunk of so many rows."""
        return tuple(
            TensorSpec((size, *spec.shape[1:]), spec.dtype) if step else spec
            for spec, step in zip(specs, self.steps, strict=True)
        )

    def attrs(self, attrs: Attrs, size: int) -> Attrs:
        """Return the attributes of a chunk: those of the whole."""
        return attrs
