"""Loops over the windows of images (batch, height, width, channels), and over their pixels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playgrad.wasm.encoding import I32
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.scalars import scalar
from playgrad.wasm.values import integer

Pair = tuple[int, int]
"""Vertical and horizontal."""


@dataclass(frozen=True)
class WindowForm:
    """Images without padding, and the windows over them.

    Attributes:
        before: the padding above and to the left.
        out: the numbers of windows.
    """

    batch: int
    image: Pair
    before: Pair
    out: Pair
    window: Pair
    strides: Pair
    dilations: Pair = (1, 1)


@dataclass(frozen=True)
class ImageWindow:
    """A window of an image.

    Attributes:
        image: the number of its image.
        number: its own, over all images.
        top, left: the place of its first pixel in the image, which may be in the padding.
    """

    image: Local
    number: Local
    top: Local
    left: Local


@contextmanager
def windows(f: Procedure, form: WindowForm, backwards: bool = False) -> Iterator[ImageWindow]:
    """Repeat a block for each window, image by image, row by row; or in the opposite order."""
    height, width = form.out
    counts = (f.count(integer(number)) for number in (form.batch, height, width))
    with next(counts) as image, next(counts) as row, next(counts) as column:
        y = f.copy(integer(height - 1) - row if backwards else row)
        x = f.copy(integer(width - 1) - column if backwards else column)
        number = f.copy((image * height + y) * width + x)
        top = f.copy(y * form.strides[0] - form.before[0])
        left = f.copy(x * form.strides[1] - form.before[1])
        yield ImageWindow(image, number, top, left)


@dataclass(frozen=True)
class Pixel:
    """A pixel of a window that lies in the image: its number there, and in the window."""

    number: Local
    place: Local


@contextmanager
def pixels(f: Procedure, form: WindowForm, window: ImageWindow) -> Iterator[Pixel]:
    """Repeat a block for each pixel of a window that lies in its image, row by row."""
    (height, width), (step_y, step_x) = form.image, form.dilations
    with f.count(integer(form.window[0])) as row:
        y = f.copy(window.top + row * step_y)
        with f.when(scalar("i32.lt_u", y, height)), f.count(integer(form.window[1])) as column:
            x = f.copy(window.left + column * step_x)
            with f.when(scalar("i32.lt_u", x, width)):
                number = f.copy((window.image * height + y) * width + x)
                yield Pixel(number, f.copy(row * form.window[1] + column))


def pixel_count(f: Procedure, form: WindowForm, window: ImageWindow) -> Local:
    """Return how many pixels of a window lie in its image."""
    count = f.local(I32)
    f.set(count, integer(0))
    with pixels(f, form, window):
        f.add(count, 1)
    return count
