"""Shared by maximum and average pooling: node construction, shape rules and samples.

Images have the shape (batch, height, width, channels). The attribute ``pool_size`` is the
[height, width] of a window; ``strides`` and ``padding`` are as in ``window.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.convolution.window import (
    Padding,
    expect_gradient,
    output_sizes,
    pair,
    resolve_padding,
)
from playgrad.ops.core.build import add_node, as_tensor, expect_floating, expect_rank
from playgrad.ops.core.samples import floats, integers

Size = int | Sequence[int]
"""One number of pixels, or (vertical, horizontal)."""


def pool(
    op: OpDef, x: Any, pool_size: Size, strides: Size | None, padding: Padding, name: str | None
) -> Tensor:
    """Add the pooling operation ``op`` and return its first output."""
    image = as_tensor(x)
    expect_rank(image.spec, 4, f"the image of {op.name}, (batch, height, width, channels),")
    size = pair(pool_size, "pool_size")
    stride_pair = size if strides is None else pair(strides, "strides")
    attrs = {
        "pool_size": size,
        "strides": stride_pair,
        "padding": resolve_padding(padding, image.spec, size, stride_pair),
    }
    return add_node(op, [image], attrs, name=name).outputs[0]


def pooled_spec(image: TensorSpec, attrs: Attrs, what: str) -> TensorSpec:
    """Return the spec of the result of pooling ``image``.

    Raises:
        ShapeError: not 4 dimensions, smaller than a window, or a window may hold padding only.
        DTypeError: the image is not floating. Messages call the operation ``what``.
    """
    size = attrs["pool_size"]
    height, width = output_sizes(image, size, attrs, what)
    if 0 in image.shape[1:3]:
        raise ShapeError(f"{what}: the images of shape {shape_text(image.shape)} have no pixels.")
    if any(max(sides) >= n for sides, n in zip(attrs["padding"], size, strict=True)):
        raise ShapeError(
            f"{what}: padding must be less than pool_size {list(size)}, so that no window holds "
            f"padding only, got {attrs['padding']}."
        )
    expect_floating(image, f"the image of {what}")
    return TensorSpec((image.shape[0], height, width, image.shape[3]), image.dtype)


def image_spec(grad: TensorSpec, attrs: Attrs, what: str) -> TensorSpec:
    """Return the spec of the image of size ``attrs["image_size"]`` whose pooled version has the
    gradient ``grad``."""
    expect_rank(grad, 4, f"the gradient passed to {what}")
    image = TensorSpec((grad.shape[0], *attrs["image_size"], grad.shape[3]), grad.dtype)
    expect_gradient(grad, pooled_spec(image, attrs, what), what, "the pooled image")
    return image


def offsets(attrs: Attrs) -> Iterator[tuple[int, int]]:
    """Yield the positions (y, x) in a window, row by row."""
    height, width = attrs["pool_size"]
    return ((y, x) for y in range(height) for x in range(width))


def out_size(image: Array, attrs: Attrs) -> tuple[int, int]:
    """Return the height and width of the pooled image."""
    spec = TensorSpec(image.shape, image.dtype.name)
    height, width = output_sizes(spec, attrs["pool_size"], attrs, "pooling")
    assert height is not None and width is not None
    return height, width


# Samples


def make_attrs(size: list[int], strides: list[int], padding: list[list[int]]) -> dict[str, Any]:
    """Return the attributes of a sample."""
    return {"pool_size": size, "strides": strides, "padding": padding}


NO_PADDING = [[0, 0], [0, 0]]
CASES = (  # shape of the image, attributes
    ((2, 6, 4, 3), make_attrs([2, 2], [2, 2], NO_PADDING)),
    ((1, 7, 5, 2), make_attrs([3, 2], [2, 1], NO_PADDING)),
    ((2, 5, 5, 1), make_attrs([3, 3], [2, 2], [[1, 1], [1, 1]])),
    ((1, 3, 4, 2), make_attrs([2, 3], [1, 2], [[0, 1], [1, 2]])),
    ((1, 4, 4, 1), make_attrs([4, 4], [4, 4], NO_PADDING)),
    ((3, 13, 13, 8), make_attrs([2, 2], [2, 2], NO_PADDING)),
)

HALVES = make_attrs([2, 2], [2, 2], NO_PADDING)
INVALID = (
    InvalidSample((floats(1, 1, 4, 1),), HALVES, ShapeError, "less than the window's 2"),
    InvalidSample((floats(4, 4, 1),), HALVES, ShapeError, "not (4, 4, 1)"),
    InvalidSample(
        (floats(1, 4, 4, 1),),
        make_attrs([2, 2], [2, 2], [[2, 2], [0, 0]]),
        ShapeError,
        "no window holds padding only",
    ),
    InvalidSample((integers(1, 4, 4, 1),), HALVES, DTypeError, "not int32"),
)
BAD_GRAD = (floats(1, 3, 3, 1), integers(1, 3, 3, 1))
BAD_GRAD_ATTRS = {**HALVES, "image_size": [4, 4]}
BAD_GRAD_WORDS = "has the shape (1, 3, 3, 1), but the pooled image has the shape (1, 2, 2, 1)"
