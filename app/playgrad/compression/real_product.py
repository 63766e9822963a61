"""The product of real numbers that a product of integers stands for: other formats describe it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from playgrad.compression.integer_program import IntegerProgram, IntegerStep
from playgrad.errors import ExportError

Array = np.ndarray[Any, Any]


class RealProduct(NamedTuple):
    """A matrix product or a convolution with quantized constants.

    Attributes:
        kernel: int8; its last axis counts the outputs.
        kernel_scale: float32, one an output.
        bias: int32, with the input's zero point taken out.
        bias_scale: float32: scale of the input · scale of the kernel.
    """

    kernel: Array
    kernel_scale: Array
    bias: Array
    bias_scale: Array


class TransposedConvolution(NamedTuple):
    """The convolution of an image whose pixels are spread, as a transposed convolution.

    Attributes:
        kernel: int8 (height, width, in, out), turned by 180°. Zeros stand between its weights if
            the convolution is dilated, and around them if the result is larger than the full one.
        strides: how far pixels are spread.
        crop: ((top, bottom), (left, right)) that are cut off the full result.
    """

    kernel: Array
    strides: tuple[int, int]
    crop: tuple[tuple[int, int], tuple[int, int]]


def real_product(program: IntegerProgram, step: IntegerStep) -> RealProduct:
    """Return the product that a ``quantized_matmul`` or ``quantized_conv2d`` stands for.

    Raises:
        ExportError: the convolution pads with a value that does not stand for 0.
    """
    x = program.tensors[step.inputs[0]]
    if step.attrs.get("pad_value", x.zero_point) != x.zero_point:
        raise ExportError(
            f"'{step.name}' pads with {step.attrs['pad_value']}, which does not stand for 0: that "
            f"is {x.zero_point}.",
            op=step.name,
        )
    kernel, scale = step.constants["kernel"], step.constants["weight_scale"].astype(np.float32)
    units = kernel.shape[-1]
    sums = kernel.reshape(-1, units).sum(0, dtype=np.int64)
    bias = step.constants["bias"].astype(np.int64) + x.zero_point * sums
    return RealProduct(kernel, scale, bias.astype(np.int32), np.float32(x.scale) * scale)


def transposed_convolution(step: IntegerStep) -> TransposedConvolution | None:
    """Return the transposed convolution that a convolution stands for; None for an ordinary one.

    Raises:
        ExportError: the strides are not 1, or there are groups of channels.
    """
    attrs, kernel = step.attrs, step.constants["kernel"]
    spread = attrs["input_dilation"]
    if tuple(spread) == (1, 1):
        return None
    if tuple(attrs["strides"]) != (1, 1) or attrs["groups"] != 1:
        raise ExportError(
            f"'{step.name}' spreads its input, and has strides or groups. Only C files express it.",
            op=step.name,
        )
    dilation, padding = attrs["dilation"], attrs["padding"]
    sizes = [(size - 1) * gap + 1 for size, gap in zip(kernel.shape[:2], dilation, strict=True)]
    crops = [
        [size - 1 - side for side in sides] for size, sides in zip(sizes, padding, strict=True)
    ]
    around = [[max(0, -side) for side in sides] for sides in crops]
    wide = np.zeros((*sizes, *kernel.shape[2:]), np.int8)
    wide[:: dilation[0], :: dilation[1]] = kernel[::-1, ::-1]
    (top, bottom), (left, right) = ((max(0, a), max(0, b)) for a, b in crops)
    return TransposedConvolution(
        np.pad(wide, [*around, (0, 0), (0, 0)]),
        (spread[0], spread[1]),
        ((top, bottom), (left, right)),
    )


def bounds(program: IntegerProgram, step: IntegerStep) -> tuple[float, float] | None:
    """Return the real numbers at ``low`` and ``high``; None if they bound nothing."""
    low, high = step.attrs["low"], step.attrs["high"]
    if (low, high) == (-128, 127):
        return None
    y = program.tensors[step.output]
    return y.scale * (low - y.zero_point), y.scale * (high - y.zero_point)
