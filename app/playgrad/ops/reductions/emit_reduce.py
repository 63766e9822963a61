"""Reductions along axes, positions of extremes, and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from playgrad.graph.opdef import Attrs
from playgrad.ops.arrays.broadcast import sum_axes
from playgrad.ops.core.row_share import PART, SharedRows
from playgrad.ops.core.static_kernel import COMPUTED, Write, static_kernel
from playgrad.ops.core.sums import LONG
from playgrad.ops.reductions.result_share import SharedResults
from playgrad.wasm.elements import load, store
from playgrad.wasm.encoding import F32, F64
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.lanes import lanes, splat
from playgrad.wasm.nest import nest
from playgrad.wasm.reduction_kinds import MAXIMUM, MINIMUM, PRODUCT, SUM, Reduction
from playgrad.wasm.reductions import ResultPart, reduce_axes
from playgrad.wasm.row_reductions import row_position
from playgrad.wasm.scalars import number, scalar
from playgrad.wasm.values import StackValue, integer


def _reduce(
    code: KernelCode,
    reduction: Reduction,
    x: ArrayPlace,
    y: ArrayPlace,
    axes: Sequence[int],
    mean: bool,
    part: ResultPart | None,
) -> None:
    count = prod(x.shape[axis] for axis in axes)
    is_sum = reduction is SUM
    wide = is_sum and x.dtype == "float32" and count >= LONG
    kind = x.element.kind

    def finish(value: StackValue) -> StackValue:
        return scalar(f"{x.element.prefix}.div", value, number(kind, count)) if mean else value

    def finish_vector(value: StackValue) -> StackValue:
        return lanes("div", value, splat(number(F32, count))) if mean else value

    places = x.address, y.address
    reduce_axes(code, reduction, x.dtype, x.shape, axes, *places, wide, finish, finish_vector, part)


def _along(reduction: Reduction, mean: bool = False) -> Write:
    def emit(
        code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
    ) -> None:
        _reduce(code, reduction, inputs[0], outputs[0], attrs["axes"], mean, attrs.get(PART))

    return emit


_SHARED = SharedResults(lambda x, y, attrs: attrs["axes"])
static_kernel("reduce_sum", dtypes=COMPUTED, widens=True, shared=_SHARED)(_along(SUM))
static_kernel("reduce_mean", dtypes=COMPUTED, widens=True, shared=_SHARED)(_along(SUM, mean=True))
static_kernel("reduce_max", dtypes=COMPUTED, widens=True, shared=_SHARED)(_along(MAXIMUM))
static_kernel("reduce_min", dtypes=COMPUTED, widens=True, shared=_SHARED)(_along(MINIMUM))
static_kernel("reduce_prod", dtypes=COMPUTED, widens=True, shared=_SHARED)(_along(PRODUCT))


@static_kernel(
    "sum_to",
    dtypes=COMPUTED,
    widens=True,
    shared=SharedResults(lambda x, y, attrs: sum_axes(x, y)),
)
def _sum_to(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    _reduce(code, SUM, x, y, sum_axes(x.shape, y.shape), False, attrs.get(PART))


_VECTORS = 32
"""Elements from which four are compared at once."""


def _position(comparison: str) -> Write:
    """Return the emitter for the first position of an extreme, or of the first NaN."""

    def emit(
        code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
    ) -> None:
        (x,), (y,), axis = inputs, outputs, attrs["axis"]
        f, element = code.f, x.element
        is_float = element.kind in (F32, F64)
        step = x.strides[axis]
        kept = x.strides[:axis] + x.strides[axis + 1 :]
        if x.dtype == "float32" and step == x.item and x.shape[axis] >= _VECTORS:
            with nest(f, y.shape, [(x.address, kept), (y.address, y.strides)]) as (row, place):
                f.store(place, row_position(f, row, x.shape[axis], comparison))
            return
        with nest(f, y.shape, [(x.address, kept), (y.address, y.strides)]) as (read, write):
            best, where = f.copy(load(element, read)), f.copy(integer(0))
            place = f.copy(read)
            with f.count(integer(x.shape[axis])) as index:
                value = f.copy(load(element, place))
                better = scalar(f"{element.prefix}.{comparison}{element.sign}", value, best)
                if is_float:
                    name = f"{element.prefix}.ne"
                    is_nan = scalar(
                        "i32.gt_u", scalar(name, value, value), scalar(name, best, best)
                    )
                    better = scalar("i32.or", better, is_nan)
                with f.when(better):
                    f.set(best, value)
                    f.set(where, index)
                f.add(place, step)
            f.store(write, where)

    return emit


_ROWS = SharedRows(1e-9, unless_first="axis")
static_kernel("argmax", dtypes=COMPUTED, widens=True, shared=_ROWS)(_position("gt"))
static_kernel("argmin", dtypes=COMPUTED, widens=True, shared=_ROWS)(_position("lt"))


@static_kernel("cumsum", dtypes=COMPUTED, widens=True, shared=_ROWS)
def _cumsum(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,), axis = inputs, outputs, attrs["axis"]
    f, element, size, step = code.f, x.element, x.shape[axis], x.strides[axis]
    first, step = ((size - 1) * step, -step) if attrs["reverse"] else (0, step)
    kept = x.strides[:axis] + x.strides[axis + 1 :]
    sizes = x.shape[:axis] + x.shape[axis + 1 :]
    if not x.count:
        return
    with nest(f, sizes, [(x.address + first, kept), (y.address + first, kept)]) as (read, write):
        source, target = f.copy(read), f.copy(write)
        total = f.copy(number(element.kind, 0))
        with f.count(integer(size)):
            if attrs["exclusive"]:
                store(f, element, target, total)
            added = scalar(f"{element.prefix}.add", total, load(element, source))
            f.set(total, added)
            if not attrs["exclusive"]:
                store(f, element, target, total)
            f.add(source, step)
            f.add(target, step)
