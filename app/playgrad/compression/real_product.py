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
        kernel: int8 (height, width, in, out / groups), turned by 180°.
        strides: how far pixels are spread.
        crop: ((top, bottom), (left, right)) that are cut off the full result; negative ones extend
            it with the bias alone.
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
        ExportError: the strides are not 1.
    """
    attrs, kernel = step.attrs, step.constants["kernel"]
    spread = attrs["input_dilation"]
    if tuple(spread) == (1, 1):
        return None
    if tuple(attrs["strides"]) != (1, 1):
        raise ExportError(
            f"'{step.name}' has strides and spreads its input, which only C files express.",
            op=step.name,
        )
    height, width, per_group, units = kernel.shape
    groups = attrs["groups"]
    parts = kernel[::-1, ::-1].reshape(height, width, per_group, groups, units // groups)
    turned = parts.transpose(0, 1, 3, 2, 4).reshape(height, width, groups * per_group, -1)
    top, left = (
        ((size - 1) * gap - before, (size - 1) * gap - after)
        for size, gap, (before, after) in zip(
            kernel.shape[:2], attrs["dilation"], attrs["padding"], strict=True
        )
    )
    return TransposedConvolution(turned, (spread[0], spread[1]), (top, left))


def bounds(program: IntegerProgram, step: IntegerStep) -> tuple[float, float] | None:
    """Return the real numbers at ``low`` and ``high``; None if they bound nothing."""
    low, high = step.attrs["low"], step.attrs["high"]
    if (low, high) == (-128, 127):
        return None
    y = program.tensors[step.output]
    return y.scale * (low - y.zero_point), y.scale * (high - y.zero_point)
