"""What convolution and pooling share: strides, padding, and the windows of an image.

Images are (batch, height, width, channels). ``padding`` is [[top, bottom], [left, right]].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array
from playgrad.graph.spec import TensorSpec

Padding = str | Sequence[Sequence[int]]
WHAT = ("height", "width")


def pair(value: int | Sequence[int], what: str) -> list[int]:
    """A number, or two, as [vertical, horizontal]; each at least 1."""
    numbers = [value, value] if isinstance(value, int) else [int(n) for n in value]
    if len(numbers) != 2 or min(numbers) < 1:
        raise ShapeError(f"{what} must be one or two positive numbers, not {value!r}.")
    return numbers


def resolve_padding(
    padding: Padding, image: TensorSpec, window: Sequence[int], strides: Sequence[int]
) -> list[list[int]]:
    """``padding`` as numbers: "valid" is none, "same" such that output = ceil(input / stride).

    An odd "same" padding has its larger half at the bottom and right.

    Raises:
        ShapeError: "same" of an image of unknown size, or not a padding.
    """
    if padding == "valid":
        return [[0, 0], [0, 0]]
    if padding == "same":
        pairs = []
        for dim, size, stride in zip(image.shape[1:3], window, strides, strict=True):
            if dim is None:
                raise ShapeError(
                    'padding="same" needs the height and width of the image, but its shape is '
                    f"{shape_text(image.shape)}."
                )
            total = max((-(-dim // stride) - 1) * stride + size - dim, 0)
            pairs.append([total // 2, total - total // 2])
        return pairs
    pairs = [] if isinstance(padding, str) else [[int(n) for n in sides] for sides in padding]
    if [len(sides) for sides in pairs] != [2, 2] or any(n < 0 for sides in pairs for n in sides):
        raise ShapeError(
            f'padding must be "valid", "same" or ((top, bottom), (left, right)), not {padding!r}.'
        )
    return pairs


def output_sizes(
    image: TensorSpec, window: Sequence[int | None], attrs: Any, what: str
) -> list[int | None]:
    """Height and width of the result of moving ``window`` over ``image``.

    Raises:
        ShapeError: the image has not 4 dimensions, or is smaller than the window.
    """
    if image.rank != 4:
        raise ShapeError(
            f"{what}: the image must have the shape (batch, height, width, channels), "
            f"not {shape_text(image.shape)}."
        )
    sizes: list[int | None] = []
    for axis, name in enumerate(WHAT):
        dim, size = image.shape[1 + axis], window[axis]
        if dim is None or size is None:
            sizes.append(None)
            continue
        whole = dim + sum(attrs["padding"][axis])
        if whole < size:
            raise ShapeError(
                f"{what}: the image {shape_text(image.shape)} is of {name} {whole} with its "
                f"padding, less than the window's {size}.",
                hint='Use a smaller window, less pooling before it, or padding="same".',
            )
        sizes.append((whole - size) // attrs["strides"][axis] + 1)
    return sizes


def pad_image(image: Array, padding: Sequence[Sequence[int]], value: float = 0.0) -> Array:
    """``image`` with its padding around it."""
    if not any(n for sides in padding for n in sides):
        return image
    widths = [(0, 0), *((before, after) for before, after in padding), (0, 0)]
    return np.pad(image, widths, constant_values=image.dtype.type(value))


def windows(image: Array, size: Sequence[int], attrs: Any) -> Array:
    """A view (batch, out height, out width, channels, *size) of a padded image."""
    view = np.lib.stride_tricks.sliding_window_view(image, tuple(size), axis=(1, 2))
    stride_y, stride_x = attrs["strides"]
    return view[:, ::stride_y, ::stride_x]


def shifted(
    image: Array, offset: tuple[int, int], size: tuple[int, int], strides: Sequence[int]
) -> Array:
    """A view of the pixels at ``offset`` in each of ``size`` windows of a padded image."""
    (y, x), (height, width), (stride_y, stride_x) = offset, size, strides
    return image[
        :,
        y : y + (height - 1) * stride_y + 1 : stride_y,
        x : x + (width - 1) * stride_x + 1 : stride_x,
    ]


def crop(image: Array, padding: Sequence[Sequence[int]], size: Sequence[int]) -> Array:
    """The image of ``size`` without its padding."""
    top, left = padding[0][0], padding[1][0]
    return np.ascontiguousarray(image[:, top : top + size[0], left : left + size[1]])


def padded_zeros(batch: int, size: Sequence[int], channels: int, attrs: Any, kind: Any) -> Array:
    """Zeros of the shape of a padded image."""
    height, width = (n + sum(sides) for n, sides in zip(size, attrs["padding"], strict=True))
    return np.zeros((batch, height, width, channels), kind)
