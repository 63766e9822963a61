"""Average pooling of images and its gradient, which are each other's gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.convolution.pooling import (
    BAD_GRAD,
    BAD_GRAD_ATTRS,
    BAD_GRAD_WORDS,
    CASES,
    INVALID,
    Size,
    image_spec,
    offsets,
    out_size,
    pool,
    pooled_spec,
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
from playgrad.ops.core.build import add_node
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats
from playgrad.ops.lowering.pool2d import lower_avg_pool2d, lower_avg_pool2d_gradient


def avg_pool2d(
    x: Any,
    pool_size: Size = (2, 2),
    strides: Size | None = None,
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """Return the mean of each window of an image, channel by channel.

    Padding does not count: the mean is over the pixels of the window that lie in the image.

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
    return pool(_AVG, x, pool_size, strides, padding, name)


def _counts(size: Sequence[int], out: tuple[int, int], attrs: Attrs, kind: Any) -> Array:
    """Return the number of pixels of each window that lie in the image: (height, width, 1)."""
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
    image = node.inputs[0]
    return [add_image_gradient("avg_pool2d_gradient", [grads[0]], image, node.attrs)]


# avg_pool2d_gradient: each pixel of a window gets an equal share of the gradient


def _infer_shares(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    return [image_spec(inputs[0], attrs, "avg_pool2d_gradient")]


def _shares(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (grad,) = inputs
    size, out = attrs["image_size"], (grad.shape[1], grad.shape[2])
    share = grad / _counts(size, out, attrs, grad.dtype)
    result = padded_zeros(len(grad), size, grad.shape[3], attrs, grad.dtype)
    for offset in offsets(attrs):
        pixels = shifted(result, offset, out, attrs["strides"])
        pixels += share
    return [crop(result, attrs["padding"], size)]


def _shares_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    return [add_node(_AVG, [grads[0]], window_attrs(node.attrs)).output]


def _grad_samples() -> list[tuple[Array, Array, Attrs]]:
    """Return an image, a gradient of its pooled version and the attributes, by case."""
    images = [(floats(*shape), attrs) for shape, attrs in CASES]
    return [
        (image, floats(*_avg_pool([image], attrs)[0].shape, seed=4), attrs)
        for image, attrs in images
    ]


_SAMPLES = _grad_samples()
_AVG = register(
    OpDef(
        name="avg_pool2d",
        infer=lambda inputs, attrs: [pooled_spec(inputs[0], attrs, "avg_pool2d")],
        reference=_avg_pool,
        gradient=_avg_gradient,
        lower=lower_avg_pool2d,
        epilogue=True,
        samples=tuple(Sample((image,), attrs) for image, _, attrs in _SAMPLES),
        invalid=INVALID,
    )
)
_AVG_GRADIENT = register(
    OpDef(
        name="avg_pool2d_gradient",
        infer=_infer_shares,
        reference=_shares,
        gradient=_shares_gradient,
        lower=lower_avg_pool2d_gradient,
        epilogue=True,
        samples=tuple(
            Sample((grad,), {**attrs, "image_size": list(image.shape[1:3])})
            for image, grad, attrs in _SAMPLES
        ),
        invalid=(InvalidSample(BAD_GRAD[:1], BAD_GRAD_ATTRS, ShapeError, BAD_GRAD_WORDS),),
    )
)
_AVG_GRADIENT_LIKE = register_like(
    "avg_pool2d_gradient_like",
    _AVG_GRADIENT,
    1,
    image_size_of_last,
    samples=[Sample((grad, image), attrs) for image, grad, attrs in _SAMPLES[:2]],
)
