"""``resize`` and its gradient in a compiled step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from playgrad.graph.opdef import Attrs
from playgrad.ops.core.static_kernel import static_kernel
from playgrad.wasm.copies import clear
from playgrad.wasm.encoding import F64
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.lanes import floats, lanes, splat
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.scalars import number, scalar
from playgrad.wasm.values import StackValue, integer, larger, smaller
from playgrad.wasm.vectors import VectorPlace, across


@dataclass(frozen=True)
class _Source:
    """Two input pixels of an output pixel along an axis, and four copies of the second's weight.

    Attributes:
        second: None if no output pixel has a second one.
    """

    first: Local
    second: Local | None
    weight: Local


def _source(f: Procedure, place: Local, before: int, after: int, nearest: bool) -> _Source:
    """Return what `playgrad.ops.convolution.resize` defines, in the same integers."""
    centre = (place * 2 + 1) * before
    if nearest:
        first = scalar("i32.div_u", centre, 2 * after)
        return _Source(f.copy(first), None, f.copy(floats(0.0)))
    limit = 2 * after * (before - 1)
    position = f.copy(smaller(f.copy(larger(f.copy(centre - after), 0)), limit))
    first = f.copy(scalar("i32.div_u", position, 2 * after))
    rest = scalar("f64.convert_i32_s", scalar("i32.rem_u", position, 2 * after))
    weight = scalar("f32.demote_f64", scalar("f64.div", rest, number(F64, 2 * after)))
    has_weight = _has_weights(before, after)
    second = f.copy(smaller(f.copy(first + 1), before - 1)) if has_weight else None
    return _Source(first, second, f.copy(splat(weight)))


def _has_weights(before: int, after: int) -> bool:
    """Return whether any output pixel along an axis lies between two input pixels."""
    centres = (2 * np.arange(after) + 1) * before
    places = np.clip(centres - after, 0, 2 * after * (before - 1))
    return bool((places % (2 * after)).any())


def _pixels(
    code: KernelCode,
    small: ArrayPlace,
    large: ArrayPlace,
    attrs: Attrs,
    body: Callable[[Local, Local, _Source, _Source], None],
) -> None:
    """Write ``body`` for each output pixel: the addresses of its image in the input and of itself,
    and its sources."""
    f, nearest = code.f, attrs["interpolation"] == "nearest"
    batch, height, width, channels = small.shape
    pixel = f.copy(large.address)
    with f.count(integer(batch)) as image:
        start = f.copy(small.address + image * (height * width * channels * 4))
        with f.count(integer(large.shape[1])) as y:
            row = _source(f, y, height, large.shape[1], nearest)
            with f.count(integer(large.shape[2])) as x:
                column = _source(f, x, width, large.shape[2], nearest)
                body(start, pixel, row, column)
                f.add(pixel, 4 * channels)


@static_kernel("resize")
def _resize(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,), f = inputs, outputs, code.f
    _, _, width, channels = x.shape

    def body(start: Local, pixel: Local, row: _Source, column: _Source) -> None:
        def part(place: VectorPlace) -> None:
            def at(line: Local, place_x: Local) -> StackValue:
                return place.load(start + (line * width + place_x) * (4 * channels))

            def in_column(place_x: Local) -> StackValue:
                near = at(row.first, place_x)
                return near if row.second is None else _mixed(near, at(row.second, place_x), row)

            value = in_column(column.first)
            if column.second is not None:
                value = _mixed(value, in_column(column.second), column)
            place.store(f, pixel, value)

        across(f, channels, part)

    _pixels(code, x, y, attrs, body)


def _mixed(near: StackValue, far: StackValue, source: _Source) -> StackValue:
    """Return a weighted mean; a pixel without weight may be infinite."""
    rest = lanes("sub", floats(1.0), source.weight)
    counts = lanes("gt", source.weight, floats(0.0))
    share = lanes("and", lanes("mul", far, source.weight), counts)
    return lanes("add", lanes("mul", near, rest), share)


@static_kernel("resize_gradient")
def _resize_gradient(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (grad,), (image,), f = inputs, outputs, code.f
    _, _, width, channels = image.shape
    clear(f, image.address, image.bytes)

    def body(start: Local, pixel: Local, row: _Source, column: _Source) -> None:
        def parts(source: _Source) -> list[tuple[Local, StackValue]]:
            near = (source.first, lanes("sub", floats(1.0), source.weight))
            return [near] if source.second is None else [near, (source.second, source.weight)]

        def add(place: VectorPlace) -> None:
            for line, by_row in parts(row):
                for place_x, by_column in parts(column):
                    target = f.copy(start + (line * width + place_x) * (4 * channels))
                    share = lanes("mul", lanes("mul", place.load(pixel), by_row), by_column)
                    place.store(f, target, lanes("add", place.load(target), share))

        across(f, channels, add)

    _pixels(code, image, grad, attrs, body)
