"""Copies of 4-byte elements whose source and target are dense along different axes, in blocks of
four rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.wasm.encoding import V128
from playgrad.wasm.lanes import shuffled
from playgrad.wasm.nest import nest
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer, smaller

_BLOCK = 4


def crossing_axis(sizes: Sequence[int], read: Sequence[int], write: Sequence[int]) -> int | None:
    """Return the axis along which the source is dense, if the target is dense along the last one
    and both are long enough for a block; else None."""
    if not sizes or write[-1] != 4 or sizes[-1] < _BLOCK:
        return None
    axes = range(len(sizes) - 1)
    return next((axis for axis in axes if read[axis] == 4 and sizes[axis] >= _BLOCK), None)


def copy_transposed(
    f: Procedure,
    sizes: Sequence[int],
    axis: int,
    source: tuple[StackValue, Sequence[int]],
    target: tuple[StackValue, Sequence[int]],
) -> None:
    """Copy elements, given `crossing_axis`."""
    others = [number for number in range(len(sizes) - 1) if number != axis]
    outer = [
        (place, tuple(strides[number] for number in others)) for place, strides in (source, target)
    ]
    down, along = target[1][axis], source[1][-1]
    counts = [sizes[number] for number in others]
    with nest(f, counts, outer) as (read, write), f.count(integer(sizes[axis]), _BLOCK) as row:
        y = f.copy(smaller(row, sizes[axis] - _BLOCK))  # the last block may begin before
        with f.count(integer(sizes[-1]), _BLOCK) as column:
            x = f.copy(smaller(column, sizes[-1] - _BLOCK))
            _copy_block(f, read + y * 4 + x * along, along, write + y * down + x * 4, down)


def _copy_block(f: Procedure, read: StackValue, along: int, write: StackValue, down: int) -> None:
    source, target = f.copy(read), f.copy(write)
    vectors: list[Local] = [
        f.copy((source + along * number).load(V128)) for number in range(_BLOCK)
    ]
    pairs = [
        f.copy(shuffled(vectors[a], vectors[b], order))
        for a, b in ((0, 1), (2, 3))
        for order in ((0, 4, 1, 5), (2, 6, 3, 7))
    ]
    for number in range(_BLOCK):
        low, high = pairs[number // 2], pairs[2 + number // 2]
        order = (0, 1, 4, 5) if number % 2 == 0 else (2, 3, 6, 7)
        f.store(target + down * number, shuffled(low, high, order))
