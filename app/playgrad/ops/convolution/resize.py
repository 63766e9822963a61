"""``resize`` of images, and its gradient, which are each other's gradients.

Pixels are areas: the centre of output pixel i lies at (i + 1/2) * in / out of the input. Along an
axis its position, counted from the centre of the first input pixel, is therefore
((2 i + 1) * in - out) / (2 * out), which is computed in integers, so that hosts agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.convolution.window import image_size_of_last, pair
from playgrad.ops.core.build import add_node, as_tensor, expect_floating, expect_rank, is_static
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.resize import lower_resize, lower_resize_gradient

METHODS = ("nearest", "bilinear")


def resize(
    x: Any,
    size: int | Sequence[int],
    interpolation: str = "bilinear",
    name: str | None = None,
) -> Tensor:
    """Return images of another size.

    Smaller images are sampled, not averaged.

    Args:
        x: images of shape (batch, height, width, channels), float32 or float64.
        size: the height and width of the result: one number for both, or two.
        interpolation: "bilinear" between the four nearest pixels, or "nearest" for the pixel that
            the centre of the output pixel lies in.

    Returns:
        A tensor of shape (batch, size[0], size[1], channels) and the dtype of ``x``.

    Raises:
        ShapeError: ``x`` does not have 4 dimensions or no pixels, or another argument is not valid.
        DTypeError: ``x`` is not floating.
    """
    image = as_tensor(x)
    attrs = {"size": pair(size, "size"), "interpolation": _method(interpolation)}
    return add_node(_RESIZE, [image], attrs, name=name).output


def upsample(
    x: Any, factors: int | Sequence[int], interpolation: str = "nearest", name: str | None = None
) -> Tensor:
    """Return images that are larger by whole ``factors``, also if their size is not known yet.

    Args:
        x: images of shape (batch, height, width, channels), float32 or float64.
        factors: one number, or (vertical, horizontal).
        interpolation: as in ``resize``.

    Raises:
        ShapeError, DTypeError: as in ``resize``.
    """
    attrs = {"factors": pair(factors, "factors"), "interpolation": _method(interpolation)}
    return add_node(_UPSAMPLE, [as_tensor(x)], attrs, name=name).output


def _method(interpolation: str) -> str:
    if interpolation not in METHODS:
        raise ShapeError(f'interpolation must be "nearest" or "bilinear", not {interpolation!r}.')
    return interpolation


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    (image,) = inputs
    expect_rank(image, 4, "the image of resize, (batch, height, width, channels),")
    expect_floating(image, "the image of resize")
    if 0 in image.shape[1:3]:
        raise ShapeError(f"resize: the images of shape {shape_text(image.shape)} have no pixels.")
    return [TensorSpec((image.shape[0], *attrs["size"], image.shape[3]), image.dtype)]


def _sources(before: int, after: int, attrs: Attrs) -> tuple[Array, Array, Array]:
    """Return, for each output pixel along an axis, two input pixels and the weight of the second.

    Args:
        before, after: the size of the axis before and after resizing.
    """
    centres = (2 * np.arange(after) + 1) * before
    if attrs["interpolation"] == "nearest":
        first = centres // (2 * after)
        return first, first, np.zeros(after)
    places = np.clip(centres - after, 0, 2 * after * (before - 1))
    first = places // (2 * after)
    return first, np.minimum(first + 1, before - 1), places % (2 * after) / (2 * after)


def _resize(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (image,) = inputs
    for axis, after in enumerate(attrs["size"], start=1):
        first, second, weight = _sources(image.shape[axis], after, attrs)
        near = image.take(first, axis)
        if weight.any():
            weight = weight.astype(image.dtype).reshape(-1, *[1] * (3 - axis))
            far = image.take(second, axis)
            # A pixel without weight may be infinite.
            near = near * (1 - weight) + np.multiply(
                far, weight, out=np.zeros_like(far), where=weight > 0
            )
        image = near
    return [image]


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    image = node.inputs[0]
    attrs: dict[str, Any] = {"interpolation": node.attrs["interpolation"]}
    if is_static(image.shape[1:3]):
        attrs["image_size"] = list(image.shape[1:3])
        return [add_node(_RESIZE_GRADIENT, [grads[0]], attrs).output]
    return [add_node(_RESIZE_GRADIENT_LIKE, [grads[0], image], attrs).output]


# resize_gradient: each pixel sums the gradients of the pixels that were made of it


def _infer_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    (grad,) = inputs
    expect_rank(grad, 4, "the gradient passed to resize_gradient")
    expect_floating(grad, "the gradient passed to resize_gradient")
    if 0 in attrs["image_size"]:
        raise ShapeError(f"resize: images of size {tuple(attrs['image_size'])} have no pixels.")
    return [TensorSpec((grad.shape[0], *attrs["image_size"], grad.shape[3]), grad.dtype)]


def _resize_gradient(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (grad,) = inputs
    for axis, before in enumerate(attrs["image_size"], start=1):
        first, second, weight = _sources(before, grad.shape[axis], attrs)
        rows = np.moveaxis(grad, axis, 0)
        result = np.zeros((before, *rows.shape[1:]), grad.dtype)
        weight = weight.astype(grad.dtype).reshape(-1, 1, 1, 1)
        np.add.at(result, first, rows * (1 - weight))
        if weight.any():
            np.add.at(result, second, rows * weight)
        grad = np.moveaxis(result, 0, axis)
    return [np.ascontiguousarray(grad)]


def _gradient_of_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    grad = node.inputs[0]
    attrs: dict[str, Any] = {"interpolation": node.attrs["interpolation"]}
    if is_static(grad.shape[1:3]):
        attrs["size"] = list(grad.shape[1:3])
        return [add_node(_RESIZE, [grads[0]], attrs).output]
    return [add_node(_RESIZE_LIKE, [grads[0], grad], attrs).output]


def _size_of_last(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    return {"interpolation": attrs["interpolation"], "size": list(inputs[-1].shape[1:3])}


def _scaled(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    sizes = zip(inputs[0].shape[1:3], attrs["factors"], strict=False)
    return {
        "interpolation": attrs["interpolation"],
        "size": [None if dim is None else dim * factor for dim, factor in sizes],
    }


_CASES = (  # shape of the image, size of the result
    ((2, 3, 4, 2), (6, 8)),
    ((1, 5, 3, 3), (7, 2)),
    ((2, 1, 4, 1), (3, 1)),
    ((1, 6, 7, 2), (3, 9)),
)
_SAMPLES = [
    (floats(*shape), floats(shape[0], *size, shape[3], seed=2), method)
    for shape, size in _CASES
    for method in METHODS
]
_RESIZE = register(
    OpDef(
        name="resize",
        infer=_infer,
        reference=_resize,
        gradient=_gradient,
        lower=lower_resize,
        epilogue=True,
        samples=tuple(
            Sample((image,), {"size": list(grad.shape[1:3]), "interpolation": method})
            for image, grad, method in _SAMPLES
        ),
        invalid=(
            InvalidSample(
                (floats(4, 4, 1),),
                {"size": [2, 2], "interpolation": "nearest"},
                ShapeError,
                "(4, 4, 1)",
            ),
            InvalidSample(
                (floats(1, 0, 4, 1),),
                {"size": [2, 2], "interpolation": "nearest"},
                ShapeError,
                "have no pixels",
            ),
            InvalidSample(
                (integers(1, 4, 4, 1),),
                {"size": [2, 2], "interpolation": "nearest"},
                DTypeError,
                "not int32",
            ),
        ),
    )
)
_RESIZE_LIKE = register_like(
    "resize_like",
    _RESIZE,
    1,
    _size_of_last,
    samples=[
        Sample((image, grad), {"interpolation": method}) for image, grad, method in _SAMPLES[:2]
    ],
)
_UPSAMPLE = register_like(
    "upsample",
    _RESIZE,
    1,
    _scaled,
    samples=[
        Sample((image,), {"factors": [2, 3], "interpolation": method})
        for image, _, method in _SAMPLES[:2]
    ],
)
_RESIZE_GRADIENT = register(
    OpDef(
        name="resize_gradient",
        infer=_infer_gradient,
        reference=_resize_gradient,
        gradient=_gradient_of_gradient,
        lower=lower_resize_gradient,
        epilogue=True,
        samples=tuple(
            Sample((grad,), {"image_size": list(image.shape[1:3]), "interpolation": method})
            for image, grad, method in _SAMPLES
        ),
        invalid=(
            InvalidSample(
                (floats(4, 4, 1),),
                {"image_size": [2, 2], "interpolation": "nearest"},
                ShapeError,
                "(4, 4, 1)",
            ),
        ),
    )
)
_RESIZE_GRADIENT_LIKE = register_like(
    "resize_gradient_like",
    _RESIZE_GRADIENT,
    1,
    image_size_of_last,
    samples=[
        Sample((grad, image), {"interpolation": method}) for image, grad, method in _SAMPLES[:2]
    ],
)
