"""Average pooling, and maximum pooling of any windows, in a compiled step.

Maxima are for the windows that `playgrad.ops.convolution.emit_pooling` does not support.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, prod

from playgrad.graph.opdef import Attrs
from playgrad.ops.convolution.window import dilations_of
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.core.static_kernel import static_kernel
from playgrad.wasm.copies import clear
from playgrad.wasm.elements import load, store
from playgrad.wasm.encoding import I32
from playgrad.wasm.indexed import inside
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.lanes import floats, lanes, splat, words
from playgrad.wasm.nest import nest
from playgrad.wasm.scalars import scalar
from playgrad.wasm.vectors import VectorPlace, across
from playgrad.wasm.windows import WindowForm, pixel_count, pixels, windows


def window_form(
    image: Sequence[int], out: Sequence[int], window: Sequence[int], attrs: Attrs
) -> WindowForm:
    """Return the sizes of windows over images of the shape ``image``.

    Args:
        out: the shape of the result.
        window: height and width.
    """
    (top, _), (left, _) = attrs["padding"]
    (down, right), (skip_y, skip_x) = attrs["strides"], dilations_of(attrs)
    sizes = (image[1], image[2]), (top, left), (out[1], out[2]), (window[0], window[1])
    return WindowForm(image[0], *sizes, (down, right), (skip_y, skip_x))


@static_kernel("avg_pool2d", shared=SharedRows(2e-9))
def _avg_pool(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,), f, channels = inputs, outputs, code.f, inputs[0].shape[3]
    form = window_form(x.shape, y.shape, attrs["pool_size"], attrs)
    with windows(f, form) as window:
        count = f.copy(splat(scalar("f32.convert_i32_s", pixel_count(f, form, window))))
        target = f.copy(y.address + window.number * (4 * channels))

        def mean(place: VectorPlace) -> None:
            total = f.copy(floats(0.0))
            with pixels(f, form, window) as pixel:
                value = place.load(x.address + pixel.number * (4 * channels))
                f.set(total, lanes("add", total, value))
            place.store(f, target, lanes("div", total, count))

        across(f, channels, mean)


@static_kernel("avg_pool2d_gradient", shared=SharedRows(2e-9))
def _avg_pool_gradient(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    """Add up the shares of windows backwards: so a pixel gets them in the order of NumPy."""
    (grad,), (image,), f, channels = inputs, outputs, code.f, inputs[0].shape[3]
    form = window_form(image.shape, grad.shape, attrs["pool_size"], attrs)
    clear(f, image.address, image.bytes)
    with windows(f, form, backwards=True) as window:
        count = f.copy(splat(scalar("f32.convert_i32_s", pixel_count(f, form, window))))
        source = f.copy(grad.address + window.number * (4 * channels))

        def add(place: VectorPlace) -> None:
            share = f.copy(lanes("div", place.load(source), count))
            with pixels(f, form, window) as pixel:
                target = f.copy(image.address + pixel.number * (4 * channels))
                place.store(f, target, lanes("add", place.load(target), share))

        across(f, channels, add)


@static_kernel("max_pool2d_take", may_fail=True)
def _max_pool_take(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (image, positions), (y,), f = inputs, outputs, code.f
    batch, height, width, channels = image.shape
    sizes = (batch, prod(y.shape[1:3]), channels)
    block, item = height * width * channels * 4, 4
    dense = (sizes[1] * channels * 4, channels * 4, 4)
    places = (
        (image.address, (block, 0, item)),
        (positions.address, dense),
        (y.address, dense),
    )
    with nest(f, sizes, places) as (read, position, write):
        number = inside(code, position.load(I32), height * width)
        store(f, y.bits, write, load(y.bits, read + number * (channels * 4)))


@static_kernel("max_pool2d", fallback=True, shared=SharedRows(4e-9))
def _max_pool(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    """Find the first of equal maxima, or the first NaN, and its position in its image."""
    (x,), (best, _positions), f = inputs, outputs, code.f
    channels, pixels_of_image = x.shape[3], x.shape[1] * x.shape[2]
    form = window_form(x.shape, best.shape, attrs["pool_size"], attrs)
    with windows(f, form) as window:
        first = f.copy(window.image * pixels_of_image)
        target, where = (f.copy(y.address + window.number * (4 * channels)) for y in outputs)

        def maximum(place: VectorPlace) -> None:
            most, at = f.copy(floats(-inf)), f.copy(words(-1))
            with pixels(f, form, window) as pixel:
                value = f.copy(place.load(x.address + pixel.number * (4 * channels)))
                number = splat(pixel.number - first)
                first_nan = lanes("and", lanes("ne", value, value), lanes("eq", most, most))
                fresh = lanes("i32 eq", at, words(-1))
                better = lanes("or", lanes("gt", value, most), lanes("or", first_nan, fresh))
                chosen = f.copy(better)
                f.set(most, lanes("bitselect", value, most, chosen))
                f.set(at, lanes("bitselect", number, at, chosen))
            place.store(f, target, most)
            place.store(f, where, at)

        across(f, channels, maximum)


@static_kernel("max_pool2d_gradient", fallback=True, shared=SharedRows(4e-9))
def _max_pool_gradient(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    """Add gradients up backwards, as NumPy does for a pixel."""
    (grad, _positions), (image,), f = inputs, outputs, code.f
    channels, pixels_of_image = image.shape[3], image.shape[1] * image.shape[2]
    form = window_form(image.shape, grad.shape, attrs["pool_size"], attrs)
    clear(f, image.address, image.bytes)
    with windows(f, form, backwards=True) as window:
        first = f.copy(window.image * pixels_of_image)
        slope, where = (f.copy(x.address + window.number * (4 * channels)) for x in inputs)

        def add(place: VectorPlace) -> None:
            value, at = f.copy(place.load(slope)), f.copy(place.load(where))
            with pixels(f, form, window) as pixel:
                target = f.copy(image.address + pixel.number * (4 * channels))
                chosen = lanes("i32 eq", at, splat(pixel.number - first))
                total = lanes("add", place.load(target), lanes("and", value, chosen))
                place.store(f, target, total)

        across(f, channels, add)
