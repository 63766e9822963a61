"""Scales, zero points and multipliers of integer arithmetic.

A tensor of int8 has a scale s and a zero point z: the integer q stands for s * (q - z). See Jacob
et al. 2018, "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
Inference".
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from playgrad.nn.fake_quantize import affine_parameters, limits, symmetric_scale
from playgrad.ops.core.build import constant

Array = np.ndarray[Any, Any]
LOW, HIGH = limits(8)
_LARGEST = 1 << 31
"""Sums are below it in magnitude."""
_MOST_SHIFT = 62
_ADD_BITS = 21
"""Multipliers of an addition are at most 2 to this power, so that its sums are int32."""
_MOST_ADD_SHIFT = 30


class Parameters(NamedTuple):
    """Scale (the nearest float32) and zero point of an int8 tensor."""

    scale: float
    zero_point: int


def parameters(low: float, high: float) -> Parameters:
    """Return the parameters of integers for numbers from ``low`` to ``high``, as `FakeQuantize`
    has them."""
    pair = affine_parameters(constant(np.float32(low)), constant(np.float32(high)))
    scale, zero_point = (float(tensor.numpy()) for tensor in pair)
    return Parameters(scale, int(zero_point))


def integer_limits(bounds: tuple[float, float], at: Parameters) -> tuple[int, int]:
    """Return the integers that stand for ``bounds``, within those of int8."""
    low, high = (
        end if math.isinf(bound) else int(_quantized(bound, at))
        for bound, end in zip(bounds, (LOW, HIGH), strict=True)
    )
    return low, high


def quantized(values: Array, at: Parameters) -> Array:
    """Return the int8 values that stand for ``values``, computed as the operation does."""
    return _quantized(values, at).astype(np.int8)


def _quantized(values: Any, at: Parameters) -> Any:
    inverse = np.float32(1.0 / np.float64(np.float32(at.scale)))
    integers = np.rint(np.float32(values) * inverse) + np.float32(at.zero_point)
    return np.clip(integers, LOW, HIGH)


class IntegerWeights(NamedTuple):
    """int8 weights (..., out), and a float32 scale for each output."""

    values: Array
    scale: Array


def integer_weights(kernel: Array, bits: int) -> IntegerWeights:
    """Return symmetric integers for a kernel (..., out), as training with rounding has them."""
    kernel = np.asarray(kernel, np.float32)
    tensor = symmetric_scale(constant(kernel), range(kernel.ndim - 1), bits)
    scale = np.asarray(tensor.numpy(), np.float32).reshape(-1)
    least, most = limits(bits, symmetric=True)
    integers = np.clip(np.rint(kernel * (np.float32(1.0) / scale)), least, most)
    return IntegerWeights(integers.astype(np.int8), scale)


class Sums(NamedTuple):
    """The int32 constants of sums of products, one for each output."""

    bias: Array
    multiplier: Array
    shift: Array


def sums(weights: IntegerWeights, bias: Array, of: Parameters, to: Parameters) -> Sums | None:
    """Return the constants for sums of integers of ``of`` times ``weights``.

    Args:
        bias: float32 (out,).
        to: the parameters of the results.

    Returns:
        None if a sum, or a part of one, might not fit in int32.
    """
    return integer_sums(weights, np.rint(bias.astype(np.float64) / _units(weights, of)), of, to)


def _units(weights: IntegerWeights, of: Parameters) -> Array:
    """Return the numbers that one step of the sums stands for, as float64."""
    unit: Array = np.float64(np.float32(of.scale)) * weights.scale.astype(np.float64)
    return unit


def integer_sums(
    weights: IntegerWeights, bias: Array, of: Parameters, to: Parameters
) -> Sums | None:
    """Return what `sums` does, for a ``bias`` of whole numbers in the steps of the sums."""
    unit = _units(weights, of)
    axes = tuple(range(weights.values.ndim - 1))
    integers = weights.values.astype(np.int64)
    folded = bias - of.zero_point * integers.sum(axis=axes)
    largest = np.abs(folded) + -LOW * np.abs(integers).sum(axis=axes)
    pairs = [multiplier_and_shift(each / np.float64(np.float32(to.scale))) for each in unit]
    if not (largest < _LARGEST).all() or None in pairs:
        return None
    multiplier, shift = np.array(pairs, np.int32).reshape(-1, 2).T
    return Sums(folded.astype(np.int32), multiplier.copy(), shift.copy())


def multiplier_and_shift(factor: float) -> tuple[int, int] | None:
    """Return integers with ``factor`` close to ``multiplier / 2**shift``.

    The multiplier is from 2**30 to 2**31 - 1 and the shift from 1 to 62. None if the factor is too
    large for that; sums times one that is too small are 0 with the smallest of them as well.
    """
    fraction, exponent = math.frexp(factor)
    multiplier = round(math.ldexp(fraction, 31))
    if multiplier == 1 << 31:
        multiplier, exponent = multiplier >> 1, exponent + 1
    shift = 31 - exponent
    if shift < 1:
        return None
    return (multiplier, shift) if shift <= _MOST_SHIFT else (1 << 30, _MOST_SHIFT)


class MeanFactors(NamedTuple):
    """The factors of sums over windows of which 0, 1, 2... pixels lie outside the image."""

    multipliers: list[int]
    shifts: list[int]


def mean_factors(factor: float, pixels: int, padded: bool) -> MeanFactors | None:
    """Return the factors for means over ``pixels``, times ``factor``; None if that is too large.

    Args:
        padded: whether pixels of a window may lie outside the image.
    """
    counts = range(pixels, 0, -1) if padded else [pixels]
    pairs = [multiplier_and_shift(factor / count) for count in counts]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    return MeanFactors([pair[0] for pair in known], [pair[1] for pair in known])


def addition_multipliers(left: float, right: float) -> tuple[int, int, int] | None:
    """Return multipliers for both sides of an addition, and their shift; None if a factor is too
    large. The larger factor gets the most bits with which sums fit in int32."""
    _, exponent = math.frexp(max(left, right))
    shift = min(_ADD_BITS - exponent, _MOST_ADD_SHIFT)
    if shift < 1:
        return None
    return round(math.ldexp(left, shift)), round(math.ldexp(right, shift)), shift


def softmax_table(scale: float, count: int) -> Array:
    """Return the int32 table of ``exp(scale * (i - 255))``, of which ``count`` can be added up."""
    bits = min(22, 31 - math.ceil(math.log2(count)) if count > 1 else 22)
    steps = np.arange(256, dtype=np.float64) - 255
    return np.rint(2.0**bits * np.exp(np.float64(np.float32(scale)) * steps)).astype(np.int32)
