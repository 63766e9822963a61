"""``quantized_avg_pool2d``: the mean of each window of int8 images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.graph.opdef import Array, Attrs, OpDef, register
from playgrad.graph.tensor import Tensor
from playgrad.ops.convolution.window import Padding
from playgrad.ops.lowering.quantized import lower_quantized_avg_pool2d
from playgrad.ops.quantized.pooling import INVALID, SAMPLES, infer_pool, pool, pooled_windows


def quantized_avg_pool2d(
    x: Any,
    window: int | Sequence[int] = 2,
    strides: int | Sequence[int] | None = None,
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """Return the mean of each window of int8 images, over its pixels inside the image.

    Means are rounded to the nearest whole number, halves up.

    Args:
        x: images of shape (batch, height, width, channels); int8.
        window: height and width in pixels.
        strides: distance between windows in pixels; None for the size of the window.
        padding: as in `avg_pool2d`.

    Returns:
        An int8 tensor of shape (batch, out height, out width, channels), in the scale of ``x``. It
        has no gradient.

    Raises:
        DTypeError: ``x`` is not int8.
        ShapeError: as in `avg_pool2d`.
    """
    return pool(_AVERAGE, x, window, strides, padding, name)


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (image,) = inputs
    sums = pooled_windows(image, attrs, 0).sum(axis=(4, 5), dtype=np.int64)
    inside = np.ones((1, *image.shape[1:3], 1), np.int8)
    counts = pooled_windows(inside, attrs, 0).sum(axis=(4, 5), dtype=np.int64)
    return [((2 * sums + counts) // (2 * counts)).astype(np.int8)]


_AVERAGE = register(
    OpDef(
        name="quantized_avg_pool2d",
        infer=lambda inputs, attrs: infer_pool(inputs, attrs, "quantized_avg_pool2d"),
        reference=_reference,
        packed=True,
        lower=lower_quantized_avg_pool2d,
        samples=SAMPLES,
        invalid=INVALID,
    )
)
