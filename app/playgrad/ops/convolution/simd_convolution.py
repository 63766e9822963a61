"""Convolution and its gradients in a page, as products with the pixels under windows.

The kernel finds the pixels by tables (`playgrad.wasm.product`), so that no array of them is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from playgrad.graph.opdef import Array, Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.ops.convolution.window import crop, dilations_of, pad_image
from playgrad.ops.products import array_product
from playgrad.ops.products.array_product import SimdProduct, simd_product
from playgrad.wasm.memory import address
from playgrad.wasm.page_kernels import has_page_kernels
from playgrad.wasm.window_sums import window_sums_module

Compute = Callable[[Sequence[Array]], list[Array]]


def window_tables(
    image: Sequence[int], size: Sequence[int], out: Sequence[int], attrs: Attrs
) -> tuple[Array, Array]:
    """Return where the pixels under windows of a float32 image are, in bytes, as int32.

    Args:
        image: the shape (batch, height, width, channels) of the image with its padding.
        size: height and width of a window.
        out: the numbers of windows, vertical and horizontal.

    Returns:
        The distance of each window from the first one, row by row, and in a window that of each
        channel of each pixel from the first one.
    """
    batch, height, width, channels = image
    steps = np.array([height * width, width, 1]) * (4 * channels)
    strides, dilations = (np.array([1, *pair]) for pair in (attrs["strides"], dilations_of(attrs)))
    windows = np.indices((batch, *out)).reshape(3, -1)
    places = np.indices((*size, channels)).reshape(3, -1)
    rows = (steps * strides) @ windows
    columns = np.array([*(steps * dilations)[1:], 4]) @ places
    return rows.astype(np.int32), columns.astype(np.int32)


def _product(specs: Sequence[TensorSpec], multiplications: int, attrs: Attrs) -> SimdProduct | None:
    """Return the kernel if it is worth it and can compute this."""
    if not has_page_kernels() or "groups" in attrs or specs[0].dtype != "float32":
        return None
    return simd_product() if multiplications >= array_product.WORTH else None


def prepare_convolution(
    image: TensorSpec, filters: TensorSpec, out: Sequence[int], attrs: Attrs
) -> Compute | None:
    """Return a function of (image, filters) to the convolution, or None if NumPy has to."""
    shape = (image.static_shape[0], *out, filters.static_shape[3])
    simd = _product([image], prod(shape) * prod(filters.static_shape[:3]), attrs)
    if simd is None:
        return None
    padded = _padded_shape(image, attrs)
    rows, columns = window_tables(padded, filters.static_shape[:2], out, attrs)

    def compute(arrays: Sequence[Array]) -> list[Array]:
        pixels = np.ascontiguousarray(pad_image(arrays[0], attrs["padding"]))
        matrix = arrays[1].reshape(len(columns), shape[3])
        return [simd.indexed(pixels, rows, columns, matrix).reshape(shape)]

    return compute


def prepare_filter_gradient(image: TensorSpec, grad: TensorSpec, attrs: Attrs) -> Compute | None:
    """Return a function of (image, gradient) to the gradient by the filters, or None."""
    size, channels = attrs["kernel_size"], image.static_shape[3]
    *_, height, width, outputs = grad.static_shape
    simd = _product([image], prod(grad.static_shape) * prod(size) * channels, attrs)
    if simd is None:
        return None
    rows, columns = window_tables(_padded_shape(image, attrs), size, (height, width), attrs)

    def compute(arrays: Sequence[Array]) -> list[Array]:
        pixels = np.ascontiguousarray(pad_image(arrays[0], attrs["padding"]))
        matrix = arrays[1].reshape(len(rows), outputs)
        result = simd.indexed(pixels, columns, rows, matrix)
        return [result.reshape(*size, channels, outputs)]

    return compute


def prepare_image_gradient(filters: TensorSpec, grad: TensorSpec, attrs: Attrs) -> Compute | None:
    """Return a function of (filters, gradient) to the gradient by the image, or None.

    A product for each segment of the windows, whose rows are added up in the image.
    """
    height, width, channels, outputs = filters.static_shape
    batch, *out, _ = grad.static_shape
    simd = _product([grad], prod(grad.static_shape) * height * width * channels, attrs)
    if simd is None:
        return None
    image = TensorSpec((batch, *attrs["image_size"], channels), grad.dtype)
    padded = _padded_shape(image, attrs)
    rows, columns = window_tables(padded, (height, width), out, attrs)
    length = segment_length(width, channels, attrs)
    add_windows = _window_sums()

    def compute(arrays: Sequence[Array]) -> list[Array]:
        matrix = np.ascontiguousarray(arrays[0]).reshape(len(columns), outputs).T
        gradients = arrays[1].reshape(len(rows), outputs)
        result = np.zeros(padded, np.float32)
        for first in range(0, len(columns), length):
            parts = simd(gradients, matrix[:, first : first + length])
            target = address(result) + int(columns[first])
            add_windows(len(rows), length, address(parts), address(rows), target)
        return [crop(result, attrs["padding"], attrs["image_size"])]

    return compute


def segment_length(width: int, channels: int, attrs: Attrs) -> int:
    """Return how many elements of a window are side by side: a row, unless dilation divides it."""
    return channels * (width if dilations_of(attrs)[1] == 1 else 1)


@cache
def _window_sums() -> Any:
    from playgrad.devices._emscripten import instantiate

    return instantiate(window_sums_module()).run


def _padded_shape(image: TensorSpec, attrs: Attrs) -> tuple[int, ...]:
    batch, height, width, channels = image.static_shape
    (top, bottom), (left, right) = attrs["padding"]
    return batch, height + top + bottom, width + left + right, channels
