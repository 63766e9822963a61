"""Grouped convolution and its two gradients in NumPy.

Channels are divided into groups, and each group is convolved by itself; in a depthwise convolution
each channel is a group. With G groups, images are viewed as (batch, height, width, G, channels / G)
and filters as (height, width, channels / G, G, outputs / G).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from playgrad.graph.opdef import Array, Attrs
from playgrad.ops.convolution.window import (
    crop,
    dilations_of,
    extent,
    pad_image,
    padded_zeros,
    shifted,
)
from playgrad.ops.products.array_product import numpy_matmul


def convolved(image: Array, filters: Array, attrs: Attrs) -> Array:
    """Return the convolution of ``image`` with ``filters``."""
    padded = pad_image(image, attrs["padding"])
    whole = extent(filters.shape[:2], dilations_of(attrs))
    height, width = (
        (size - window) // stride + 1
        for size, window, stride in zip(padded.shape[1:3], whole, attrs["strides"], strict=True)
    )
    batch, outputs, groups = len(image), filters.shape[3], attrs["groups"]
    result = np.zeros((groups, batch * height * width, outputs // groups), image.dtype)
    for place, offset in _offsets(filters.shape[:2], attrs):
        pixels = _by_group(shifted(padded, offset, (height, width), attrs["strides"]), groups)
        result += numpy_matmul(pixels, _weights(filters[place], groups))
    return result.transpose(1, 0, 2).reshape(batch, height, width, outputs)


def gradient_by_image(filters: Array, grad: Array, attrs: Attrs) -> Array:
    """Return the gradient of ``convolved`` by the image, given that of its result."""
    batch, height, width, _ = grad.shape
    groups, size = attrs["groups"], attrs["image_size"]
    channels = filters.shape[2] * groups
    rows = _by_group(grad, groups)
    result = padded_zeros(batch, size, channels, attrs, grad.dtype)
    for place, offset in _offsets(filters.shape[:2], attrs):
        part = numpy_matmul(rows, _weights(filters[place], groups).swapaxes(1, 2))
        pixels = shifted(result, offset, (height, width), attrs["strides"])
        pixels += part.transpose(1, 0, 2).reshape(batch, height, width, channels)
    return crop(result, attrs["padding"], size)


def gradient_by_filters(image: Array, grad: Array, attrs: Attrs) -> Array:
    """Return the gradient of ``convolved`` by the filters, given that of its result."""
    _, height, width, outputs = grad.shape
    groups, size = attrs["groups"], attrs["kernel_size"]
    channels = image.shape[3] // groups
    padded, rows = pad_image(image, attrs["padding"]), _by_group(grad, groups)
    result = np.empty((*size, channels, outputs), grad.dtype)
    for place, offset in _offsets(size, attrs):
        pixels = _by_group(shifted(padded, offset, (height, width), attrs["strides"]), groups)
        weights = numpy_matmul(pixels.swapaxes(1, 2), rows)
        result[place] = weights.transpose(1, 0, 2).reshape(channels, outputs)
    return result


def _offsets(size: Any, attrs: Attrs) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield each position in the filters, and that of its pixel in a window."""
    step_y, step_x = dilations_of(attrs)
    return (((y, x), (y * step_y, x * step_x)) for y in range(size[0]) for x in range(size[1]))


def _by_group(image: Array, groups: int) -> Array:
    """Return (groups, pixels, channels / groups)."""
    pixels, channels = prod(image.shape[:3]), image.shape[3] // groups
    return image.reshape(pixels, groups, channels).transpose(1, 0, 2)


def _weights(weights: Array, groups: int) -> Array:
    """Return weights (channels / groups, outputs) with the groups as another dimension, first."""
    return weights.reshape(len(weights), groups, weights.shape[1] // groups).transpose(1, 0, 2)
