"""Maximum pooling of float32 images and its gradient, four channels at once.

Images have the shape (batch, height, width, channels), at least `WIDTH` channels, and are already
padded. The position of a maximum is ``row * width + column`` in the image without its padding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from playgrad.wasm.encoding import I32, V128
from playgrad.wasm.lanes import lanes, splat
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer, larger, smaller

WIDTH = 4
Pair = tuple[int, int]
"""Vertical and horizontal."""


@dataclass(frozen=True)
class PoolForm:
    """The sizes of a pooling: images with and without padding, results, and windows.

    Attributes:
        before: the padding above and to the left.
    """

    batch: int
    channels: int
    image: Pair
    padded: Pair
    before: Pair
    out: Pair
    window: Pair
    strides: Pair


@dataclass(frozen=True)
class _WindowPixel:
    """A pixel of a window: its first channel in the padded image, and its position."""

    address: StackValue
    position: StackValue


def max_pool_module(form: PoolForm) -> bytes:
    """Return a module with ``run(images, maxima, positions)``, all addresses.

    The first of equal pixels is the maximum, row by row, or the first NaN.
    """
    module = Module()
    write_max_pool(module, form, "run")
    return module.encode()


def write_max_pool(module: Module, form: PoolForm, export: str | None = None) -> Procedure:
    """Add the function of `max_pool_module`."""
    f = module.procedure([I32] * 3, export)
    images, maxima, positions = f.arguments
    offset = f.local(I32)
    with _windows(f, form, images, offset, [maxima, positions]) as pixels:
        best = f.copy((pixels[0].address + offset).load(V128))
        where = f.copy(splat(pixels[0].position))
        for pixel in pixels[1:]:
            value = f.copy((pixel.address + offset).load(V128))
            first_nan = lanes("and", lanes("ne", value, value), lanes("eq", best, best))
            better = f.copy(lanes("or", lanes("gt", value, best), first_nan))
            f.set(best, lanes("bitselect", value, best, better))
            f.set(where, lanes("bitselect", splat(pixel.position), where, better))
        f.store(maxima + offset, best)
        f.store(positions + offset, where)
    return f


def max_pool_gradient_module(form: PoolForm) -> bytes:
    """Return a module with ``run(images, gradients, positions)``, all addresses.

    It writes each gradient to the pixel at its position, and zeros to the other pixels of windows,
    which must not overlap.
    """
    module = Module()
    write_max_pool_gradient(module, form, "run")
    return module.encode()


def write_max_pool_gradient(
    module: Module, form: PoolForm, export: str | None = None, adds: bool = False
) -> Procedure:
    """Add the function of `max_pool_gradient_module`.

    Args:
        adds: add each gradient to its pixel, so that windows may overlap, of images whose channels
            are whole vectors.
    """
    assert not adds or form.channels % WIDTH == 0
    f = module.procedure([I32] * 3, export)
    images, gradients, positions = f.arguments
    offset = f.local(I32)
    with _windows(f, form, images, offset, [gradients, positions]) as pixels:
        gradient = f.copy((gradients + offset).load(V128))
        where = f.copy((positions + offset).load(V128))
        for pixel in pixels:
            chosen = lanes("and", gradient, lanes("i32 eq", where, splat(pixel.position)))
            place = pixel.address + offset
            f.store(place, place.load(V128) + chosen if adds else chosen)
    return f


@contextmanager
def _windows(
    f: Procedure, form: PoolForm, images: Local, offset: Local, results: Sequence[Local]
) -> Iterator[list[_WindowPixel]]:
    """Repeat a block for each window and each vector of channels, with the pixels of the window.

    Args:
        offset: set to the bytes before the vector. The last may begin within the one before it.
        results: addresses, moved to the channels of each window.
    """
    pixel = 4 * form.channels
    row = pixel * form.padded[1]
    with f.count(integer(form.batch)):
        with f.count(integer(form.out[0])) as y, f.count(integer(form.out[1])) as x:
            rows, columns = (_positions(f, form, axis, place) for axis, place in ((0, y), (1, x)))
            origin = f.copy(images + y * (form.strides[0] * row) + x * (form.strides[1] * pixel))
            pixels = [
                _WindowPixel(
                    origin + (i * row + j * pixel),
                    f.copy(rows[i] * form.image[1] + columns[j]),
                )
                for i, j in product(range(form.window[0]), range(form.window[1]))
            ]
            with f.count(integer(form.channels), WIDTH) as channel:
                f.set(offset, smaller(channel, form.channels - WIDTH) * 4)
                yield pixels
            for result in results:
                f.add(result, pixel)
        f.add(images, row * form.padded[0])


def _positions(f: Procedure, form: PoolForm, axis: int, place: Local) -> list[Local]:
    """Return the rows (axis 0) or columns of the pixels of a window in the image.

    Those in the padding are the nearest in the image.
    """
    first = f.copy(place * form.strides[axis] - form.before[axis])
    return [
        f.copy(larger(smaller(first + number, form.image[axis] - 1), 0))
        for number in range(form.window[axis])
    ]
