"""2-D convolution of each channel by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.convolution.conv2d import conv2d
from playgrad.ops.convolution.window import Padding
from playgrad.ops.core.build import as_tensors, expect_rank


def depthwise_conv2d(
    x: Any,
    filters: Any,
    strides: int | Sequence[int] = (1, 1),
    padding: Padding = "valid",
    dilation_rate: int | Sequence[int] = (1, 1),
    name: str | None = None,
) -> Tensor:
    """Return the convolution of each channel of a batch of images with filters of its own.

    It is ``conv2d`` with as many groups as channels.

    Args:
        x: images of shape (batch, height, width, in channels), float16, float32 or float64.
        filters: shape (filter height, filter width, in channels, multiplier), of the same dtype.
        strides, padding, dilation_rate: as in ``conv2d``.

    Returns:
        A tensor of shape (batch, out height, out width, in channels * multiplier) and the dtype of
        ``x``. The results of a channel are next to each other.

    Raises:
        ShapeError: an operand does not have 4 dimensions, the channels differ, a filter is larger
            than the padded image, or another argument is not valid.
        DTypeError: the operands are not of one floating dtype.
    """
    image, kernel = as_tensors(x, filters)
    expect_rank(image.spec, 4, "the image of depthwise_conv2d, (batch, height, width, channels),")
    expect_rank(kernel.spec, 4, "the filters of depthwise_conv2d, (height, width, in, multiplier),")
    height, width, channels, multiplier = kernel.spec.static_shape
    if image.shape[3] not in (None, channels):
        raise ShapeError(
            f"depthwise_conv2d: the image {shape_text(image.shape)} has {image.shape[3]} channels, "
            f"but the filters {shape_text(kernel.shape)} take {channels}."
        )
    grouped = reshape(kernel, (height, width, 1, channels * multiplier))
    return conv2d(image, grouped, strides, padding, dilation_rate, channels, name=name)
