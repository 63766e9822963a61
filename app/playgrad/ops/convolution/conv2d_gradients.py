"""The gradients of ``conv2d`` by its image and by its filters.

Convolution is linear in both, so each of the three operations is a gradient of the other two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.convolution import grouped
from playgrad.ops.convolution.conv2d import (
    CASES,
    WINDOW,
    filter_gradient,
    infer_conv2d,
    patches,
)
from playgrad.ops.convolution.simd_convolution import (
    prepare_filter_gradient,
    prepare_image_gradient,
)
from playgrad.ops.convolution.window import (
    add_image_gradient,
    crop,
    dilations_of,
    expect_gradient,
    image_size_of_last,
    padded_zeros,
    shifted,
    window_attrs,
)
from playgrad.ops.core.build import add_node, expect_rank
from playgrad.ops.core.half import in_float32, or_wide
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats
from playgrad.ops.lowering.conv2d import lower_conv2d_filter_gradient, lower_conv2d_input_gradient
from playgrad.ops.products.array_product import numpy_matmul


def _convolved(image: Tensor, filters: Tensor, attrs: Attrs) -> Tensor:
    return add_node("conv2d", [image, filters], window_attrs(attrs)).output


def _expect_gradient(
    image: TensorSpec, filters: TensorSpec, grad: TensorSpec, attrs: Attrs, what: str
) -> None:
    (result,) = infer_conv2d([image, filters], attrs)
    expect_gradient(grad, result, what, "the result of the convolution")


# The gradient by the image: inputs (filters, gradient of the result)


def _infer_by_image(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    filters, grad = inputs
    expect_rank(filters, 4, "the filters of conv2d_input_gradient")
    expect_rank(grad, 4, "the gradient passed to conv2d_input_gradient")
    group_channels = filters.shape[2]
    channels = None if group_channels is None else group_channels * attrs.get("groups", 1)
    image = TensorSpec((grad.shape[0], *attrs["image_size"], channels), grad.dtype)
    _expect_gradient(image, filters, grad, attrs, "conv2d_input_gradient")
    return [image]


def _by_image(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    filters, grad = inputs
    if "groups" in attrs:
        return [grouped.gradient_by_image(filters, grad, attrs)]
    step_y, step_x = dilations_of(attrs)
    kernel_height, kernel_width, channels, _ = filters.shape
    batch, height, width, outputs = grad.shape
    rows = grad.reshape(batch * height * width, outputs)
    result = padded_zeros(batch, attrs["image_size"], channels, attrs, grad.dtype)
    for y in range(kernel_height):
        for x in range(kernel_width):
            part = numpy_matmul(rows, filters[y, x].T).reshape(batch, height, width, channels)
            pixels = shifted(result, (y * step_y, x * step_x), (height, width), attrs["strides"])
            pixels += part
    return [crop(result, attrs["padding"], attrs["image_size"])]


_rounded_by_image = in_float32(_by_image)


def _prepare_by_image(inputs: Sequence[TensorSpec], attrs: Attrs) -> Callable[..., Sequence[Array]]:
    filters, grad = inputs
    simd = prepare_image_gradient(filters, grad, attrs)
    return simd or (lambda arrays: _rounded_by_image(arrays, attrs))


def _gradient_by_image(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    filters, grad = node.inputs[:2]
    return [
        filter_gradient(grads[0], grad, filters, node.attrs),
        _convolved(grads[0], filters, node.attrs),
    ]


# The gradient by the filters: inputs (image, gradient of the result)


def _infer_by_filters(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    image, grad = inputs
    expect_rank(image, 4, "the image of conv2d_filter_gradient")
    expect_rank(grad, 4, "the gradient passed to conv2d_filter_gradient")
    channels, groups = image.shape[3], attrs.get("groups", 1)
    if channels is not None and channels % groups:
        raise ShapeError(
            f"conv2d_filter_gradient: the {channels} channels of the image "
            f"{shape_text(image.shape)} cannot be divided into {groups} groups."
        )
    group_channels = None if channels is None else channels // groups
    filters = TensorSpec((*attrs["kernel_size"], group_channels, grad.shape[3]), grad.dtype)
    _expect_gradient(image, filters, grad, attrs, "conv2d_filter_gradient")
    return [filters]


def _by_filters(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    image, grad = inputs
    size = attrs["kernel_size"]
    if "groups" in attrs:
        return [grouped.gradient_by_filters(image, grad, attrs)]
    pixels = patches(image, size, attrs)
    rows = pixels.reshape(prod(pixels.shape[:3]), pixels.shape[3])
    result = numpy_matmul(rows.T, grad.reshape(len(rows), grad.shape[3]))
    return [result.reshape(*size, image.shape[3], grad.shape[3])]


_rounded_by_filters = in_float32(_by_filters)


def _prepare_by_filters(
    inputs: Sequence[TensorSpec], attrs: Attrs
) -> Callable[..., Sequence[Array]]:
    image, grad = inputs
    simd = prepare_filter_gradient(image, grad, attrs)
    return simd or (lambda arrays: _rounded_by_filters(arrays, attrs))


def _gradient_by_filters(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    image, grad = node.inputs
    return [
        add_image_gradient("conv2d_input_gradient", [grads[0], grad], image, node.attrs),
        _convolved(image, grads[0], node.attrs),
    ]


def _grad_samples() -> list[tuple[Array, Array, Array, Attrs]]:
    """Return an image, filters, a gradient of their convolution and the attributes, by case."""
    samples = []
    for image, filters, attrs in CASES:
        specs = [TensorSpec(image, "float32"), TensorSpec(filters, "float32")]
        grad = floats(*infer_conv2d(specs, attrs)[0].static_shape, seed=3)
        samples.append((floats(*image), floats(*filters), grad, attrs))
    return samples


_SAMPLES = _grad_samples()
BY_IMAGE = register(
    OpDef(
        name="conv2d_input_gradient",
        infer=or_wide(_infer_by_image),
        reference=_rounded_by_image,
        prepare=_prepare_by_image,
        gradient=_gradient_by_image,
        lower=lower_conv2d_input_gradient,
        epilogue=True,
        samples=tuple(
            Sample((filters, grad), {**attrs, "image_size": list(image.shape[1:3])})
            for image, filters, grad, attrs in _SAMPLES
        ),
        invalid=(
            InvalidSample(
                (floats(3, 3, 1, 4), floats(1, 4, 4, 4)),
                {**WINDOW, "image_size": [5, 5]},
                ShapeError,
                "the gradient has the shape (1, 4, 4, 4)",
            ),
        ),
    )
)
_BY_IMAGE_LIKE = register_like(
    "conv2d_input_gradient_like",
    BY_IMAGE,
    2,
    image_size_of_last,
    samples=[Sample((filters, grad, image), attrs) for image, filters, grad, attrs in _SAMPLES[:1]],
)
_BY_FILTERS = register(
    OpDef(
        name="conv2d_filter_gradient",
        infer=or_wide(_infer_by_filters),
        reference=_rounded_by_filters,
        prepare=_prepare_by_filters,
        gradient=_gradient_by_filters,
        lower=lower_conv2d_filter_gradient,
        epilogue=True,
        samples=tuple(
            Sample((image, grad), {**attrs, "kernel_size": list(filters.shape[:2])})
            for image, filters, grad, attrs in _SAMPLES
        ),
        invalid=(
            InvalidSample(
                (floats(1, 5, 5, 1), floats(1, 4, 4, 4)),
                {**WINDOW, "kernel_size": [3, 3]},
                ShapeError,
                "has the shape (1, 3, 3, 4)",
            ),
            InvalidSample(
                (floats(1, 5, 5, 3), floats(1, 3, 3, 4)),
                {**WINDOW, "kernel_size": [3, 3], "groups": 2},
                ShapeError,
                "the 3 channels",
            ),
        ),
    )
)
