"""Images sampled at other places: the arithmetic of shifts, rotations and zooms."""

from __future__ import annotations

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.gather import gather
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import cast, floor, logical_and, maximum, minimum, where
from playgrad.ops.reductions.cumsum import cumsum

FILL_MODES = ("reflect", "constant", "wrap", "nearest")
INTERPOLATIONS = ("bilinear", "nearest")


def centred_grid(size: int, axis: int) -> Tensor:
    """Return the distances of pixels from the centre along an axis, for (batch, height, width)."""
    shape = [1, 1, 1]
    shape[axis] = size
    return constant((np.arange(size, dtype=np.float32) - (size - 1) / 2).reshape(shape))


def sample_images(
    images: Tensor,
    size: tuple[int, int, int],
    y: Tensor,
    x: Tensor,
    fill_mode: str,
    fill_value: float,
    interpolation: str,
) -> Tensor:
    """Return images whose pixels are taken from other places.

    Args:
        images: (batch, height, width, channels).
        size: the height, the width and the channels.
        y, x: float32 (batch, height, width), the place of each pixel, in pixels from the centre.
        fill_mode: the pixels outside: "reflect" (d c b a | a b c d | d c b a), "constant",
            "wrap" (a b c d | a b c d | a b c d) or "nearest" (a a a a | a b c d | d d d d).
        fill_value: the value of the pixels outside for "constant".
        interpolation: "bilinear" or "nearest".
    """
    height, width, channels = size
    rows, columns = y + (height - 1) / 2, x + (width - 1) / 2
    # The first pixel of each image in the list of all pixels.
    ones = cast(reshape(images[:, :1, :1, :1], (-1, 1, 1)), "bool")
    starts = cumsum(cast(ones, "int32") * 0 + height * width, axis=0) - height * width
    pixels = reshape(images, (-1, channels))

    def at(row: Tensor, column: Tensor) -> Tensor:
        """Return the pixels of whole coordinates."""
        inside_y, inside_x = _inside(row, height, fill_mode), _inside(column, width, fill_mode)
        index = cast(inside_y, "int32") * width + cast(inside_x, "int32") + starts
        values = gather(pixels, index)
        if fill_mode != "constant":
            return values
        known = logical_and(
            logical_and(row >= 0.0, row <= height - 1.0),
            logical_and(column >= 0.0, column <= width - 1.0),
        )
        return where(_with_channels(known, size), values, fill_value)

    if interpolation == "nearest":
        return at(floor(rows + 0.5), floor(columns + 0.5))
    top, left = floor(rows), floor(columns)
    down, right = _with_channels(rows - top, size), _with_channels(columns - left, size)
    upper = at(top, left) * (1.0 - right) + at(top, left + 1.0) * right
    lower = at(top + 1.0, left) * (1.0 - right) + at(top + 1.0, left + 1.0) * right
    return upper * (1.0 - down) + lower * down


def _inside(index: Tensor, size: int, fill_mode: str) -> Tensor:
    """Return the pixel inside the image that stands for pixel ``index`` of its continuation."""
    if fill_mode == "wrap":
        index = index % float(size)
    elif fill_mode == "reflect":
        index = index % float(2 * size)
        index = minimum(index, 2.0 * size - 1.0 - index)
    return maximum(minimum(index, size - 1.0), 0.0)


def _with_channels(values: Tensor, size: tuple[int, int, int]) -> Tensor:
    return reshape(values, (-1, size[0], size[1], 1))
