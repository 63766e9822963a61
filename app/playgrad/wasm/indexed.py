"""Kernels that find slices by int32 indices. They fail for one that is outside, read another slice
for it, and write none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from playgrad.wasm.copies import clear, copy_run
from playgrad.wasm.elements import ELEMENTS, load, store
from playgrad.wasm.encoding import F32, I32
from playgrad.wasm.kernel import KernelCode
from playgrad.wasm.lanes import lanes, splat
from playgrad.wasm.nest import Strides, nest
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.reduction_kinds import SUM, Reduction
from playgrad.wasm.scalars import scalar
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import VectorPlace, across


@dataclass(frozen=True)
class SliceTable:
    """Slices of ``width`` elements of a dtype, ``rows`` of them, in each of ``stack`` tables.

    Attributes:
        part: how many rows of each table are computed, where threads share them; None for all.
        ordered: whether the indices of rows do not decrease.
    """

    stack: int
    rows: int
    width: int
    dtype: str
    item: int
    part: int | None = None
    ordered: bool = False

    @property
    def bytes(self) -> int:
        """Those of a slice."""
        return self.width * self.item


def inside(code: KernelCode, index: StackValue, size: int) -> Local:
    """Return an index that is at least 0 and less than ``size``: 0 after a failure."""
    value = code.f.copy(index)
    with code.f.when(scalar("i32.ge_u", value, size)):
        code.fail()
        code.f.set(value, integer(0))
    return value


def expect_inside(code: KernelCode, ids: StackValue, count: int, size: int, ordered: bool) -> None:
    """Fail unless all of ``count`` indices are at least 0 and less than ``size``, and do not
    decrease if they are said to be ``ordered``."""
    f = code.f
    last = f.copy(integer(0))
    with nest(f, [count], [(ids, (4,))]) as (place,):
        index = f.copy(place.load(I32))
        wrong = scalar("i32.ge_u", index, size)
        if ordered:
            wrong = f.copy(scalar("i32.or", wrong, index < last))  # before ``last`` is another
            f.set(last, index)
        with f.when(wrong):
            code.fail()
            f.leave()


def gather(
    code: KernelCode,
    table: SliceTable,
    count: int,
    source: StackValue,
    ids: StackValue,
    out: StackValue,
) -> None:
    """Copy the slices of each table with ``count`` indices."""
    f, size = code.f, table.bytes
    expect_inside(code, ids, count, table.rows, ordered=False)
    if not table.rows:
        return
    places = ((source, (table.rows * size,)), (out, (count * size,)))
    with (
        nest(f, [table.stack], places) as (read, write),
        nest(f, [count], [(ids, (4,)), (write, (size,))]) as (index, target),
    ):
        place = f.copy(read + index.load(I32) * size)
        copy_run(f, size, table.item, place, target)


@contextmanager
def _slices(
    code: KernelCode, table: SliceTable, count: int, places: Sequence[tuple[StackValue, Strides]]
) -> Iterator[tuple[list[Local], StackValue]]:
    """Repeat a block for each of ``count`` slices, with the address of each array's element and the
    row at the index of the first array; of a part, only for slices of its rows, which are counted
    from its first row."""
    f, part = code.f, table.part
    if part is None:
        with nest(f, [count], places) as pointers:
            yield pointers, pointers[0].load(I32)
        return
    begin, end = f.copy(integer(0)), f.copy(integer(count))
    if table.ordered:
        ids = places[0][0]
        f.set(begin, _first_from(f, ids, count, code.first))
        f.set(end, _first_from(f, ids, count, f.copy(code.first + part)))
    pointers = [f.copy(address + begin * step) for address, (step,) in places]
    with f.count(f.copy(end - begin)):
        row = f.copy(pointers[0].load(I32) - code.first)
        with f.when(scalar("i32.lt_u", row, part)):  # also if the order is not as promised
            yield pointers, row
        for pointer, (_, (step,)) in zip(pointers, places, strict=True):
            f.add(pointer, step)


def _first_from(f: Procedure, ids: StackValue, count: int, least: Local) -> Local:
    """Return the number of the first of ``count`` ordered indices that is at least ``least``."""
    low, high = f.copy(integer(0)), f.copy(integer(count))
    with f.repeat_while(low < high):
        middle = f.copy(scalar("i32.shr_u", low + high, 1))
        is_less = f.copy((ids + middle * 4).load(I32) < least)
        with f.when(is_less):
            f.set(low, middle + 1)
        with f.otherwise():
            f.set(high, middle)
    return low


def _clear_rows(f: Procedure, table: SliceTable, out: StackValue) -> None:
    """Set the rows that are computed to 0."""
    if table.part is None:
        clear(f, out, table.stack * table.rows * table.bytes)
        return
    with nest(f, [table.stack], [(out, (table.rows * table.bytes,))]) as (place,):
        clear(f, place, table.part * table.bytes)


Combine = Callable[[Local, Local], None]
"""Writes the code that combines a slice, at the second address, with the one at the first."""


def combine_slices(f: Procedure, table: SliceTable, reduction: Reduction) -> Combine:
    """Return a writer that reduces two slices into the first."""

    def combine(target: Local, source: Local) -> None:
        if table.dtype == "float32" and reduction.vector:
            name = reduction.vector

            def part(place: VectorPlace) -> None:
                place.store(f, target, lanes(name, place.load(target), place.load(source)))

            across(f, table.width, part)
            return
        element, step = ELEMENTS[table.dtype], (table.item,)
        with nest(f, [table.width], [(target, step), (source, step)]) as (a, b):
            value = reduction.combine(element, load(element, a), load(element, b))
            store(f, element, a, value)

    return combine


def scatter(
    code: KernelCode,
    table: SliceTable,
    reduction: Reduction,
    count: int,
    updates: StackValue,
    ids: StackValue,
    out: StackValue,
) -> None:
    """Reduce ``count`` slices of each table into those with their indices, in order; others are
    0. The indices are inside. Of a part, ``out`` is its first row."""
    f, size = code.f, table.bytes
    _clear_rows(f, table, out)
    combine = combine_slices(f, table, reduction)
    places = ((updates, (count * size,)), (out, (table.rows * size,)))
    with nest(f, [table.stack], places) as (read, write):

        def each(body: Combine) -> None:
            with _slices(code, table, count, [(ids, (4,)), (read, (size,))]) as (pointers, row):
                body(f.copy(write + row * size), pointers[1])

        if reduction is not SUM:  # 0 is no beginning, but any slice of the segment is
            each(lambda target, source: copy_run(f, size, table.item, source, target))
        each(combine)


@dataclass(frozen=True)
class EdgeSums:
    """The operands of `gather_sum`: a weight multiplies ``part`` elements of a slice each."""

    x: StackValue
    sources: StackValue
    targets: StackValue
    weights: StackValue | None
    part: int


def gather_sum(
    code: KernelCode,
    table: SliceTable,
    x_rows: int,
    count: int,
    edges: EdgeSums,
    out: StackValue,
) -> None:
    """Add up the slices of float32 at the sources of edges, times their weights, at the targets.

    The targets are inside, and the sources, too, unless a part is computed.
    """
    f, size, part = code.f, table.bytes, 4 * edges.part
    _clear_rows(f, table, out)
    if not x_rows or not size:
        return
    parts = table.width // edges.part
    weights = edges.weights or edges.x
    places = ((edges.targets, (4,)), (edges.sources, (4,)), (weights, (4 * parts,)))
    with _slices(code, table, count, places) as ((_, source, weight), row):
        number = source.load(I32)
        if table.part is not None:
            number = inside(code, number, x_rows)
        read = f.copy(edges.x + number * size)
        write = f.copy(out + row * size)
        steps = ((read, (part,)), (write, (part,)), (weight, (4,)))
        with nest(f, [parts], steps) as (a, b, factor):
            fours = f.copy(splat(factor.load(F32))) if edges.weights else None

            def add(place: VectorPlace) -> None:
                value = place.load(a)
                if fours is not None:
                    value = lanes("mul", value, fours)
                place.store(f, b, lanes("add", place.load(b), value))

            across(f, edges.part, add)
