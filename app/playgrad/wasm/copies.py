"""Kernels that move elements: between strided views, of any dtype."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from playgrad.wasm.elements import BITS, load, store
from playgrad.wasm.encoding import V128
from playgrad.wasm.nest import Strides, merged, nest
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.scalars import copy_bytes, fill_bytes
from playgrad.wasm.transposition import copy_transposed, crossing_axis
from playgrad.wasm.values import StackValue, integer

_LONG = 128
"""Bytes from which an instruction for blocks is faster than vectors."""
View = tuple[StackValue, Strides]
"""The address of the first element, and the strides in bytes, which may be 0 or negative."""


def copy_view(f: Procedure, sizes: Sequence[int], item: int, source: View, target: View) -> None:
    """Copy elements of ``item`` bytes; the views do not overlap."""
    if prod(sizes) == 0:
        return
    kept, (steps, places) = merged(sizes, [source[1], target[1]])
    axis = crossing_axis(kept, steps, places) if item == 4 else None
    if axis is not None:
        copy_transposed(f, kept, axis, (source[0], steps), (target[0], places))
        return
    run = 1
    if kept and steps[-1] == places[-1] == item:
        run = kept.pop()
        steps.pop(), places.pop()
    views = (source[0], tuple(steps)), (target[0], tuple(places))
    with nest(f, kept, views) as (read, write):
        copy_run(f, item * run, item, read, write)


def copy_run(f: Procedure, count: int, item: int, read: StackValue, write: StackValue) -> None:
    """Copy ``count`` bytes, of elements of ``item`` bytes, that are side by side."""
    if count >= _LONG:
        f.emit(copy_bytes(write, read, integer(count)))
        return
    whole = count - count % 16
    for offset in range(0, whole, 16):
        f.store(write, read.load(V128, offset), offset)
    for offset in range(whole, count, item):
        store(f, BITS[item], write, load(BITS[item], read, offset), offset)


def clear(f: Procedure, target: StackValue, count: int) -> None:
    """Set ``count`` bytes to 0."""
    if count:
        f.emit(fill_bytes(target, integer(0), integer(count)))


def fill(f: Procedure, target: StackValue, count: int, element: bytes) -> None:
    """Set ``count`` elements, side by side, to the bytes of ``element``."""
    if not any(element):
        clear(f, target, count * len(element))
        return
    words = element if len(element) == 8 else element * (4 // len(element))
    parts = [_integer(words[first : first + 4]) for first in range(0, len(words), 4)]
    size = count * len(element)
    whole = size - size % len(words)
    with nest(f, [whole // len(words)], [(target, (len(words),))]) as (place,):
        for number, part in enumerate(parts):
            f.store(place, part, 4 * number)
    for offset in range(whole, size, len(element)):
        store(f, BITS[len(element)], target, _integer(element), offset)


def _integer(data: bytes) -> StackValue:
    return integer(int.from_bytes(data, "little", signed=True))
