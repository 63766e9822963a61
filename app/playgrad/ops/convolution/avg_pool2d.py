"""Average pooling of images and its gradient: linear, and each the other's.

Images are (batch, height, width, channels).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.convolution.pooling import (
    BACK,
    BAD_GRAD,
    BAD_GRAD_WORDS,
    CASES,
    INVALID,
    Size,
    back,
    image_size,
    image_spec,
    offsets,
    out_size,
    pool,
    pooled_spec,
    specialise_back,
    window_attrs,
)
from playgrad.ops.convolution.window import Padding, crop, pad_image, padded_zeros, shifted
from playgrad.ops.core.build import add_node
from playgrad.ops.core.samples import floats
from playgrad.ops.lowering.pool2d import (
    lower_avg_pool2d,
    lower_avg_pool2d_gradient,
)


def avg_pool2d(
    x: Any,
    pool_size: Size = (2, 2),
    strides: Size | None = None,
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """The mean of each window, channel by channel; padding does not count."""
    return pool(_AVG, x, pool_size, strides, padding, name)


def _counts(size: Sequence[int], out: tuple[int, int], attrs: Attrs, kind: Any) -> Array:
    """For each window how many of its pixels lie in the image: (h, w, 1)."""
    inside = pad_image(np.ones((1, *size, 1), kind), attrs["padding"])
    parts = (shifted(inside, offset, out, attrs["strides"]) for offset in offsets(attrs))
    return np.asarray(sum(parts))[0]


def _avg_pool(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (image,) = inputs
    out = out_size(image, attrs)
    padded = pad_image(image, attrs["padding"])
    parts = (shifted(padded, offset, out, attrs["strides"]) for offset in offsets(attrs))
    return [sum(parts) / _counts(image.shape[1:3], out, attrs, image.dtype)]


def _avg_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    return [back("avg_pool2d_gradient", [grads[0]], node.inputs[0], node.attrs)]


def _infer_avg_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    grad, *like = inputs
    size = image_size(like, attrs)
    return [image_spec(grad, size, attrs, "avg_pool2d_gradient")]


def _spread_evenly(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    grad, *like = inputs
    size = image_size(like, attrs)
    out = (grad.shape[1], grad.shape[2])
    share = grad / _counts(size, out, attrs, grad.dtype)
    result = padded_zeros(len(grad), size, grad.shape[3], attrs, grad.dtype)
    for offset in offsets(attrs):
        pixels = shifted(result, offset, out, attrs["strides"])
        pixels += share
    return [crop(result, attrs["padding"], size)]


def _evenly_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    pooled = add_node(_AVG, [grads[0]], window_attrs(node.attrs)).output
    return [pooled] + [None] * (len(node.inputs) - 1)


def _samples(kind: str) -> tuple[Sample, ...]:
    samples = []
    for shape, attrs in CASES:
        image = floats(*shape)
        grad = floats(*_avg_pool([image], attrs)[0].shape, seed=4)
        samples.append(
            {
                "pool": Sample((image,), attrs),
                "gradient": Sample((grad,), {**attrs, "image_size": list(shape[1:3])}),
                "like": Sample((grad, image), attrs, differentiable=(0,)),
            }[kind]
        )
    return tuple(samples)


_AVG = register(
    OpDef(
        name="avg_pool2d",
        infer=lambda inputs, attrs: [pooled_spec(inputs[0], attrs, "avg_pool2d")],
        reference=_avg_pool,
        gradient=_avg_gradient,
        lower=lower_avg_pool2d,
        epilogue=True,
        samples=_samples("pool"),
        invalid=INVALID,
    )
)
_AVG_GRADIENT = register(
    OpDef(
        name="avg_pool2d_gradient",
        infer=_infer_avg_gradient,
        reference=_spread_evenly,
        gradient=_evenly_gradient,
        lower=lower_avg_pool2d_gradient,
        epilogue=True,
        samples=_samples("gradient"),
        invalid=(InvalidSample(BAD_GRAD[:1], BACK, ShapeError, BAD_GRAD_WORDS),),
    )
)
_AVG_GRADIENT_LIKE = register(
    OpDef(
        name="avg_pool2d_gradient_like",
        infer=_infer_avg_gradient,
        reference=_spread_evenly,
        gradient=_evenly_gradient,
        specialise=specialise_back("avg_pool2d_gradient", 1),
        samples=_samples("like")[:2],
    )
)
