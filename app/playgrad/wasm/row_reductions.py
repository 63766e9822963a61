"""Sums, extremes and their places of rows of float32 whose elements are side by side.

Sums have the bits of NumPy: blocks of terms are added up by eight sums, and their results in pairs
(Higham, "The accuracy of floating point summation", 1993).
"""

from __future__ import annotations

from playgrad.wasm.elements import ELEMENTS
from playgrad.wasm.encoding import F32, I32, V128
from playgrad.wasm.kernel import KernelCode
from playgrad.wasm.lanes import lanes, numbers, splat, words
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.reduction_kinds import MAXIMUM, MINIMUM, Reduction
from playgrad.wasm.scalars import choose, number, scalar
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import VectorPlace, across, extract

_BLOCK = 128
"""Terms that eight sums add up together."""


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
