"""Transposed 2-D convolution: the gradient of ``conv2d`` by its image, as an operation.

See Dumoulin and Visin 2016, "A guide to convolution arithmetic for deep learning".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, Sample
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.convolution.conv2d import WINDOW, conv_attrs
from playgrad.ops.convolution.conv2d_gradients import BY_IMAGE
from playgrad.ops.convolution.window import Padding, dilations_of, extent
from playgrad.ops.core.build import add_node, as_tensors, expect_rank, one_or_more, whole
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats


def conv2d_transpose(
    x: Any,
    filters: Any,
    strides: int | Sequence[int] = (1, 1),
    padding: Padding = "valid",
    output_padding: int | Sequence[int] | None = None,
    dilation_rate: int | Sequence[int] = (1, 1),
    name: str | None = None,
) -> Tensor:
    """Return the transposed 2-D convolution of a batch of images with a set of filters.

    It spreads each pixel over a window of the result, and windows that overlap are added.

    Args:
        x: images of shape (batch, height, width, in channels), float16, float32 or float64.
        filters: shape (filter height, filter width, out channels, in channels), of the same dtype.
        strides: distance between windows in pixels: one number, or (vertical, horizontal).
        padding: pixels removed around each result, which has (input - 1) * stride + extent without,
            where extent = (filter - 1) * dilation_rate + 1. "valid" removes none, and adds some
            where the stride is larger than the extent; "same" as many as make output = input *
            stride; ((top, bottom), (left, right)) removes those numbers.
        output_padding: pixels added at the bottom and right, less than the stride: one number, or
            (vertical, horizontal). With it "same" removes about half an extent on each side.
        dilation_rate: distance between the pixels of the result that neighbouring weights reach.

    Returns:
        A tensor of shape (batch, out height, out width, out channels) and the dtype of ``x``.

    Raises:
        ShapeError: an operand does not have 4 dimensions, the channels differ, nothing remains of
            the result, or another argument is not valid.
        DTypeError: the operands are not of one floating dtype.
    """
    image, kernel = as_tensors(x, filters)
    expect_rank(kernel.spec, 4, "the filters of conv2d_transpose, (height, width, out, in),")
    size = kernel.spec.static_shape[:2]
    sides = "valid" if isinstance(padding, str) and padding == "same" else padding
    attrs = conv_attrs(image.spec, size, strides, sides, dilation_rate)
    added = [0, 0]
    if output_padding is not None:
        given = one_or_more(output_padding)
        added = [whole(n, "output_padding") for n in (given * 2 if len(given) == 1 else given)]
        if len(added) != 2 or not all(
            0 <= n < stride for n, stride in zip(added, attrs["strides"], strict=True)
        ):
            raise ShapeError(
                "output_padding must be one or two numbers of at least 0 and less than the "
                f"strides {attrs['strides']}, not {output_padding!r}."
            )
    for axis, (whole_size, stride) in enumerate(
        zip(extent(size, dilations_of(attrs)), attrs["strides"], strict=True)
    ):
        if padding == "same" and output_padding is not None:
            before = (whole_size - whole_size % 2 - added[axis]) // 2
            after = whole_size - whole_size % 2 - added[axis] - max(before, 0)
            attrs["padding"][axis] = [max(before, 0), max(after, 0)]
            added[axis] = max(-after, 0)
        elif padding == "same":
            total = max(whole_size - stride, 0)
            attrs["padding"][axis] = [total // 2, total - total // 2]
        if isinstance(padding, str) and output_padding is None:
            added[axis] = max(stride - whole_size, 0)
    attrs["output_padding"] = added
    return add_node(_TRANSPOSE, [kernel, image], attrs, name=name).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    filters, image = inputs
    expect_rank(image, 4, "the image of conv2d_transpose, (batch, height, width, channels),")
    expect_rank(filters, 4, "the filters of conv2d_transpose, (height, width, out, in),")
    channels, expected = image.shape[3], filters.shape[3]
    if None not in (channels, expected) and channels != expected:
        raise ShapeError(
            f"conv2d_transpose: the image {shape_text(image.shape)} has {channels} channels, but "
            f"the filters {shape_text(filters.shape)} take {expected}."
        )
    if image.dtype != filters.dtype:
        raise DTypeError(
            f"conv2d_transpose: the image is {image.dtype}, but the filters are {filters.dtype}.",
            hint="Convert one of them with cast().",
        )
    return list(BY_IMAGE.infer(inputs, _static_attrs(inputs, attrs)))


def _static_attrs(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    """Return ``attrs`` with the height and width of the result as ``image_size``."""
    filters, image = inputs
    sizes: list[int | None] = []
    for axis, window in enumerate(extent(filters.shape[:2], dilations_of(attrs))):
        dim = image.shape[1 + axis]
        if dim is None or window is None:
            sizes.append(None)
            continue
        size = (dim - 1) * attrs["strides"][axis] + window
        size += attrs["output_padding"][axis] - sum(attrs["padding"][axis])
        if dim and size < 1:
            raise ShapeError(
                f"conv2d_transpose: nothing of the result for the image {shape_text(image.shape)} "
                f"remains without the padding {attrs['padding']}."
            )
        sizes.append(max(size, 0))
    return {**{k: v for k, v in attrs.items() if k != "output_padding"}, "image_size": sizes}


def _attrs(**attrs: Any) -> dict[str, Any]:
    return {**WINDOW, "output_padding": [0, 0], **attrs}


_HALVED = _attrs(strides=[2, 3], padding=[[0, 1], [1, 1]], output_padding=[1, 0])
_TRANSPOSE = register_like(
    "conv2d_transpose",
    BY_IMAGE,
    2,
    _static_attrs,
    infer=_infer,
    samples=(
        Sample((floats(3, 2, 2, 3), floats(2, 4, 3, 3)), _attrs()),
        Sample((floats(3, 3, 1, 2), floats(1, 3, 2, 2)), _HALVED),
        Sample((floats(1, 2, 2, 1), floats(2, 3, 3, 1)), _attrs(strides=[2, 2], dilations=[1, 2])),
    ),
    invalid=(
        InvalidSample((floats(3, 3, 4, 2), floats(1, 5, 5, 4)), _attrs(), ShapeError, "take 2"),
        InvalidSample((floats(3, 3, 4, 2), floats(5, 5, 2)), _attrs(), ShapeError, "(5, 5, 2)"),
        InvalidSample(
            (floats(1, 1, 4, 2), floats(1, 2, 2, 2)),
            _attrs(padding=[[1, 1], [0, 0]]),
            ShapeError,
            "nothing of the result",
        ),
    ),
)
