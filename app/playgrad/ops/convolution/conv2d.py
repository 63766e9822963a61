"""2-D convolution (as networks mean it: correlation) and its two gradients.

Images are (batch, height, width, channels), filters (height, width, in, out). The three
operations are each other's gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.broadcast import Specialised, is_static
from playgrad.ops.convolution.window import (
    Padding,
    crop,
    output_sizes,
    pad_image,
    padded_zeros,
    pair,
    resolve_padding,
    shifted,
    windows,
)
from playgrad.ops.core.build import add_node, as_tensors, expect_floating, expect_rank
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.conv2d import (
    lower_conv2d,
    lower_conv2d_filter_gradient,
    lower_conv2d_input_gradient,
)
from playgrad.ops.products.matmul import numpy_matmul


def conv2d(
    x: Any,
    filters: Any,
    strides: int | Sequence[int] = (1, 1),
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """``x`` correlated with ``filters``.

    Args:
        x: (batch, height, width, in).
        filters: (height, width, in, out).
        padding: "valid" (none), "same" (output = ceil(input / stride)), or
            ((top, bottom), (left, right)) pixels of zeros.

    Returns:
        A tensor of shape (batch, out height, out width, out).
    """
    image, kernel = as_tensors(x, filters)
    expect_rank(image.spec, 4, "the image of conv2d, (batch, height, width, channels),")
    expect_rank(kernel.spec, 4, "the filters of conv2d, (height, width, in, out),")
    steps = pair(strides, "strides")
    size = kernel.spec.static_shape[:2]
    attrs = {"strides": steps, "padding": resolve_padding(padding, image.spec, size, steps)}
    return add_node(_CONV2D, [image, kernel], attrs, name=name).output


def _window_attrs(attrs: Attrs) -> dict[str, Any]:
    return {"strides": attrs["strides"], "padding": attrs["padding"]}


def _input_gradient(filters: Tensor, grad: Tensor, image: Tensor, attrs: Attrs) -> Tensor:
    """The gradient of conv2d by its image."""
    own = _window_attrs(attrs)
    if is_static(image.shape[1:3]):
        own["image_size"] = list(image.shape[1:3])
        return add_node(_INPUT_GRADIENT, [filters, grad], own).output
    return add_node(_INPUT_GRADIENT_LIKE, [filters, grad, image], own).output


def _filter_gradient(image: Tensor, grad: Tensor, kernel_size: Any, attrs: Attrs) -> Tensor:
    """The gradient of conv2d by its filters."""
    own = {**_window_attrs(attrs), "kernel_size": list(kernel_size)}
    return add_node(_FILTER_GRADIENT, [image, grad], own).output


def _plain(image: Tensor, filters: Tensor, attrs: Attrs) -> Tensor:
    return add_node(_CONV2D, [image, filters], _window_attrs(attrs)).output


def _same_dtype(a: TensorSpec, b: TensorSpec, what: str) -> None:
    expect_floating(a, what)
    if a.dtype != b.dtype:
        raise DTypeError(f"{what} differ in element type: {a.dtype} and {b.dtype}.")


# conv2d


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    image, filters = inputs
    expect_rank(filters, 4, "the filters of conv2d, (height, width, in, out),")
    height, width = output_sizes(image, filters.shape[:2], attrs, "conv2d")
    _same_dtype(image, filters, "the image and filters of conv2d")
    channels, wanted = image.shape[3], filters.shape[2]
    if None not in (channels, wanted) and channels != wanted:
        raise ShapeError(
            f"conv2d: the image {shape_text(image.shape)} has {channels} channels, but the filters "
            f"{shape_text(filters.shape)} take {wanted}."
        )
    return [TensorSpec((image.shape[0], height, width, filters.shape[3]), image.dtype)]


def _columns(image: Array, size: Sequence[int], attrs: Attrs) -> Array:
    """The windows of an image as rows of a matrix: (batch * out pixels, height * width * in)."""
    view = windows(pad_image(image, attrs["padding"]), size, attrs)
    return view.transpose(0, 1, 2, 4, 5, 3).reshape(np.prod(view.shape[:3]), -1)


def _conv2d(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    image, filters = inputs
    kernel_height, kernel_width, _, outputs = filters.shape
    padded = pad_image(image, attrs["padding"])
    shape = windows(padded, (kernel_height, kernel_width), attrs).shape[:3]
    columns = _columns(image, (kernel_height, kernel_width), attrs)
    return [numpy_matmul(columns, filters.reshape(-1, outputs)).reshape(*shape, outputs)]


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    image, filters = node.inputs
    return [
        _input_gradient(filters, grads[0], image, node.attrs),
        _filter_gradient(image, grads[0], filters.shape[:2], node.attrs),
    ]


# The gradient by the image


def _infer_input_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    return _input_spec(inputs[0], inputs[1], tuple(attrs["image_size"]), attrs)


def _infer_input_gradient_like(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    return _input_spec(inputs[0], inputs[1], inputs[2].shape[1:3], attrs)


def _input_spec(filters: TensorSpec, grad: TensorSpec, size: Any, attrs: Attrs) -> list[TensorSpec]:
    expect_rank(filters, 4, "the filters of conv2d_input_gradient")
    expect_rank(grad, 4, "the gradient given to conv2d_input_gradient")
    image = TensorSpec((grad.shape[0], *size, filters.shape[2]), grad.dtype)
    _expect_grad(image, filters, grad, attrs, "conv2d_input_gradient")
    return [image]


def _expect_grad(
    image: TensorSpec, filters: TensorSpec, grad: TensorSpec, attrs: Attrs, what: str
) -> None:
    """Raise ShapeError unless ``grad`` has the shape of the convolution's result."""
    (result,) = _infer([image, filters], attrs)
    if any(None not in (m, n) and m != n for m, n in zip(result.shape, grad.shape, strict=True)):
        raise ShapeError(
            f"{what}: the gradient has the shape {shape_text(grad.shape)}, but the convolution's "
            f"result is {shape_text(result.shape)}."
        )


def _input_gradient_of(filters: Array, grad: Array, size: Sequence[int], attrs: Attrs) -> Array:
    kernel_height, kernel_width, channels, _ = filters.shape
    batch, height, width, outputs = grad.shape
    rows = grad.reshape(-1, outputs)
    result = padded_zeros(batch, size, channels, attrs, grad.dtype)
    for y in range(kernel_height):
        for x in range(kernel_width):
            part = numpy_matmul(rows, filters[y, x].T).reshape(batch, height, width, channels)
            pixels = shifted(result, (y, x), (height, width), attrs["strides"])
            pixels += part
    return crop(result, attrs["padding"], size)


def _input_gradient_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    filters, grad = node.inputs[:2]
    by_filters = _filter_gradient(grads[0], grad, filters.shape[:2], node.attrs)
    by_grad = _plain(grads[0], filters, node.attrs)
    return [by_filters, by_grad] + [None] * (len(node.inputs) - 2)


def _specialise_input_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> Specialised:
    own = {**attrs, "image_size": list(inputs[2].static_shape[1:3])}
    return "conv2d_input_gradient", own, (0, 1)


# The gradient by the filters


def _infer_filter_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    image, grad = inputs
    expect_rank(image, 4, "the image of conv2d_filter_gradient")
    expect_rank(grad, 4, "the gradient given to conv2d_filter_gradient")
    filters = TensorSpec((*attrs["kernel_size"], image.shape[3], grad.shape[3]), grad.dtype)
    _expect_grad(image, filters, grad, attrs, "conv2d_filter_gradient")
    return [filters]


def _filter_gradient_of(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    image, grad = inputs
    size = attrs["kernel_size"]
    columns = _columns(image, size, attrs)
    result = numpy_matmul(columns.T, grad.reshape(-1, grad.shape[3]))
    return [result.reshape(*size, image.shape[3], grad.shape[3])]


def _filter_gradient_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    image, grad = node.inputs
    return [
        _input_gradient(grads[0], grad, image, node.attrs),
        _plain(image, grads[0], node.attrs),
    ]


_WINDOW = {"strides": [1, 1], "padding": [[0, 0], [0, 0]]}
_STRIDED = {"strides": [2, 3], "padding": [[1, 2], [0, 3]]}
_CASES = (  # image, filters, attributes
    ((2, 6, 5, 3), (3, 2, 3, 4), _WINDOW),
    ((1, 7, 8, 2), (3, 3, 2, 3), {"strides": [1, 1], "padding": [[1, 1], [1, 1]]}),
    ((2, 7, 9, 2), (3, 2, 2, 5), _STRIDED),
    ((1, 4, 4, 1), (4, 4, 1, 1), _WINDOW),
    ((3, 5, 5, 1), (1, 1, 1, 9), {"strides": [2, 2], "padding": [[0, 0], [0, 0]]}),
    ((4, 14, 14, 8), (3, 3, 8, 16), _WINDOW),
)


def _samples(kind: str) -> tuple[Sample, ...]:
    samples = []
    for image_shape, filter_shape, attrs in _CASES:
        image, filters = floats(*image_shape), floats(*filter_shape)
        specs = [TensorSpec(image_shape, "float32"), TensorSpec(filter_shape, "float32")]
        grad = floats(*_infer(specs, attrs)[0].static_shape, seed=3)
        samples.append(
            {
                "conv2d": Sample((image, filters), attrs),
                "input": Sample((filters, grad), {**attrs, "image_size": list(image_shape[1:3])}),
                "like": Sample((filters, grad, image), attrs, differentiable=(0, 1)),
                "filter": Sample((image, grad), {**attrs, "kernel_size": list(filter_shape[:2])}),
            }[kind]
        )
    return tuple(samples)


_CONV2D = register(
    OpDef(
        name="conv2d",
        infer=_infer,
        reference=_conv2d,
        gradient=_gradient,
        lower=lower_conv2d,
        epilogue=True,
        samples=_samples("conv2d"),
        invalid=(
            InvalidSample(
                (floats(1, 5, 5, 3), floats(3, 3, 1, 4)),
                _WINDOW,
                ShapeError,
                "(1, 5, 5, 3) has 3 channels, but the filters (3, 3, 1, 4) take 1",
            ),
            InvalidSample(
                (floats(1, 2, 5, 1), floats(3, 3, 1, 4)), _WINDOW, ShapeError, "of height 2"
            ),
            InvalidSample((floats(5, 5, 1), floats(3, 3, 1, 4)), _WINDOW, ShapeError, "(5, 5, 1)"),
            InvalidSample((floats(1, 5, 5, 1), floats(3, 3)), _WINDOW, ShapeError, "4 dimensions"),
            InvalidSample(
                (integers(1, 5, 5, 1), integers(3, 3, 1, 4)), _WINDOW, DTypeError, "not int32"
            ),
        ),
    )
)
_INPUT_GRADIENT = register(
    OpDef(
        name="conv2d_input_gradient",
        infer=_infer_input_gradient,
        reference=lambda inputs, attrs: [
            _input_gradient_of(inputs[0], inputs[1], attrs["image_size"], attrs)
        ],
        gradient=_input_gradient_gradient,
        lower=lower_conv2d_input_gradient,
        epilogue=True,
        samples=_samples("input"),
        invalid=(
            InvalidSample(
                (floats(3, 3, 1, 4), floats(1, 4, 4, 4)),
                {**_WINDOW, "image_size": [5, 5]},
                ShapeError,
                "the gradient has the shape (1, 4, 4, 4)",
            ),
        ),
    )
)
_INPUT_GRADIENT_LIKE = register(
    OpDef(
        name="conv2d_input_gradient_like",
        infer=_infer_input_gradient_like,
        reference=lambda inputs, attrs: [
            _input_gradient_of(inputs[0], inputs[1], inputs[2].shape[1:3], attrs)
        ],
        gradient=_input_gradient_gradient,
        specialise=_specialise_input_gradient,
        samples=_samples("like")[:1],
    )
)
_FILTER_GRADIENT = register(
    OpDef(
        name="conv2d_filter_gradient",
        infer=_infer_filter_gradient,
        reference=_filter_gradient_of,
        gradient=_filter_gradient_gradient,
        lower=lower_conv2d_filter_gradient,
        epilogue=True,
        samples=_samples("filter"),
        invalid=(
            InvalidSample(
                (floats(1, 5, 5, 1), floats(1, 4, 4, 4)),
                {**_WINDOW, "kernel_size": [3, 3]},
                ShapeError,
                "result is (1, 3, 3, 4)",
            ),
        ),
    )
)
