"""Strides, padding and windows of an image, shared by convolution and pooling.

Images have the shape (batch, height, width, channels). The attribute ``strides`` is
[vertical, horizontal], ``padding`` is [[top, bottom], [left, right]], both in pixels. The
attributes ``dilations`` [vertical, horizontal], the distance between the pixels of a window, and
``groups`` are absent where they are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, is_static

Padding = str | Sequence[Sequence[int]]
"""``"valid"``, ``"same"`` or ((top, bottom), (left, right))."""
_SIDES = ("height", "width")
_WINDOW_ATTRS = ("pool_size", "strides", "padding", "dilations", "groups")


def pair(value: int | Sequence[int], what: str) -> list[int]:
    """Return one or two numbers as [vertical, horizontal].

    Raises:
        ShapeError: there are more, or one is less than 1. The message calls them ``what``.
    """
    numbers = [value, value] if isinstance(value, int) else [int(n) for n in value]
    if len(numbers) != 2 or min(numbers) < 1:
        raise ShapeError(f"{what} must be one or two positive numbers, not {value!r}.")
    return numbers


def resolve_padding(
    padding: Padding, image: TensorSpec, window: Sequence[int], strides: Sequence[int]
) -> list[list[int]]:
    """Return ``padding`` in pixels.

    "valid" means no padding; "same" means as much as makes output = ceil(input / stride), with the
    larger half of an odd number at the bottom and right.

    Args:
        window: the height and width of a window, with the pixels that dilation skips.

    Raises:
        ShapeError: not a padding, or "same" with strides for an image of unknown height or width.
    """
    if padding == "valid":
        return [[0, 0], [0, 0]]
    if padding == "same":
        pairs = []
        for dim, size, stride in zip(image.shape[1:3], window, strides, strict=True):
            if dim is None and stride > 1:
                raise ShapeError(
                    'padding="same" with strides needs the height and width of the image, but its '
                    f"shape is {shape_text(image.shape)}."
                )
            known = 1 if dim is None else dim  # without strides it makes no difference
            total = max((-(-known // stride) - 1) * stride + size - known, 0)
            pairs.append([total // 2, total - total // 2])
        return pairs
    pairs = [] if isinstance(padding, str) else [[int(n) for n in sides] for sides in padding]
    if [len(sides) for sides in pairs] != [2, 2] or any(n < 0 for sides in pairs for n in sides):
        raise ShapeError(
            f'padding must be "valid", "same" or ((top, bottom), (left, right)), not {padding!r}.'
        )
    return pairs


def window_attrs(attrs: Attrs) -> dict[str, Any]:
    """Return the attributes that describe the windows, without an image or filter size."""
    return {key: attrs[key] for key in _WINDOW_ATTRS if key in attrs}


def dilations_of(attrs: Attrs) -> Sequence[int]:
    """Return the distance between the pixels of a window, [vertical, horizontal]."""
    dilations: Sequence[int] = attrs.get("dilations", (1, 1))
    return dilations


def extent(window: Sequence[Any], dilations: Sequence[int]) -> list[Any]:
    """Return the height and width of a window with the pixels that dilation skips.

    Unknown sizes (None) stay unknown.
    """
    return [
        None if size is None else (size - 1) * step + 1
        for size, step in zip(window, dilations, strict=True)
    ]


def output_sizes(
    image: TensorSpec, window: Sequence[int | None], attrs: Attrs, what: str
) -> list[int | None]:
    """Return the height and width of the result of moving ``window`` over ``image``.

    Args:
        window: its height and width, with the pixels that dilation skips.

    Raises:
        ShapeError: the image does not have 4 dimensions, or is smaller than the window.
    """
    if image.rank != 4:
        raise ShapeError(
            f"{what}: the image must have the shape (batch, height, width, channels), "
            f"not {shape_text(image.shape)}."
        )
    sizes: list[int | None] = []
    for axis, side in enumerate(_SIDES):
        dim, size = image.shape[1 + axis], window[axis]
        if dim is None or size is None:
            sizes.append(None)
            continue
        padded = dim + sum(attrs["padding"][axis])
        if padded < size:
            raise ShapeError(
                f"{what}: the image {shape_text(image.shape)} has {side} {padded} with its "
                f"padding, less than the window's {size}.",
                hint='Use a smaller window, less pooling before it, or padding="same".',
            )
        sizes.append((padded - size) // attrs["strides"][axis] + 1)
    return sizes


# Gradients by the image, which need its height and width


def add_image_gradient(op: str, inputs: Sequence[Tensor], image: Tensor, attrs: Attrs) -> Tensor:
    """Add the operation ``op``, whose result has the height and width of ``image``.

    While these are unknown it is ``op``_like, which has the image as another input.
    """
    windows = window_attrs(attrs)
    if is_static(image.shape[1:3]):
        windows["image_size"] = list(image.shape[1:3])
        return add_node(op, inputs, windows).output
    return add_node(f"{op}_like", [*inputs, image], windows).output


def image_size_of_last(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    """Return ``attrs`` with the height and width of the last input as ``image_size``."""
    return {**attrs, "image_size": list(inputs[-1].shape[1:3])}


def expect_gradient(grad: TensorSpec, result: TensorSpec, what: str, name: str) -> None:
    """Raise ShapeError unless ``grad`` fits ``result``, which the message calls ``name``."""
    if any(None not in (m, n) and m != n for m, n in zip(result.shape, grad.shape, strict=True)):
        raise ShapeError(
            f"{what}: the gradient has the shape {shape_text(grad.shape)}, but {name} has the "
            f"shape {shape_text(result.shape)}."
        )


# Windows in NumPy


def pad_image(image: Array, padding: Sequence[Sequence[int]], value: float = 0.0) -> Array:
    """Return ``image`` with pixels of ``value`` around it."""
    if not any(n for sides in padding for n in sides):
        return image
    widths = [(0, 0), *((before, after) for before, after in padding), (0, 0)]
    return np.pad(image, widths, constant_values=image.dtype.type(value))


def windows(image: Array, size: Sequence[int], attrs: Attrs) -> Array:
    """Return a view (batch, out height, out width, channels, *size) of a padded image."""
    dilations = dilations_of(attrs)
    whole = tuple(extent(size, dilations))
    view = np.lib.stride_tricks.sliding_window_view(image, whole, axis=(1, 2))
    stride_y, stride_x = attrs["strides"]
    return view[:, ::stride_y, ::stride_x, :, :: dilations[0], :: dilations[1]]


def shifted(
    image: Array, offset: tuple[int, int], size: tuple[int, int], strides: Sequence[int]
) -> Array:
    """Return a view of the pixel at ``offset`` in each of ``size`` windows of a padded image."""
    (y, x), (height, width), (stride_y, stride_x) = offset, size, strides
    return image[
        :,
        y : y + (height - 1) * stride_y + 1 : stride_y,
        x : x + (width - 1) * stride_x + 1 : stride_x,
    ]


def crop(image: Array, padding: Sequence[Sequence[int]], size: Sequence[int]) -> Array:
    """Return the image of height and width ``size`` without its padding."""
    top, left = padding[0][0], padding[1][0]
    return np.ascontiguousarray(image[:, top : top + size[0], left : left + size[1]])


def padded_zeros(batch: int, size: Sequence[int], channels: int, attrs: Attrs, kind: Any) -> Array:
    """Return zeros of the shape of a padded image."""
    height, width = (n + sum(sides) for n, sides in zip(size, attrs["padding"], strict=True))
    return np.zeros((batch, height, width, channels), kind)
