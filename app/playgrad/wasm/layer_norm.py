"""Normalization of rows of float32 to mean 0 and variance 1, and its gradient."""

from __future__ import annotations

from playgrad.wasm.encoding import F32
from playgrad.wasm.kernel import KernelCode
from playgrad.wasm.lanes import lanes, splat
from playgrad.wasm.nest import nest
from playgrad.wasm.procedure import Local
from playgrad.wasm.row_reductions import row_sum
from playgrad.wasm.scalars import choose, number, scalar
from playgrad.wasm.values import StackValue
from playgrad.wasm.vectors import VectorPlace, across


def layer_normalization(
    code: KernelCode,
    rows: int,
    length: int,
    epsilon: float,
    x: StackValue,
    gamma: StackValue,
    beta: StackValue,
    target: StackValue,
) -> None:
    """Write ``(x - mean) * factor * gamma + beta`` of each row."""
    f = code.f
    squares = f.copy(code.scratch(4 * length))
    scale, shift = f.copy(gamma), f.copy(beta)
    with nest(f, [rows], [(x, (4 * length,)), (target, (4 * length,))]) as (row, out):
        factor = _normalize(code, row, out, squares, length, epsilon)

        def finish(place: VectorPlace) -> None:
            value = lanes("mul", lanes("mul", place.load(out), factor), place.load(scale))
            place.store(f, out, lanes("add", value, place.load(shift)))

        across(f, length, finish)


def layer_normalization_gradient(
    code: KernelCode,
    rows: int,
    length: int,
    epsilon: float,
    x: StackValue,
    gamma: StackValue,
    grad: StackValue,
    by_x: StackValue,
    by_scale: StackValue,
) -> None:
    """Write the gradients of each row by its elements, and by the scale for this row."""
    f, step = code.f, 4 * length
    scratch, normalized = f.copy(code.scratch(step)), f.copy(code.scratch(step))
    scale = f.copy(gamma)
    places = [(place, (step,)) for place in (x, grad, by_x, by_scale)]
    with nest(f, [rows], places) as (row, slope, out, by_gamma):
        factor = _normalize(code, row, normalized, scratch, length, epsilon)

        def product(place: VectorPlace) -> None:
            value = f.copy(lanes("mul", place.load(normalized), factor))
            place.store(f, normalized, value)
            weighted = f.copy(lanes("mul", place.load(slope), value))
            place.store(f, by_gamma, weighted)
            place.store(f, scratch, lanes("mul", weighted, place.load(scale)))
            place.store(f, out, lanes("mul", place.load(slope), place.load(scale)))

        across(f, length, product)
        mean = f.copy(splat(_mean(code, out, length)))
        along = f.copy(splat(_mean(code, scratch, length)))

        def finish(place: VectorPlace) -> None:
            rest = lanes("mul", place.load(normalized), along)
            value = lanes("sub", lanes("sub", place.load(out), mean), rest)
            place.store(f, out, lanes("mul", factor, value))

        across(f, length, finish)


def _mean(code: KernelCode, row: Local, length: int) -> StackValue:
    return scalar("f32.div", row_sum(code, row, length), number(F32, length))


def _normalize(
    code: KernelCode, row: Local, centred: Local, squares: Local, length: int, epsilon: float
) -> Local:
    """Write the elements without their mean, and return four copies of their factor."""
    f = code.f
    mean = f.copy(splat(_mean(code, row, length)))

    def centre(place: VectorPlace) -> None:
        value = f.copy(lanes("sub", place.load(row), mean))
        place.store(f, centred, value)
        place.store(f, squares, lanes("mul", value, value))

    across(f, length, centre)
    variance = f.copy(_mean(code, squares, length))
    infinite = scalar("f32.eq", variance, number(F32, float("inf")))
    f.set(variance, choose(infinite, number(F32, float("nan")), variance))
    root = scalar("f32.sqrt", scalar("f32.add", variance, number(F32, epsilon)))
    return f.copy(splat(scalar("f32.div", number(F32, 1.0), root)))
