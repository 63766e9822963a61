"""Chunks of a product that threads share: some of its matrices, rows or columns.

Each element of the result is computed as in the whole product, so that no bit depends on the
chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.wasm.product import COLUMNS, ROWS
from playgrad.wasm.small_product import ProductForm
from playgrad.wasm.step import CHUNKS, StepCode, chunk_size
from playgrad.wasm.threads import ChunkCode
from playgrad.wasm.values import StackValue, integer, smaller

SPEED = 1e10
"""Multiplications in a second of one thread, about."""
_PACKING = 5e-10
"""Seconds, about, in which an element of an operand is packed."""
_LITTLE = 0.1
"""The share of a chunk's time that packing the operand of all chunks may take for there to be more
chunks than threads."""
_UNITS = (1, ROWS, COLUMNS)
"""Matrices, rows and columns that stay together: of tiles."""


@dataclass(frozen=True)
class ProductShare:
    """How a product is cut.

    Attributes:
        sizes: its matrices, rows, columns and terms.
        axis: the one of them that is cut.
        size: how many of those a chunk has; the last one has the rest.
        chunks: how many there are.
    """

    sizes: tuple[int, int, int, int]
    axis: int
    size: int
    chunks: int

    @classmethod
    def of(cls, step: StepCode, form: ProductForm) -> ProductShare | None:
        """Return how to cut a product; None to leave it whole.

        The operand that all chunks share is packed by each: it is the smaller one. Where that takes
        long, there are fewer chunks.
        """
        sizes = (form.count, form.rows, form.columns, form.terms)
        seconds = form.multiplications / SPEED
        if form.count >= step.chunks(seconds, CHUNKS * step.threads):
            axis = 0
        else:
            axis = 1 if form.rows >= form.columns else 2
        unit = _UNITS[axis]
        units = -(-sizes[axis] // unit)
        packed = 0 if axis == 0 else form.terms * (form.columns if axis == 1 else form.rows)
        for most in (units, CHUNKS * step.threads, step.threads):
            chunks = step.chunks(seconds, min(units, most))
            if packed * _PACKING <= _LITTLE * seconds / chunks:
                break
        if chunks == 1:
            return None
        size = chunk_size(sizes[axis], chunks, unit)
        return cls(sizes, axis, size, -(-sizes[axis] // size))

    def part(self, job: ChunkCode) -> tuple[list[StackValue], StackValue]:
        """Return the sizes of a chunk, and the number of its first matrix, row or column."""
        first = job.f.copy(job.chunk * self.size)
        sizes: list[StackValue] = list(map(integer, self.sizes))
        sizes[self.axis] = smaller(integer(self.sizes[self.axis]) - first, self.size)
        return sizes, first

    def moved(
        self, first: StackValue, a: Sequence[int], b: Sequence[int], c: Sequence[int]
    ) -> list[StackValue]:
        """Return the distances in bytes of a chunk from the beginnings of the operands and of the
        result, of which ``a``, ``b`` and ``c`` are the distances of matrices, rows and columns."""
        steps = ((a[0], b[0], c[0]), (a[1], 0, c[1]), (0, b[2], c[2]))[self.axis]
        return [first * step for step in steps]
