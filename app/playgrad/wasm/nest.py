"""Nested loops over the elements of strided arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer

Strides = tuple[int, ...]
"""The bytes from one element to the next, for each dimension."""


def dense(shape: Sequence[int], size: int) -> Strides:
    """Return the strides of an array in C order with elements of ``size`` bytes."""
    strides: list[int] = []
    for dim in reversed(shape):
        strides.insert(0, size)
        size *= dim
    return tuple(strides)


def merged(sizes: Sequence[int], strides: Sequence[Strides]) -> tuple[list[int], list[list[int]]]:
    """Return as few dimensions as possible, in the same order, that visit the same elements."""
    kept: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis, size in enumerate(sizes):
        if size == 1:
            continue
        if kept and all(s[-1] == each[axis] * size for s, each in zip(steps, strides, strict=True)):
            kept[-1] *= size
            for s, each in zip(steps, strides, strict=True):
                s[-1] = each[axis]
            continue
        kept.append(size)
        for s, each in zip(steps, strides, strict=True):
            s.append(each[axis])
    return kept, steps


@contextmanager
def nest(
    f: Procedure, sizes: Sequence[int], places: Sequence[tuple[StackValue, Strides]]
) -> Iterator[list[Local]]:
    """Repeat a block for each index in C order, with the address of each array's element.

    Args:
        places: of each array its first element, and its strides along each dimension.
    """
    kept, strides = merged(sizes, [each for _, each in places])
    pointers = [f.copy(address) for address, _ in places]
    with ExitStack() as stack:
        for axis, size in enumerate(kept):
            steps = [each[axis] for each in strides]
            stack.enter_context(_loop(f, size, pointers, steps))
        yield pointers


@contextmanager
def _loop(f: Procedure, size: int, pointers: list[Local], steps: list[int]) -> Iterator[None]:
    moving = [(pointer, step) for pointer, step in zip(pointers, steps, strict=True) if step]
    with f.count(integer(size)):
        yield
        for pointer, step in moving:
            f.add(pointer, step)
    for pointer, step in moving:
        f.add(pointer, -step * size)
