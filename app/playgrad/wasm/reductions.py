"""Sums, products, maxima and minima along axes, in the order of NumPy.

NumPy adds the terms of a row in pairs of blocks (`playgrad.wasm.row_reductions`), and rows element
by element, so that the results have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod

from playgrad.wasm.elements import ELEMENTS, load, store
from playgrad.wasm.encoding import F32, F64, V128
from playgrad.wasm.kernel import KernelCode
from playgrad.wasm.lanes import lanes, shuffled, splat, words
from playgrad.wasm.nest import Strides, dense, nest
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.reduction_kinds import PRODUCT, SUM, Reduction, first_value
from playgrad.wasm.row_reductions import row_extreme, row_sum
from playgrad.wasm.scalars import number, scalar
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import VectorPlace

Finish = Callable[[StackValue], StackValue]


@dataclass(frozen=True)
class ReducedAxes:
    """Sizes, and strides in bytes, of some axes of the input and of the result."""

    sizes: tuple[int, ...]
    read: Strides
    write: Strides


@dataclass(frozen=True)
class ResultPart:
    """Some of the results: ``size`` along one of the axes that `kept_axes` returns."""

    axis: int
    size: int


def reduce_axes(
    code: KernelCode,
    reduction: Reduction,
    dtype: str,
    shape: Sequence[int],
    axes: Sequence[int],
    source: StackValue,
    target: StackValue,
    wide: bool = False,
    finish: Finish | None = None,
    finish_vector: Finish | None = None,
    part: ResultPart | None = None,
) -> None:
    """Reduce a dense array along ``axes``, to a dense array without them.

    Args:
        wide: add float32 in float64.
        finish, finish_vector: applied to each result, and to four of float32.
        part: the results to compute, the first of which is at ``target``; None for all. What they
            are computed from begins at ``source``.
    """
    element = ELEMENTS[dtype]
    kept, reduced = _split(shape, axes, element.size)
    if part is not None:
        sizes = (*kept.sizes[: part.axis], part.size, *kept.sizes[part.axis + 1 :])
        kept = replace(kept, sizes=sizes)
    f = code.f
    if prod(kept.sizes) == 0:
        return
    finish = finish or (lambda value: value)
    if not kept.sizes or (reduced.sizes and reduced.read[-1] == element.size):
        with nest(f, kept.sizes, [(source, kept.read), (target, kept.write)]) as (read, write):
            total = _along_rows(code, reduction, dtype, reduced, read, wide)
            store(f, element, write, finish(total))
        return
    outer = ReducedAxes(kept.sizes[:-1], kept.read[:-1], kept.write[:-1])
    with nest(f, outer.sizes, [(source, outer.read), (target, outer.write)]) as (read, write):
        row, vector = kept.sizes[-1], finish_vector or (lambda value: value)
        if dtype == "float32" and not wide and reduction.vector:
            _columns(f, reduction, row, reduced, read, write, vector)
        elif wide and reduction is SUM:
            _wide_columns(f, row, reduced, read, write, vector)
        else:
            with nest(f, [row], [(read, (element.size,)), (write, (element.size,))]) as (r, w):
                total = _in_order(code, reduction, dtype, reduced, r, wide)
                store(f, element, w, finish(total))


def kept_axes(shape: Sequence[int], axes: Sequence[int], item: int) -> ReducedAxes:
    """Return the axes of the results, without any of size 1, merged; ``item`` is that of an
    element in bytes."""
    return _split(shape, axes, item)[0]


def _split(shape: Sequence[int], axes: Sequence[int], item: int) -> tuple[ReducedAxes, ReducedAxes]:
    """Return the axes that stay and those that are reduced, without any of size 1, merged."""
    strides = dense(shape, item)
    merged: list[tuple[bool, int, int]] = []  # whether it is reduced, its size, its stride
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        is_reduced = axis in axes
        if merged and merged[-1][0] == is_reduced:
            merged[-1] = (is_reduced, merged[-1][1] * size, strides[axis])
        else:
            merged.append((is_reduced, size, strides[axis]))
    kept = [part for part in merged if not part[0]]
    reduced = [part for part in merged if part[0]]
    kept_sizes = tuple(size for _, size, _ in kept)
    return (
        ReducedAxes(kept_sizes, tuple(step for *_, step in kept), dense(kept_sizes, item)),
        ReducedAxes(tuple(n for _, n, _ in reduced), tuple(step for *_, step in reduced), ()),
    )


def _along_rows(
    code: KernelCode,
    reduction: Reduction,
    dtype: str,
    reduced: ReducedAxes,
    read: Local,
    wide: bool,
) -> StackValue:
    """Return the result of rows whose elements are side by side."""
    if dtype != "float32" or wide or not reduced.sizes or reduction is PRODUCT:
        return _in_order(code, reduction, dtype, reduced, read, wide)
    f, length = code.f, reduced.sizes[-1]
    total = f.copy(number(F32, reduction.first))
    with nest(f, reduced.sizes[:-1], [(read, reduced.read[:-1])]) as (row,):
        part = (
            row_sum(code, row, length)
            if reduction is SUM
            else row_extreme(f, reduction, row, length)
        )
        f.set(total, reduction.combine(ELEMENTS[dtype], total, part))
    return total


def _in_order(
    code: KernelCode,
    reduction: Reduction,
    dtype: str,
    reduced: ReducedAxes,
    read: Local,
    wide: bool,
) -> StackValue:
    """Return the result, element by element."""
    f, element = code.f, ELEMENTS[dtype]
    computed = ELEMENTS["float64"] if wide else element
    start = number(F64, reduction.first) if wide else first_value(reduction, dtype)
    total = f.copy(start)
    with nest(f, reduced.sizes, [(read, reduced.read)]) as (place,):
        value = load(element, place)
        value = scalar("f64.promote_f32", value) if wide else value
        f.set(total, reduction.combine(computed, total, value))
    return scalar("f32.demote_f64", total) if wide else total


def _columns(
    f: Procedure,
    reduction: Reduction,
    length: int,
    reduced: ReducedAxes,
    read: StackValue,
    write: StackValue,
    finish: Finish,
) -> None:
    """Reduce rows to one row, four or sixteen columns at a time."""
    assert reduction.vector is not None

    def some(places: Sequence[VectorPlace]) -> None:
        totals = [f.copy(splat(number(F32, reduction.first))) for _ in places]
        with nest(f, reduced.sizes, [(read, reduced.read)]) as (row,):
            for place, total in zip(places, totals, strict=True):
                f.set(total, lanes(reduction.vector or "", total, place.load(row)))
        for place, total in zip(places, totals, strict=True):
            place.store(f, write, finish(total))

    _across_lines(f, length, some)


def _wide_columns(
    f: Procedure,
    length: int,
    reduced: ReducedAxes,
    read: StackValue,
    write: StackValue,
    finish: Finish,
) -> None:
    """Add rows up to one row, in float64, four or sixteen columns at a time."""

    def some(places: Sequence[VectorPlace]) -> None:
        totals = [(f.local(V128), f.local(V128)) for _ in places]
        for total in chain(*totals):
            f.set(total, words(0))
        with nest(f, reduced.sizes, [(read, reduced.read)]) as (row,):
            for place, (low, high) in zip(places, totals, strict=True):
                four = f.copy(place.load(row))
                f.set(low, lanes("f64 add", low, lanes("f64 from low f32", four)))
                rest = lanes("f64 from low f32", shuffled(four, four, (2, 3, 0, 1)))
                f.set(high, lanes("f64 add", high, rest))
        for place, pair in zip(places, totals, strict=True):
            low, high = (f.copy(lanes("f32 from f64", total)) for total in pair)
            place.store(f, write, finish(shuffled(low, high, (0, 1, 4, 5))))

    _across_lines(f, length, some)


def _across_lines(f: Procedure, length: int, some: Callable[[Sequence[VectorPlace]], None]) -> None:
    """Write ``some`` for four vectors of a row at a time, a line of a cache, and the rest."""
    wide = length - length % 16
    if wide:
        with f.count(integer(4 * wide), 64) as offset:
            some([VectorPlace(offset + 16 * number, 4) for number in range(4)])
    for first in range(wide, length, 4):
        some([VectorPlace(integer(4 * first), min(4, length - first))])
