"""Maximum pooling of images, its gradient, and that one's.

Images are (batch, height, width, channels). A maximum keeps the position it came from, a flat
number ``row * width + column`` in its channel of the image, so that the gradient knows where to go.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.convolution.pooling import (
    BACK,
    BAD_GRAD,
    BAD_GRAD_WORDS,
    CASES,
    INVALID,
    NO_PADDING,
    Size,
    back,
    image_size,
    image_spec,
    make_attrs,
    offsets,
    out_size,
    pool,
    pooled_spec,
    specialise_back,
    window_attrs,
)
from playgrad.ops.convolution.window import Padding, crop, pad_image, padded_zeros, shifted
from playgrad.ops.core.build import add_node, expect_dtype
from playgrad.ops.core.samples import distinct, floats, integers
from playgrad.ops.expression.functions import select
from playgrad.ops.lowering.pool2d import (
    lower_max_pool2d,
    lower_max_pool2d_gradient,
)
from playgrad.ops.lowering.take import lower_max_pool2d_take


def max_pool2d(
    x: Any,
    pool_size: Size = (2, 2),
    strides: Size | None = None,
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """The largest pixel of each window, channel by channel; of equal ones the first.

    Args:
        x: (batch, height, width, channels).
        strides: distance between windows; None: ``pool_size``.
    """
    return pool(_MAX, x, pool_size, strides, padding, name)


def _positions(
    offset: tuple[int, int], out: tuple[int, int], size: Sequence[int], attrs: Attrs
) -> Array:
    """For each window the flat position in the image of its pixel at ``offset``: (h, w, 1).

    Of a pixel in the padding it is that of the nearest in the image.
    """
    rows, columns = (
        np.clip(np.arange(count) * stride + first - sides[0], 0, limit - 1)
        for count, stride, first, sides, limit in zip(
            out, attrs["strides"], offset, attrs["padding"], size, strict=True
        )
    )
    return (rows[:, None] * size[1] + columns)[..., None].astype(np.int32)


# The maximum


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
    for offset, own in zip(offsets(attrs), pixels, strict=True):
        found = missing & ((own == best) | np.isnan(own))
        position += found * _positions(offset, out, image.shape[1:3], attrs)
        missing &= ~found
    return [best, position]


def _max_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    position = node.outputs[1]
    return [back("max_pool2d_gradient", [grads[0], position], node.inputs[0], node.attrs)]


def _expect_positions(grad: TensorSpec, positions: TensorSpec, what: str) -> None:
    expect_dtype(positions, f"the positions given to {what}", "int32")
    agree = grad.rank == positions.rank and all(
        None in (m, n) or m == n for m, n in zip(grad.shape, positions.shape, strict=True)
    )
    if not agree:
        raise ShapeError(
            f"{what}: the gradient {shape_text(grad.shape)} and the positions "
            f"{shape_text(positions.shape)} differ in shape."
        )


def _infer_max_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    grad, positions, *like = inputs
    size = image_size(like, attrs)
    _expect_positions(grad, positions, "max_pool2d_gradient")
    return [image_spec(grad, size, attrs, "max_pool2d_gradient")]


def _spread_to_maxima(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    grad, positions, *like = inputs
    size = image_size(like, attrs)
    out = (grad.shape[1], grad.shape[2])
    result = padded_zeros(len(grad), size, grad.shape[3], attrs, grad.dtype)
    for offset in offsets(attrs):
        # In the padding positions are of the nearest pixel, but what lands there is cropped.
        chosen = positions == _positions(offset, out, size, attrs)
        pixels = shifted(result, offset, out, attrs["strides"])
        pixels += select(chosen, grad, grad.dtype.type(0))
    return [crop(result, attrs["padding"], size)]


def _spread_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    taken = add_node(_TAKE, [grads[0], node.inputs[1]], window_attrs(node.attrs)).output
    return [taken] + [None] * (len(node.inputs) - 1)


# max_pool2d_take: the pixels of another image where the maxima were; the gradient of the gradient


def _infer_take(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    image, positions = inputs
    pooled = pooled_spec(image, attrs, "max_pool2d_take")
    _expect_positions(pooled, positions, "max_pool2d_take")
    return [pooled]


def _take(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    image, positions = inputs
    batch, height, width, channels = image.shape
    flat = positions.reshape(batch, -1, channels)
    taken = np.take_along_axis(image.reshape(batch, height * width, channels), flat, axis=1)
    return [taken.reshape(positions.shape)]


def _take_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    image, positions = node.inputs
    return [back("max_pool2d_gradient", [grads[0], positions], image, node.attrs), None]


def _samples(kind: str) -> tuple[Sample, ...]:
    samples = []
    for shape, attrs in CASES:
        image = distinct(*shape)
        pooled, positions = _max_pool([image], attrs)
        grad = floats(*pooled.shape, seed=4)
        back = {**attrs, "image_size": list(shape[1:3])}
        samples.append(
            {
                "pool": Sample((image,), attrs),
                "gradient": Sample((grad, positions), back, differentiable=(0,)),
                "like": Sample((grad, positions, image), attrs, differentiable=(0,)),
                "take": Sample((image, positions), attrs, differentiable=(0,)),
            }[kind]
        )
    return tuple(samples)


_MAX = register(
    OpDef(
        name="max_pool2d",
        infer=_infer_max,
        reference=_max_pool,
        gradient=_max_gradient,
        lower=lower_max_pool2d,
        samples=_samples("pool"),
        invalid=INVALID,
    )
)
_MAX_GRADIENT = register(
    OpDef(
        name="max_pool2d_gradient",
        infer=_infer_max_gradient,
        reference=_spread_to_maxima,
        gradient=_spread_gradient,
        lower=lower_max_pool2d_gradient,
        epilogue=True,
        samples=_samples("gradient"),
        invalid=(
            InvalidSample(BAD_GRAD, BACK, ShapeError, BAD_GRAD_WORDS),
            InvalidSample(
                (floats(1, 2, 2, 1), integers(1, 2, 1, 1)), BACK, ShapeError, "differ in shape"
            ),
        ),
    )
)
_MAX_GRADIENT_LIKE = register(
    OpDef(
        name="max_pool2d_gradient_like",
        infer=_infer_max_gradient,
        reference=_spread_to_maxima,
        gradient=_spread_gradient,
        specialise=specialise_back("max_pool2d_gradient", 2),
        samples=_samples("like")[:2],
    )
)
_TAKE = register(
    OpDef(
        name="max_pool2d_take",
        infer=_infer_take,
        reference=_take,
        gradient=_take_gradient,
        lower=lower_max_pool2d_take,
        epilogue=True,
        samples=_samples("take"),
        invalid=(
            InvalidSample(
                (floats(1, 4, 4, 1), integers(1, 3, 3, 1)),
                make_attrs([2, 2], [2, 2], NO_PADDING),
                ShapeError,
                "differ in shape",
            ),
        ),
    )
)
