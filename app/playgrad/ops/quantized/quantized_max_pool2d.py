"""``quantized_max_pool2d``: the largest number of each window of int8 images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.graph.opdef import Array, Attrs, OpDef, register
from playgrad.graph.tensor import Tensor
from playgrad.ops.convolution.window import Padding
from playgrad.ops.lowering.quantized import lower_quantized_max_pool2d
from playgrad.ops.quantized.pooling import INVALID, SAMPLES, infer_pool, pool, pooled_windows
from playgrad.ops.quantized.requantize import LEAST


def quantized_max_pool2d(
    x: Any,
    window: int | Sequence[int] = 2,
    strides: int | Sequence[int] | None = None,
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """Return the largest number of each window of int8 images. Padding is never the largest.

    Args:
        x: images of shape (batch, height, width, channels); int8.
        window: height and width in pixels.
        strides: distance between windows in pixels; None for the size of the window.
        padding: as in `max_pool2d`.

    Returns:
        An int8 tensor of shape (batch, out height, out width, channels), in the scale of ``x``. It
        has no gradient.

    Raises:
        DTypeError: ``x`` is not int8.
        ShapeError: as in `max_pool2d`.
    """
    return pool(_MAX, x, window, strides, padding, name)


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    result: Array = pooled_windows(inputs[0], attrs, LEAST).max(axis=(4, 5))
    return [result]


_MAX = register(
    OpDef(
        name="quantized_max_pool2d",
        infer=lambda inputs, attrs: infer_pool(inputs, attrs, "quantized_max_pool2d"),
        reference=_reference,
        packed=True,
        lower=lower_quantized_max_pool2d,
        samples=SAMPLES,
        invalid=INVALID,
    )
)
