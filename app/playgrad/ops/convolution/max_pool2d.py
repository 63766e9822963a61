"""Maximum pooling of images, its gradient, and the gradient of that.

The second output of ``max_pool2d`` is the position of each maximum, ``row * width + column`` in its
channel of the image. The gradient reads it to find the pixel that it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.convolution.pooling import (
    BAD_GRAD,
    BAD_GRAD_ATTRS,
    BAD_GRAD_WORDS,
    CASES,
    HALVES,
    INVALID,
    Size,
    image_spec,
    offsets,
    out_size,
    pool,
    pooled_spec,
)
from playgrad.ops.convolution.simd_pooling import (
    Compute,
    pool_form,
    prepare_max_pool,
    prepare_max_pool_gradient,
)
from playgrad.ops.convolution.window import (
    Padding,
    add_image_gradient,
    crop,
    image_size_of_last,
    pad_image,
    padded_zeros,
    shifted,
    window_attrs,
)
from playgrad.ops.core.build import add_node, expect_dtype
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import distinct, floats, integers
from playgrad.ops.expression.functions import select
from playgrad.ops.lowering.pool2d import (
    lower_max_pool2d,
    lower_max_pool2d_gradient,
    lower_max_pool2d_take,
)


def max_pool2d(
    x: Any,
    pool_size: Size = (2, 2),
    strides: Size | None = None,
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """Return the largest pixel of each window of an image, channel by channel.

    Padding is never the largest, and a window that holds NaN gives NaN. The gradient goes to the
    first of equal pixels, row by row.

    Args:
        x: images of shape (batch, height, width, channels), float32 or float64.
        pool_size: height and width of a window: one number for both, or two.
        strides: distance between windows; None means ``pool_size``.
        padding: as in ``conv2d``.

    Returns:
        A tensor of shape (batch, out height, out width, channels) and the dtype of ``x``.

    Raises:
        ShapeError: ``x`` does not have 4 dimensions or is smaller than a window, an argument is not
            valid, or ``padding`` is not less than ``pool_size``.
        DTypeError: ``x`` is not floating.
    """
    return pool(_MAX, x, pool_size, strides, padding, name)


def _positions(
    offset: tuple[int, int], out: tuple[int, int], size: Sequence[int], attrs: Attrs
) -> Array:
    """Return the position in the image of the pixel at ``offset`` in each window: (h, w, 1).

    A pixel in the padding has the position of the nearest pixel in the image.
    """
    rows, columns = (
        np.clip(np.arange(count) * stride + first - sides[0], 0, limit - 1)
        for count, stride, first, sides, limit in zip(
            out, attrs["strides"], offset, attrs["padding"], size, strict=True
        )
    )
    return (rows[:, None] * size[1] + columns)[..., None].astype(np.int32)


# max_pool2d


def _infer_max(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    pooled = pooled_spec(inputs[0], attrs, "max_pool2d")
    return [pooled, TensorSpec(pooled.shape, "int32")]


def _max_pool(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (image,) = inputs
    padded = pad_image(image, attrs["padding"], -np.inf)
    out = out_size(image, attrs)
    pixels = [shifted(padded, offset, out, attrs["strides"]) for offset in offsets(attrs)]
    best = reduce(np.maximum, pixels)
    position = np.zeros(best.shape, np.int32)
    missing = np.ones(best.shape, bool)
    for offset, pixel in zip(offsets(attrs), pixels, strict=True):
        is_best = missing & ((pixel == best) | np.isnan(pixel))
        position += is_best * _positions(offset, out, image.shape[1:3], attrs)
        missing &= ~is_best
    return [best, position]


def _prepare_max(inputs: Sequence[TensorSpec], attrs: Attrs) -> Compute:
    (image,) = inputs
    out = _infer_max(inputs, attrs)[0].static_shape[1:3]
    simd = prepare_max_pool(pool_form(image.static_shape, out, attrs), image.dtype, attrs)
    return simd or (lambda arrays: _max_pool(arrays, attrs))


def _max_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    inputs = [grads[0], node.outputs[1]]
    return [add_image_gradient("max_pool2d_gradient", inputs, node.inputs[0], node.attrs)]


# max_pool2d_gradient: each gradient goes to the pixel that was the maximum


def _expect_positions(grad: TensorSpec, positions: TensorSpec, what: str) -> None:
    expect_dtype(positions, f"the positions passed to {what}", "int32")
    agree = grad.rank == positions.rank and all(
        None in (m, n) or m == n for m, n in zip(grad.shape, positions.shape, strict=True)
    )
    if not agree:
        raise ShapeError(
            f"{what}: the gradient {shape_text(grad.shape)} and the positions "
            f"{shape_text(positions.shape)} differ in shape."
        )


def _infer_scatter(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    grad, positions = inputs
    _expect_positions(grad, positions, "max_pool2d_gradient")
    return [image_spec(grad, attrs, "max_pool2d_gradient")]


def _scatter(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    grad, positions = inputs
    size, out = attrs["image_size"], (grad.shape[1], grad.shape[2])
    result = padded_zeros(len(grad), size, grad.shape[3], attrs, grad.dtype)
    for offset in offsets(attrs):
        # In the padding, positions are clamped to the nearest pixel; their results are cropped.
        chosen = positions == _positions(offset, out, size, attrs)
        pixels = shifted(result, offset, out, attrs["strides"])
        pixels += select(chosen, grad, grad.dtype.type(0))
    return [crop(result, attrs["padding"], size)]


def _prepare_scatter(inputs: Sequence[TensorSpec], attrs: Attrs) -> Compute:
    grad = inputs[0]
    image = _infer_scatter(inputs, attrs)[0].static_shape
    form = pool_form(image, grad.static_shape[1:3], attrs)
    simd = prepare_max_pool_gradient(form, grad.dtype, attrs)
    return simd or (lambda arrays: _scatter(arrays, attrs))


def _scatter_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    attrs = window_attrs(node.attrs)
    return [add_node(_TAKE, [grads[0], node.inputs[1]], attrs).output, None]


# max_pool2d_take: the pixels of an image at the positions of another image's maxima


def _infer_take(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    image, positions = inputs
    pooled = pooled_spec(image, attrs, "max_pool2d_take")
    _expect_positions(pooled, positions, "max_pool2d_take")
    return [pooled]


def _take(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    image, positions = inputs
    batch, height, width, channels = image.shape
    flat = positions.reshape(batch, prod(positions.shape[1:3]), channels)
    taken = np.take_along_axis(image.reshape(batch, height * width, channels), flat, axis=1)
    return [taken.reshape(positions.shape)]


def _take_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    image, positions = node.inputs
    inputs = [grads[0], positions]
    return [add_image_gradient("max_pool2d_gradient", inputs, image, node.attrs), None]


def _grad_samples() -> list[tuple[Array, Array, Array, Attrs]]:
    """Return an image, the positions of its maxima, a gradient and the attributes, by case."""
    samples: list[tuple[Array, Array, Array, Attrs]] = []
    for shape, attrs in CASES:
        image = distinct(*shape)
        pooled, positions = _max_pool([image], attrs)
        samples.append((image, positions, floats(*pooled.shape, seed=4), attrs))
    return samples


_SAMPLES = _grad_samples()
_MAX = register(
    OpDef(
        name="max_pool2d",
        infer=_infer_max,
        reference=_max_pool,
        prepare=_prepare_max,
        gradient=_max_gradient,
        lower=lower_max_pool2d,
        samples=tuple(Sample((image,), attrs) for image, _, _, attrs in _SAMPLES),
        invalid=INVALID,
    )
)
_MAX_GRADIENT = register(
    OpDef(
        name="max_pool2d_gradient",
        infer=_infer_scatter,
        reference=_scatter,
        prepare=_prepare_scatter,
        gradient=_scatter_gradient,
        lower=lower_max_pool2d_gradient,
        epilogue=True,
        samples=tuple(
            Sample((grad, positions), {**attrs, "image_size": list(image.shape[1:3])}, (0,))
            for image, positions, grad, attrs in _SAMPLES
        ),
        invalid=(
            InvalidSample(BAD_GRAD, BAD_GRAD_ATTRS, ShapeError, BAD_GRAD_WORDS),
            InvalidSample(
                (floats(1, 2, 2, 1), integers(1, 2, 1, 1)),
                BAD_GRAD_ATTRS,
                ShapeError,
                "differ in shape",
            ),
        ),
    )
)
_MAX_GRADIENT_LIKE = register_like(
    "max_pool2d_gradient_like",
    _MAX_GRADIENT,
    2,
    image_size_of_last,
    samples=[
        Sample((grad, positions, image), attrs) for image, positions, grad, attrs in _SAMPLES[:2]
    ],
)
_TAKE = register(
    OpDef(
        name="max_pool2d_take",
        infer=_infer_take,
        reference=_take,
        gradient=_take_gradient,
        lower=lower_max_pool2d_take,
        epilogue=True,
        samples=tuple(
            Sample((image, positions), attrs, (0,)) for image, positions, _, attrs in _SAMPLES
        ),
        invalid=(
            InvalidSample(
                (floats(1, 4, 4, 1), integers(1, 3, 3, 1)), HALVES, ShapeError, "differ in shape"
            ),
        ),
    )
)
