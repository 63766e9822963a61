"""Softmax, its logarithm and cross-entropies of float32, along rows and along columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playgrad.wasm.encoding import F32, I32
from playgrad.wasm.indexed import expect_inside
from playgrad.wasm.kernel import KernelCode
from playgrad.wasm.lanes import floats, lanes, splat
from playgrad.wasm.nest import nest
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.reduction_kinds import MAXIMUM
from playgrad.wasm.row_reductions import row_extreme, row_sum
from playgrad.wasm.scalars import number, scalar
from playgrad.wasm.values import StackValue
from playgrad.wasm.vectors import VectorPlace, across, extract

VectorFunction = Callable[[Procedure, Local], StackValue]
"""A function of four float32, such as the exponential."""


@dataclass(frozen=True)
class Exponentials:
    """The functions that softmax needs."""

    exp: VectorFunction
    log: VectorFunction


def log_of(f: Procedure, functions: Exponentials, value: StackValue) -> Local:
    """Return the logarithm of one float32."""
    return f.copy(extract(functions.log(f, f.copy(splat(value))), 0))


def row_powers(
    code: KernelCode, functions: Exponentials, row: Local, powers: Local, length: int
) -> tuple[Local, Local]:
    """Write exp(x - max) of a row, and return four copies of the maximum, and the sum."""
    f = code.f
    largest = f.copy(splat(row_extreme(f, MAXIMUM, row, length)))

    def power(place: VectorPlace) -> None:
        shifted = f.copy(lanes("sub", place.load(row), largest))
        place.store(f, powers, functions.exp(f, shifted))

    across(f, length, power)
    return largest, row_sum(code, powers, length)


def softmax_rows(
    code: KernelCode,
    functions: Exponentials,
    rows: int,
    length: int,
    source: StackValue,
    target: StackValue,
    logarithm: bool,
) -> None:
    """Write the softmax of each row, or its logarithm."""
    f = code.f
    with nest(f, [rows], [(source, (4 * length,)), (target, (4 * length,))]) as (row, out):
        largest, total = row_powers(code, functions, row, out, length)
        if logarithm:
            log_total = f.copy(splat(log_of(f, functions, total)))

            def finish(place: VectorPlace) -> None:
                shifted = lanes("sub", place.load(row), largest)
                place.store(f, out, lanes("sub", shifted, log_total))
        else:
            divisor = f.copy(splat(total))

            def finish(place: VectorPlace) -> None:
                place.store(f, out, lanes("div", place.load(out), divisor))

        across(f, length, finish)


def softmax_columns(
    code: KernelCode,
    functions: Exponentials,
    stack: int,
    size: int,
    width: int,
    source: StackValue,
    target: StackValue,
    logarithm: bool,
) -> None:
    """Write the softmax along the middle axis of (stack, size, width), or its logarithm."""
    f, step = code.f, 4 * width
    block = 4 * size * width
    with nest(f, [stack], [(source, (block,)), (target, (block,))]) as (image, out):

        def columns(place: VectorPlace) -> None:
            def along(body: Callable[[Local, Local], None]) -> None:
                with nest(f, [size], [(image, (step,)), (out, (step,))]) as (read, write):
                    body(read, write)

            largest = f.copy(floats(-float("inf")))
            along(lambda read, _: f.set(largest, lanes("max", largest, place.load(read))))
            total = f.copy(floats(0.0))

            def power(read: Local, write: Local) -> None:
                shifted = f.copy(lanes("sub", place.load(read), largest))
                value = f.copy(functions.exp(f, shifted))
                f.set(total, lanes("add", total, value))
                place.store(f, write, value)

            along(power)
            if logarithm:
                f.set(total, functions.log(f, total))

            def finish(read: Local, write: Local) -> None:
                if logarithm:
                    value = lanes("sub", lanes("sub", place.load(read), largest), total)
                else:
                    value = lanes("div", place.load(write), total)
                place.store(f, write, value)

            along(finish)

        across(f, width, columns)


def sparse_cross_entropy(
    code: KernelCode,
    functions: Exponentials,
    rows: int,
    length: int,
    logits: StackValue,
    labels: StackValue,
    losses: StackValue,
    derivatives: StackValue,
) -> None:
    """Write the cross-entropy with int32 labels of each row, and its derivative.

    Fails if a label is outside of the row.
    """
    f, step = code.f, 4 * length
    expect_inside(code, labels, rows, length, ordered=False)
    places = ((logits, (step,)), (derivatives, (step,)), (labels, (4,)), (losses, (4,)))
    with nest(f, [rows], places) as (row, out, label, loss):
        largest, total = row_powers(code, functions, row, out, length)
        log_total = log_of(f, functions, total)
        offset = f.copy(label.load(I32) * 4)
        shifted = scalar("f32.sub", (row + offset).load(F32), extract(largest, 0))
        f.store(loss, scalar("f32.neg", scalar("f32.sub", shifted, log_total)))
        divisor = f.copy(splat(total))
        across(
            f,
            length,
            lambda place: place.store(f, out, lanes("div", place.load(out), divisor)),
        )
        place = f.copy(out + offset)
        f.store(place, scalar("f32.sub", place.load(F32), number(F32, 1.0)))


def dense_cross_entropy(
    code: KernelCode,
    functions: Exponentials,
    rows: int,
    length: int,
    logits: StackValue,
    labels: StackValue,
    losses: StackValue,
    derivatives: StackValue,
) -> None:
    """Write the cross-entropy with the probabilities of each row, and its derivative."""
    f, step = code.f, 4 * length
    scratch = code.scratch(step)
    terms = f.copy(scratch)
    places = ((logits, (step,)), (derivatives, (step,)), (labels, (step,)), (losses, (4,)))
    with nest(f, [rows], places) as (row, out, label, loss):
        largest, total = row_powers(code, functions, row, out, length)
        log_total, divisor = f.copy(splat(log_of(f, functions, total))), f.copy(splat(total))

        def term(place: VectorPlace) -> None:
            shifted = lanes("sub", lanes("sub", place.load(row), largest), log_total)
            place.store(f, terms, lanes("mul", place.load(label), shifted))

        across(f, length, term)
        f.store(loss, scalar("f32.neg", row_sum(code, terms, length)))
        share = f.copy(splat(row_sum(code, label, length)))

        def derivative(place: VectorPlace) -> None:
            probability = lanes("div", place.load(out), divisor)
            value = lanes("sub", lanes("mul", probability, share), place.load(label))
            place.store(f, out, value)

        across(f, length, derivative)
