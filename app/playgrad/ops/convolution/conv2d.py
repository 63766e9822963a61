"""2-D convolution of images. Its gradients are in ``conv2d_gradients.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.convolution import grouped
from playgrad.ops.convolution.simd_convolution import prepare_convolution
from playgrad.ops.convolution.window import (
    Padding,
    add_image_gradient,
    dilations_of,
    extent,
    output_sizes,
    pad_image,
    pair,
    resolve_padding,
    window_attrs,
    windows,
)
from playgrad.ops.core.build import FLOATS, add_node, as_tensors, expect_dtype, expect_rank, whole
from playgrad.ops.core.half import in_float32, or_wide
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.conv2d import lower_conv2d
from playgrad.ops.products.array_product import numpy_matmul


def conv2d(
    x: Any,
    filters: Any,
    strides: int | Sequence[int] = (1, 1),
    padding: Padding = "valid",
    dilation_rate: int | Sequence[int] = (1, 1),
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """Return the 2-D convolution of a batch of images with a set of filters.

    As in all neural networks this is a cross-correlation: the filters are not flipped.

    Args:
        x: images of shape (batch, height, width, in channels), float16, float32 or float64.
        filters: shape (filter height, filter width, in channels / groups, out channels), of the
            same dtype.
        strides: distance between windows in pixels: one number, or (vertical, horizontal).
        padding: zeros around each image. "valid" adds none; "same" adds as many as make output =
            ceil(input / stride); ((top, bottom), (left, right)) adds those numbers.
        dilation_rate: distance between the pixels that meet neighbouring weights of a filter: one
            number, or (vertical, horizontal).
        groups: into how many groups the channels are divided. The first group of output channels
            depends on the first group of input channels only, and so on.

    Returns:
        A tensor of shape (batch, out height, out width, out channels) and the dtype of ``x``, with
        out = (in + padding - extent) // stride + 1 in height and width, where extent = (filter - 1)
        * dilation_rate + 1.

    Raises:
        ShapeError: an operand does not have 4 dimensions, the channels differ or cannot be divided
            into groups, a filter is larger than the padded image, or another argument is not
            valid.
        DTypeError: the operands are not of one floating dtype.
    """
    image, kernel = as_tensors(x, filters)
    expect_rank(image.spec, 4, "the image of conv2d, (batch, height, width, channels),")
    expect_rank(kernel.spec, 4, "the filters of conv2d, (height, width, in, out),")
    size = kernel.spec.static_shape[:2]
    attrs = conv_attrs(image.spec, size, strides, padding, dilation_rate, groups)
    return add_node(_CONV2D, [image, kernel], attrs, name=name).output


def conv_attrs(
    image: TensorSpec,
    size: Sequence[int],
    strides: int | Sequence[int],
    padding: Padding,
    dilation_rate: int | Sequence[int],
    groups: int = 1,
) -> dict[str, Any]:
    """Return the attributes of a convolution with filters of ``size`` (height, width).

    Raises:
        ShapeError: an argument is not valid.
    """
    stride_pair, dilations = pair(strides, "strides"), pair(dilation_rate, "dilation_rate")
    if whole(groups, "groups") < 1:
        raise ShapeError(f"groups must be at least 1, not {groups!r}.")
    padding = resolve_padding(padding, image, extent(size, dilations), stride_pair)
    attrs: dict[str, Any] = {"strides": stride_pair, "padding": padding}
    if dilations != [1, 1]:
        attrs["dilations"] = dilations
    if groups != 1:
        attrs["groups"] = int(groups)
    return attrs


def infer_conv2d(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    """Return the spec of the convolution of (image, filters)."""
    image, filters = inputs
    expect_rank(filters, 4, "the filters of conv2d, (height, width, in, out),")
    if 0 in filters.shape[:2]:
        raise ShapeError(f"conv2d: the filters {shape_text(filters.shape)} have no pixels.")
    window = extent(filters.shape[:2], dilations_of(attrs))
    height, width = output_sizes(image, window, attrs, "conv2d")
    expect_dtype(image, "the image and filters of conv2d", *FLOATS)
    if image.dtype != filters.dtype:
        raise DTypeError(
            f"conv2d: the image is {image.dtype}, but the filters are {filters.dtype}.",
            hint="Convert one of them with cast().",
        )
    groups = attrs.get("groups", 1)
    channels, outputs = image.shape[3], filters.shape[3]
    expected = None if filters.shape[2] is None else filters.shape[2] * groups
    if None not in (channels, expected) and channels != expected:
        raise ShapeError(
            f"conv2d: the image {shape_text(image.shape)} has {channels} channels, but the filters "
            f"{shape_text(filters.shape)} take {expected}"
            + (f" in {groups} groups." if groups > 1 else ".")
        )
    if outputs is not None and outputs % groups:
        raise ShapeError(
            f"conv2d: the {outputs} output channels of the filters {shape_text(filters.shape)} "
            f"cannot be divided into {groups} groups."
        )
    return [TensorSpec((image.shape[0], height, width, filters.shape[3]), image.dtype)]


def patches(image: Array, size: Sequence[int], attrs: Attrs) -> Array:
    """Return the pixels under each window: (batch, out height, out width, size * channels)."""
    view = windows(pad_image(image, attrs["padding"]), size, attrs)
    return view.transpose(0, 1, 2, 4, 5, 3).reshape(*view.shape[:3], prod(view.shape[3:]))


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    image, filters = inputs
    if "groups" in attrs:
        return [grouped.convolved(image, filters, attrs)]
    pixels = patches(image, filters.shape[:2], attrs)
    matrix = filters.reshape(prod(filters.shape[:3]), filters.shape[3])
    result = numpy_matmul(pixels.reshape(prod(pixels.shape[:3]), len(matrix)), matrix)
    return [result.reshape(*pixels.shape[:3], filters.shape[3])]


_rounded = in_float32(_reference)


def _prepare(inputs: Sequence[TensorSpec], attrs: Attrs) -> Callable[..., Sequence[Array]]:
    image, filters = inputs
    out = infer_conv2d(inputs, attrs)[0].static_shape[1:3]
    simd = prepare_convolution(image, filters, out, attrs)
    return simd or (lambda arrays: _rounded(arrays, attrs))


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    image, filters = node.inputs
    return [
        add_image_gradient("conv2d_input_gradient", [filters, grads[0]], image, node.attrs),
        filter_gradient(image, grads[0], filters, node.attrs),
    ]


def filter_gradient(image: Tensor, grad: Tensor, filters: Tensor, attrs: Attrs) -> Tensor:
    """Add the gradient of a convolution by its filters."""
    attrs = {**window_attrs(attrs), "kernel_size": list(filters.shape[:2])}
    return add_node("conv2d_filter_gradient", [image, grad], attrs).output


WINDOW = {"strides": [1, 1], "padding": [[0, 0], [0, 0]]}
CASES: tuple[
    tuple[tuple[int, ...], tuple[int, ...], Attrs], ...
] = (  # shapes of the image and the filters, attributes
    ((2, 6, 5, 3), (3, 2, 3, 4), WINDOW),
    ((1, 7, 8, 2), (3, 3, 2, 3), {"strides": [1, 1], "padding": [[1, 1], [1, 1]]}),
    ((2, 7, 9, 2), (3, 2, 2, 5), {"strides": [2, 3], "padding": [[1, 2], [0, 3]]}),
    ((1, 4, 4, 1), (4, 4, 1, 1), WINDOW),
    ((3, 5, 5, 1), (1, 1, 1, 9), {"strides": [2, 2], "padding": [[0, 0], [0, 0]]}),
    ((4, 14, 14, 8), (3, 3, 8, 16), WINDOW),
    (
        (1, 9, 6, 2),
        (2, 3, 2, 5),
        {"strides": [2, 1], "padding": [[1, 2], [2, 0]], "dilations": [3, 2]},
    ),
    ((2, 6, 5, 6), (3, 2, 2, 9), {**WINDOW, "groups": 3}),
    ((3, 13, 9, 4), (2, 2, 1, 4), {**WINDOW, "groups": 4}),
    (
        (2, 7, 6, 4),
        (3, 3, 1, 8),
        {"strides": [2, 1], "padding": [[1, 1], [2, 1]], "dilations": [1, 2], "groups": 4},
    ),
)

_CONV2D = register(
    OpDef(
        name="conv2d",
        infer=or_wide(infer_conv2d),
        reference=_rounded,
        prepare=_prepare,
        gradient=_gradient,
        lower=lower_conv2d,
        epilogue=True,
        samples=tuple(
            Sample((floats(*image), floats(*filters)), attrs) for image, filters, attrs in CASES
        ),
        invalid=(
            InvalidSample(
                (floats(1, 5, 5, 3), floats(3, 3, 1, 4)),
                WINDOW,
                ShapeError,
                "(1, 5, 5, 3) has 3 channels, but the filters (3, 3, 1, 4) take 1",
            ),
            InvalidSample(
                (floats(1, 2, 5, 1), floats(3, 3, 1, 4)), WINDOW, ShapeError, "has height 2"
            ),
            InvalidSample(
                (floats(1, 5, 5, 4), floats(3, 3, 1, 4)),
                {**WINDOW, "groups": 2},
                ShapeError,
                "has 4 channels, but the filters (3, 3, 1, 4) take 2 in 2 groups",
            ),
            InvalidSample(
                (floats(1, 5, 5, 4), floats(3, 3, 2, 5)),
                {**WINDOW, "groups": 2},
                ShapeError,
                "the 5 output channels",
            ),
            InvalidSample(
                (floats(1, 5, 5, 1), floats(3, 3, 1, 4)),
                {**WINDOW, "dilations": [3, 1]},
                ShapeError,
                "less than the window's 7",
            ),
            InvalidSample((floats(5, 5, 1), floats(3, 3, 1, 4)), WINDOW, ShapeError, "(5, 5, 1)"),
            InvalidSample((floats(1, 5, 5, 1), floats(3, 3)), WINDOW, ShapeError, "4 dimensions"),
            InvalidSample(
                (integers(1, 5, 5, 1), integers(3, 3, 1, 4)), WINDOW, DTypeError, "not int32"
            ),
        ),
    )
)
