"""Reductions along axes, positions of extremes, and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from playgrad.graph.opdef import Attrs
from playgrad.ops.compiled.emitter import Emit, emits
from playgrad.ops.arrays.broadcast import sum_axes
from playgrad.ops.core.sums import LONG
from playgrad.wasm.encoding import F32, F64
from playgrad.wasm.elements import load, store
from playgrad.wasm.kernel import KernelCode, NotCompiledError, Operand
from playgrad.wasm.lanes import lanes, splat
from playgrad.wasm.nest import nest
from playgrad.wasm.reductions import MAXIMUM, MINIMUM, PRODUCT, SUM, Reduction, reduce_axes
from playgrad.wasm.scalars import number, scalar
from playgrad.wasm.values import StackValue, integer


def _reduce(
    code: KernelCode, reduction: Reduction, x: Operand, y: Operand, axes: Sequence[int], mean: bool
) -> None:
    count = prod(x.shape[axis] for axis in axes)
    is_sum = reduction is SUM
    wide = is_sum and x.is_float32() and count >= LONG
    kind = x.element.kind
    if reduction is not SUM and reduction is not PRODUCT and x.dtype == "bool":
        raise NotCompiledError("no extremes of bool")

    def finish(value: StackValue) -> StackValue:
        return scalar(f"{x.element.prefix}.div", value, number(kind, count)) if mean else value

    def finish_vector(value: StackValue) -> StackValue:
        return lanes("div", value, splat(number(F32, count))) if mean else value

    reduce_axes(
        code, reduction, x.dtype, x.shape, axes, x.address, y.address, wide, finish, finish_vector
    )


def _along(reduction: Reduction, mean: bool = False) -> Emit:
    def emit(
        code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
    ) -> None:
        _reduce(code, reduction, inputs[0], outputs[0], attrs["axes"], mean)

    return emit


emits("reduce_sum")(_along(SUM))
emits("reduce_mean")(_along(SUM, mean=True))
emits("reduce_max")(_along(MAXIMUM))
emits("reduce_min")(_along(MINIMUM))
emits("reduce_prod")(_along(PRODUCT))


@emits("sum_to")
def _sum_to(
    code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    _reduce(code, SUM, x, y, sum_axes(x.shape, y.shape), mean=False)


def _position(comparison: str) -> Emit:
    """Return the emitter for the first position of an extreme, or of the first NaN."""

    def emit(
        code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
    ) -> None:
        (x,), (y,), axis = inputs, outputs, attrs["axis"]
        f, element = code.f, x.element
        is_float = element.kind in (F32, F64)
        step = x.strides[axis]
        kept = x.strides[:axis] + x.strides[axis + 1 :]
        with nest(f, y.shape, [(x.address, kept), (y.address, y.strides)]) as (read, write):
            best, where = f.copy(load(element, read)), f.copy(integer(0))
            place = f.copy(read)
            with f.count(integer(x.shape[axis])) as index:
                value = f.copy(load(element, place))
                better = scalar(f"{element.prefix}.{comparison}{element.sign}", value, best)
                if is_float:
                    name = f"{element.prefix}.ne"
                    is_nan = scalar("i32.gt_u", scalar(name, value, value), scalar(name, best, best))
                    better = scalar("i32.or", better, is_nan)
                with f.when(better):
                    f.set(best, value)
                    f.set(where, index)
                f.add(place, step)
            f.store(write, where)

    return emit


emits("argmax")(_position("gt"))
emits("argmin")(_position("lt"))


@emits("cumsum")
def _cumsum(
    code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
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
