"""Shared by the pooling of int8 images: node construction, shape rule, windows and samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.convolution.window import (
    Padding,
    output_sizes,
    pad_image,
    pair,
    resolve_padding,
    windows,
)
from playgrad.ops.core.build import add_node, as_tensor, expect_dtype
from playgrad.ops.core.samples import floats, int8s


def pool(
    op: OpDef,
    x: Any,
    window: int | Sequence[int],
    strides: int | Sequence[int] | None,
    padding: Padding,
    name: str | None,
    **others: Any,
) -> Tensor:
    """Add the pooling operation ``op``, with ``others`` of its attributes; return its output."""
    image, size = as_tensor(x), pair(window, "window")
    stride_pair = size if strides is None else pair(strides, "strides")
    sides = resolve_padding(padding, image.spec, size, stride_pair)
    attrs = {"window": size, "strides": stride_pair, "padding": sides, **others}
    return add_node(op, [image], attrs, name=name).output


def infer_pool(inputs: Sequence[TensorSpec], attrs: Attrs, what: str) -> list[TensorSpec]:
    """Return the spec of the result.

    Raises:
        ShapeError: not 4 dimensions, smaller than a window, or a window may hold padding only.
        DTypeError: the images are not int8. Messages call the operation ``what``.
    """
    (image,) = inputs
    height, width = output_sizes(image, attrs["window"], attrs, what)
    if 0 in image.shape[1:3]:
        raise ShapeError(f"{what}: the images of shape {shape_text(image.shape)} have no pixels.")
    if any(max(sides) >= n for sides, n in zip(attrs["padding"], attrs["window"], strict=True)):
        raise ShapeError(
            f"{what}: padding must be less than the window {list(attrs['window'])}, so that no "
            f"window holds padding only, got {attrs['padding']}."
        )
    expect_dtype(image, f"the images of {what}", "int8")
    return [TensorSpec((image.shape[0], height, width, image.shape[3]), "int8")]


def pooled_windows(image: Array, attrs: Attrs, value: int) -> Array:
    """Return a view (batch, out height, out width, channels, *window), padded with ``value``."""
    padded = pad_image(image, attrs["padding"], value)
    return windows(padded, attrs["window"], {"strides": attrs["strides"]})


def _attrs(window: list[int], strides: list[int], padding: list[list[int]]) -> dict[str, Any]:
    return {"window": window, "strides": strides, "padding": padding}


_NONE = [[0, 0], [0, 0]]
_HALVES = _attrs([2, 2], [2, 2], _NONE)
SAMPLES = (
    Sample((int8s(2, 6, 4, 3),), _HALVES),
    Sample((int8s(2, 6, 4, 8),), _HALVES),
    Sample((int8s(1, 7, 5, 2),), _attrs([3, 2], [2, 1], _NONE)),
    Sample((int8s(2, 5, 5, 4),), _attrs([3, 3], [2, 2], [[1, 1], [1, 1]])),
    Sample((int8s(1, 3, 4, 2),), _attrs([2, 3], [1, 2], [[0, 1], [1, 2]])),
    Sample((int8s(1, 4, 4, 1),), _attrs([4, 4], [4, 4], _NONE)),
    Sample((np.full((1, 4, 4, 5), -128, np.int8),), _attrs([3, 3], [1, 1], [[1, 1], [1, 1]])),
    Sample((int8s(0, 4, 4, 3),), _HALVES),
)
INVALID = (
    InvalidSample((int8s(1, 1, 4, 1),), _HALVES, ShapeError, "less than the window's 2"),
    InvalidSample((int8s(4, 4, 1),), _HALVES, ShapeError, "not (4, 4, 1)"),
    InvalidSample(
        (int8s(1, 4, 4, 1),),
        _attrs([2, 2], [2, 2], [[2, 2], [0, 0]]),
        ShapeError,
        "no window holds padding only",
    ),
    InvalidSample((floats(1, 4, 4, 1),), _HALVES, DTypeError, "not float32"),
)
