"""Sums, products, maxima and minima along axes, in the order of NumPy.

NumPy adds the terms of a row in pairs of blocks (Higham, "The accuracy of floating point
summation", 1993), and rows element by element, so that the results have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from playgrad.wasm.elements import ELEMENTS, Element, load, store
from playgrad.wasm.encoding import F32, F64, I32, V128
from playgrad.wasm.kernel import KernelCode
from playgrad.wasm.lanes import lanes, numbers, splat, words
from playgrad.wasm.module import Module
from playgrad.wasm.nest import Strides, dense, nest
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.scalars import choose, number, scalar
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import VectorPlace, across, extract

_BLOCK = 128
"""Terms that eight sums add up together."""
Finish = Callable[[StackValue], StackValue]


@dataclass(frozen=True)
class Reduction:
    """How two values become one.

    Attributes:
        first: the value of no elements.
        vector: the instruction for four float32; None without one.
    """

    first: float
    combine: Callable[[Element, StackValue, StackValue], StackValue]
    vector: str | None


def _instruction(name: str) -> Callable[[Element, StackValue, StackValue], StackValue]:
    return lambda element, a, b: scalar(f"{element.prefix}.{name}", a, b)


def _extreme(
    float_name: str, comparison: str
) -> Callable[[Element, StackValue, StackValue], StackValue]:
    def combine(element: Element, a: StackValue, b: StackValue) -> StackValue:
        if element.kind in (F32, F64):
            return scalar(f"{element.prefix}.{float_name}", a, b)
        return choose(scalar(f"i32.{comparison}{element.sign}", a, b), a, b)

    return combine


SUM = Reduction(0.0, _instruction("add"), "add")
PRODUCT = Reduction(1.0, _instruction("mul"), "mul")
MAXIMUM = Reduction(-float("inf"), _extreme("max", "gt"), "max")
MINIMUM = Reduction(float("inf"), _extreme("min", "lt"), "min")
_LIMITS = {
    "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1),
    "int8": (-128, 127), "uint8": (0, 255),
}  # fmt: skip


def first_value(reduction: Reduction, dtype: str) -> StackValue:
    """Return the value of no elements."""
    value = reduction.first
    if dtype in _LIMITS and value in (-float("inf"), float("inf")):
        value = _LIMITS[dtype][value > 0]
    return number(ELEMENTS[dtype].kind, value)


@dataclass(frozen=True)
class _Axes:
    """Sizes, and strides in bytes, of some axes of the input and of the result."""

    sizes: tuple[int, ...]
    read: Strides
    write: Strides


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
) -> None:
    """Reduce a dense array along ``axes``, to a dense array without them.

    Args:
        wide: add float32 in float64.
        finish, finish_vector: applied to each result, and to four of float32.
    """
    element = ELEMENTS[dtype]
    kept, reduced = _split(shape, axes, element.size)
    f = code.f
    if prod(kept.sizes) == 0:
        return
    finish = finish or (lambda value: value)
    if not kept.sizes or (reduced.sizes and reduced.read[-1] == element.size):
        with nest(f, kept.sizes, [(source, kept.read), (target, kept.write)]) as (read, write):
            total = _along_rows(code, reduction, dtype, reduced, read, wide)
            store(f, element, write, finish(total))
        return
    outer = _Axes(kept.sizes[:-1], kept.read[:-1], kept.write[:-1])
    with nest(f, outer.sizes, [(source, outer.read), (target, outer.write)]) as (read, write):
        row = kept.sizes[-1]
        if dtype == "float32" and not wide and reduction.vector:
            vector = finish_vector or (lambda value: value)
            _columns(f, reduction, row, reduced, read, write, vector)
        else:
            with nest(f, [row], [(read, (element.size,)), (write, (element.size,))]) as (r, w):
                total = _in_order(code, reduction, dtype, reduced, r, wide)
                store(f, element, w, finish(total))


def _split(shape: Sequence[int], axes: Sequence[int], item: int) -> tuple[_Axes, _Axes]:
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
        _Axes(kept_sizes, tuple(step for *_, step in kept), dense(kept_sizes, item)),
        _Axes(tuple(n for _, n, _ in reduced), tuple(step for *_, step in reduced), ()),
    )


def _along_rows(
    code: KernelCode, reduction: Reduction, dtype: str, reduced: _Axes, read: Local, wide: bool
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
    code: KernelCode, reduction: Reduction, dtype: str, reduced: _Axes, read: Local, wide: bool
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
    reduced: _Axes,
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

    wide = length - length % 16
    if wide:
        with f.count(integer(4 * wide), 64) as offset:
            some([VectorPlace(offset + 16 * number, 4) for number in range(4)])
    for first in range(wide, length, 4):
        some([VectorPlace(integer(4 * first), min(4, length - first))])


def row_extreme(f: Procedure, reduction: Reduction, row: StackValue, length: int) -> StackValue:
    """Return the maximum or minimum of float32 side by side; NaN if there is one."""
    assert reduction.vector is not None
    best = f.copy(splat(number(F32, reduction.first)))

    def part(place: VectorPlace) -> None:
        f.set(best, lanes(reduction.vector or "", best, place.load(row, reduction.first)))

    across(f, length, part)
    result = extract(best, 0)
    for lane in range(1, 4):
        result = reduction.combine(ELEMENTS["float32"], result, extract(best, lane))
    return f.copy(result)


def row_sum(code: KernelCode, row: StackValue, length: int) -> Local:
    """Return the sum of ``length`` float32 side by side, with NumPy's bits."""
    if length <= _BLOCK:
        return _block_sum(code.f, row, length)
    function: Procedure = code.shared("row sum", _write_row_sum)
    return code.f.result_of(function, row, integer(length))


def _block_sum(f: Procedure, row: StackValue, length: int) -> Local:
    whole = length - length % 8
    total = f.copy(number(F32, 0.0))
    if whole:
        low, high = f.copy(row.load(V128)), f.copy(row.load(V128, 16))
        if whole > 8:
            with f.count(integer(4 * whole - 32), 32) as offset:
                f.set(low, low + (row + offset).load(V128, 32))
                f.set(high, high + (row + offset).load(V128, 48))
        f.set(total, _eight(low, high))
    for place in range(whole, length):
        f.set(total, total + row.load(F32, 4 * place))
    return total


def _eight(low: Local, high: Local) -> StackValue:
    def four(v: Local) -> StackValue:
        return (extract(v, 0) + extract(v, 1)) + (extract(v, 2) + extract(v, 3))

    return four(low) + four(high)


def _write_row_sum(module: Module) -> Procedure:
    """Add a function of an address and a number of float32 above 0 to their sum."""
    f = module.procedure([I32, I32], result=F32)
    row, length = f.arguments
    result = f.local(F32)
    with f.when(scalar("i32.gt_s", length, _BLOCK)):
        half = scalar("i32.shr_s", length, 1)
        left = f.copy(scalar("i32.and", half, -8))
        a = f.result_of(f, row, left)
        b = f.result_of(f, row + left * 4, length - left)
        f.set(result, a + b)
    with f.otherwise():
        low, high = f.copy(row.load(V128)), f.copy(row.load(V128, 16))
        end = f.copy(row + scalar("i32.and", length, -8) * 4)
        rest = f.copy(scalar("i32.and", length, 7))
        f.add(row, 32)
        with f.repeat_while(row < end):
            f.set(low, low + row.load(V128))
            f.set(high, high + row.load(V128, 16))
            f.add(row, 32)
        f.set(result, _eight(low, high))
        with f.count(rest):
            f.set(result, result + row.load(F32))
            f.add(row, 4)
    f.give(result)
    return f


def row_position(f: Procedure, row: Local, length: int, comparison: str) -> Local:
    """Return the place of the first extreme of float32 side by side, or of the first NaN.

    Args:
        comparison: of vectors: "gt" for the maximum, "lt" for the minimum.
    """
    best, where, places = f.local(V128), f.copy(words(0)), f.copy(words(0))
    first = f.copy(row.load(F32))
    f.set(best, splat(first))
    f.set(places, lanes("i32 add", places, numbers()))

    def part(place: VectorPlace) -> None:
        value = f.copy(place.load(row, MAXIMUM.first if comparison == "gt" else MINIMUM.first))
        first_nan = lanes("and", lanes("ne", value, value), lanes("eq", best, best))
        better = f.copy(lanes("or", lanes(comparison, value, best), first_nan))
        f.set(best, lanes("bitselect", value, best, better))
        f.set(where, lanes("bitselect", places, where, better))
        f.set(places, lanes("i32 add", places, words(4)))

    across(f, length, part)
    value, index = f.copy(extract(best, 0)), f.copy(extract(where, 0, I32))
    for lane in range(1, 4):
        other, place = f.copy(extract(best, lane)), f.copy(extract(where, lane, I32))
        earlier = scalar("i32.lt_s", place, index)
        this_nan, other_nan = scalar("f32.ne", value, value), scalar("f32.ne", other, other)
        equal = scalar(
            "i32.or", scalar("f32.eq", other, value), scalar("i32.and", this_nan, other_nan)
        )
        tied = scalar("i32.and", equal, earlier)
        fresh_nan = scalar("i32.gt_u", other_nan, this_nan)
        better = f.copy(
            scalar(
                "i32.or",
                scalar("i32.or", tied, fresh_nan),
                scalar(f"f32.{comparison}", other, value),
            )
        )
        f.set(value, choose(better, other, value))
        f.set(index, choose(better, place, index))
    return index
