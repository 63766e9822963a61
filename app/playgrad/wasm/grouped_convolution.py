"""Convolutions of groups of channels and their gradients, in float32, window by window.

Images have ``groups * channels`` channels, and filters the shape (height, width, ``channels``,
``groups * outputs``). Where a group is one channel with one output, as in a depthwise convolution,
four groups are computed at once; else four outputs of a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from playgrad.wasm.copies import clear
from playgrad.wasm.encoding import F32
from playgrad.wasm.lanes import floats, horizontal_sum, lanes, splat
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.scalars import scalar
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import VectorPlace, across
from playgrad.wasm.windows import ImageWindow, Pixel, WindowForm, pixels, windows


@dataclass(frozen=True)
class GroupedForm:
    """The sizes of a convolution; ``channels`` and ``outputs`` are those of a group."""

    windows: WindowForm
    groups: int
    channels: int
    outputs: int

    @property
    def is_depthwise(self) -> bool:
        return self.channels == self.outputs == 1

    @property
    def pixel(self) -> int:
        """Bytes of a pixel of the image."""
        return 4 * self.groups * self.channels

    @property
    def result(self) -> int:
        """Bytes of a pixel of the result, and of a row of the filters."""
        return 4 * self.groups * self.outputs

    @property
    def filter_bytes(self) -> int:
        height, width = self.windows.window
        return height * width * self.channels * self.result


@dataclass(frozen=True)
class GroupPlace:
    """The first channel of a group in a pixel of the image, and its first output in that of the
    result."""

    image: StackValue
    result: StackValue


@contextmanager
def _groups(f: Procedure, form: GroupedForm) -> Iterator[GroupPlace]:
    with f.count(integer(form.groups)) as group:
        yield GroupPlace(group * (4 * form.channels), group * (4 * form.outputs))


def convolve(f: Procedure, form: GroupedForm, image: Local, filters: Local, result: Local) -> None:
    """Write the convolution."""
    with windows(f, form.windows) as window:
        target = f.copy(result + window.number * form.result)
        if form.is_depthwise:

            def channel(place: VectorPlace) -> None:
                total = f.copy(floats(0.0))
                with pixels(f, form.windows, window) as pixel:
                    source, weights = _taps(f, form, pixel, image, filters)
                    product = lanes("mul", place.load(source), place.load(weights))
                    f.set(total, lanes("add", total, product))
                place.store(f, target, total)

            across(f, form.groups, channel)
            return
        with _groups(f, form) as group:

            def output(place: VectorPlace) -> None:
                total = f.copy(floats(0.0))
                with pixels(f, form.windows, window) as pixel:
                    source, weights = _taps(f, form, pixel, image, filters)
                    f.add(source, group.image)
                    f.add(weights, group.result)
                    with f.count(integer(form.channels)):
                        product = lanes("mul", place.load(weights), source.load_splat())
                        f.set(total, lanes("add", total, product))
                        f.add(source, 4)
                        f.add(weights, form.result)
                place.store(f, f.copy(target + group.result), total)

            across(f, form.outputs, output)


def image_gradient(
    f: Procedure, form: GroupedForm, filters: Local, gradient: Local, image: Local
) -> None:
    """Write the gradient by the image."""
    height, width = form.windows.image
    clear(f, image, form.windows.batch * height * width * form.pixel)
    with windows(f, form.windows) as window:
        slopes = f.copy(gradient + window.number * form.result)
        with pixels(f, form.windows, window) as pixel:
            target, weights = _taps(f, form, pixel, image, filters)
            if form.is_depthwise:
                _add_products(f, form.groups, target, slopes, weights)
            else:
                _add_sums(f, form, slopes, weights, target)


def filter_gradient(
    f: Procedure, form: GroupedForm, image: Local, gradient: Local, filters: Local
) -> None:
    """Write the gradient by the filters."""
    clear(f, filters, form.filter_bytes)
    with windows(f, form.windows) as window:
        _add_gradient(f, form, window, image, gradient, filters)


def gradient_of_places(
    f: Procedure,
    form: GroupedForm,
    image: Local,
    gradient: Local,
    filters: Local,
    first: StackValue,
    count: int,
) -> None:
    """Write the gradient by the weights at ``count`` places of the window, row by row from the
    place with the number ``first`` on; ``filters`` is the address of the first of them."""
    size, width = form.channels * form.result, form.windows.window[1]
    down, right = form.windows.dilations
    clear(f, filters, count * size)
    single = replace(form, windows=replace(form.windows, window=(1, 1)))
    with windows(f, form.windows) as window, f.count(integer(count)) as number:
        place = f.copy(first + number)
        row = scalar("i32.div_u", place, width)
        column = scalar("i32.rem_u", place, width)
        top, left = f.copy(window.top + row * down), f.copy(window.left + column * right)
        moved = replace(window, top=top, left=left)
        _add_gradient(f, single, moved, image, gradient, f.copy(filters + number * size))


def _add_gradient(
    f: Procedure,
    form: GroupedForm,
    window: ImageWindow,
    image: Local,
    gradient: Local,
    filters: Local,
) -> None:
    """Add what a window contributes to the gradient by the filters."""
    slopes = f.copy(gradient + window.number * form.result)
    with pixels(f, form.windows, window) as pixel:
        source, target = _taps(f, form, pixel, image, filters)
        if form.is_depthwise:
            _add_products(f, form.groups, target, slopes, source)
        else:
            _add_outer_products(f, form, source, slopes, target)


def _taps(
    f: Procedure, form: GroupedForm, pixel: Pixel, image: Local, filters: Local
) -> tuple[Local, Local]:
    """Return the addresses of a pixel of the image, and of its weights."""
    weights = filters + pixel.place * (form.channels * form.result)
    return f.copy(image + pixel.number * form.pixel), f.copy(weights)


def _add_products(f: Procedure, count: int, target: Local, a: Local, b: Local) -> None:
    """Add the products of elements."""

    def part(place: VectorPlace) -> None:
        product = lanes("mul", place.load(a), place.load(b))
        place.store(f, target, lanes("add", place.load(target), product))

    across(f, count, part)


def _add_outer_products(
    f: Procedure, form: GroupedForm, source: Local, slopes: Local, target: Local
) -> None:
    """Add the products of channels and slopes of each group to its weights."""
    with _groups(f, form) as group:
        channel, row = f.copy(source + group.image), f.copy(target + group.result)
        slope = f.copy(slopes + group.result)
        with f.count(integer(form.channels)):
            factor = f.copy(splat(channel.load(F32)))

            def part(place: VectorPlace) -> None:
                product = lanes("mul", place.load(slope), factor)
                place.store(f, row, lanes("add", place.load(row), product))

            across(f, form.outputs, part)
            f.add(channel, 4)
            f.add(row, form.result)


def _add_sums(
    f: Procedure, form: GroupedForm, slopes: Local, weights: Local, target: Local
) -> None:
    """Add the sums of the products of slopes and weights of each group to its channels."""
    with _groups(f, form) as group:
        channel, row = f.copy(target + group.image), f.copy(weights + group.result)
        slope = f.copy(slopes + group.result)
        with f.count(integer(form.channels)):
            f.store(channel, channel.load(F32) + _dot(f, form.outputs, slope, row))
            f.add(channel, 4)
            f.add(row, form.result)


def _dot(f: Procedure, count: int, a: Local, b: Local) -> StackValue:
    """Return the sum of the products of elements."""
    total = f.copy(floats(0.0))

    def part(place: VectorPlace) -> None:
        f.set(total, lanes("add", total, lanes("mul", place.load(a), place.load(b))))

    across(f, count, part)
    return horizontal_sum(total)
