"""``quantized_avg_pool2d``: the mean of each window of int8 images, in a scale of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.convolution.window import Padding
from playgrad.ops.core.build import whole
from playgrad.ops.core.samples import int8s
from playgrad.ops.lowering.quantized import lower_quantized_avg_pool2d
from playgrad.ops.quantized.pooling import INVALID, SAMPLES, infer_pool, pool, pooled_windows
from playgrad.ops.quantized.requantize import (
    LEAST,
    MOST,
    SHIFTS,
    expect_between,
    expect_range,
    range_attrs,
    requantized,
)
from playgrad.ops.quantized.rescale import MULTIPLIERS

MOST_PIXELS = 1 << 22
"""Of a window: the sum of as many pixels is int32."""
MOST_FACTORS = 1 << 10
"""The pixels of a window with padding, each number of which has a factor."""


def quantized_avg_pool2d(
    x: Any,
    window: int | Sequence[int] = 2,
    strides: int | Sequence[int] | None = None,
    padding: Padding = "valid",
    *,
    input_zero_point: int,
    multipliers: Sequence[int],
    shifts: Sequence[int],
    zero_point: int,
    low: int = LEAST,
    high: int = MOST,
    name: str | None = None,
) -> Tensor:
    """Return the mean of each window of int8 images, over its pixels inside the image.

    It is the sum of ``x - input_zero_point`` times ``multipliers[k] / 2^shifts[k]``, rounded with
    halves up, plus ``zero_point``, limited to [``low``, ``high``]; ``k`` pixels of the window lie
    outside the image.

    Args:
        x: images of shape (batch, height, width, channels); int8.
        window: height and width in pixels, whose product is at most 2^22, or 2^10 with padding.
        strides: distance between windows in pixels; None for the size of the window.
        padding: as in `avg_pool2d`.
        multipliers, shifts: whole numbers in [2^30, 2^31) and in [1, 62]. One of each without
            padding, otherwise as many as a window has pixels.
        input_zero_point, zero_point: the int8 that stands for 0 in ``x`` and in the result.
        low, high: -128 ≤ low ≤ high ≤ 127.

    Returns:
        An int8 tensor of shape (batch, out height, out width, channels). It has no gradient.

    Raises:
        DTypeError: ``x`` is not int8.
        ShapeError: as in `avg_pool2d`.
        GraphError: a number lies outside its range, or there are too few or too many.
    """
    attrs = {
        "input_zero_point": whole(input_zero_point, "input_zero_point"),
        "multipliers": [whole(each, "a multiplier") for each in multipliers],
        "shifts": [whole(each, "a shift") for each in shifts],
        **range_attrs(zero_point, low, high),
    }
    return pool(_AVERAGE, x, window, strides, padding, name, **attrs)


def factors_needed(attrs: Mapping[str, Any]) -> int:
    """Return the number of multipliers for a ``window`` with a ``padding``."""
    height, width = attrs["window"]
    return height * width if any(map(any, attrs["padding"])) else 1


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    what = "quantized_avg_pool2d"
    results = infer_pool(inputs, attrs, what)
    height, width = attrs["window"]
    most = MOST_PIXELS if factors_needed(attrs) == 1 else MOST_FACTORS
    if height * width > most:
        raise GraphError(
            f"{what}: a window has at most {MOST_PIXELS:,} pixels, or {MOST_FACTORS:,} with "
            f"padding, got {height * width:,}."
        )
    for name, limits in (("multipliers", MULTIPLIERS), ("shifts", SHIFTS)):
        numbers = attrs[name]
        if len(numbers) != factors_needed(attrs):
            raise GraphError(
                f"{what}: there must be {factors_needed(attrs)} {name} for the window "
                f"{list(attrs['window'])} with the padding {attrs['padding']}, got {len(numbers)}."
            )
        for number in numbers:
            expect_between({f"each of {name}": number}, f"each of {name}", *limits, what)
    expect_between(attrs, "input_zero_point", LEAST, MOST, what)
    expect_range(attrs, what)
    return results


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (image,) = inputs
    height, width = attrs["window"]
    sums = pooled_windows(image, attrs, 0).sum(axis=(4, 5), dtype=np.int32)
    inside = np.ones((1, *image.shape[1:3], 1), np.int8)
    counts = pooled_windows(inside, attrs, 0).sum(axis=(4, 5), dtype=np.int32)
    outside = height * width - counts
    multipliers, shifts = (np.array(attrs[name], np.int32) for name in ("multipliers", "shifts"))
    differences = sums - counts * np.int32(attrs["input_zero_point"])
    return [requantized(differences, multipliers[outside], shifts[outside], attrs)]


def _with_factors(attrs: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """Return the attributes of a sample, whose result has about half the scale of its input."""
    height, width = attrs["window"]
    pixels = height * width - np.arange(factors_needed(attrs))
    return {
        **attrs,
        "input_zero_point": 7,
        "multipliers": [(1 << 30) + 12_345 * int(n) for n in pixels],
        "shifts": [28 + int(n).bit_length() for n in pixels],
        "zero_point": -9,
        "low": LEAST,
        "high": MOST,
    } | changed


_FIRST = SAMPLES[0]
_AVERAGE = register(
    OpDef(
        name="quantized_avg_pool2d",
        infer=_infer,
        reference=_reference,
        packed=True,
        lower=lower_quantized_avg_pool2d,
        samples=(
            *(Sample(sample.inputs, _with_factors(sample.attrs)) for sample in SAMPLES),
            Sample(_FIRST.inputs, _with_factors(_FIRST.attrs, low=-20, high=30)),
            Sample(_FIRST.inputs, _with_factors(_FIRST.attrs, shifts=[1], input_zero_point=-128)),
            Sample(_FIRST.inputs, _with_factors(_FIRST.attrs, shifts=[62], input_zero_point=127)),
        ),
        invalid=(
            *(
                InvalidSample(each.inputs, _with_factors(each.attrs), each.error, each.words)
                for each in INVALID
            ),
            InvalidSample(
                (int8s(1, 4, 4, 1),),
                _with_factors(_FIRST.attrs, multipliers=[1 << 30] * 2),
                GraphError,
                "there must be 1 multipliers",
            ),
            InvalidSample(
                (int8s(1, 4, 4, 1),),
                _with_factors(_FIRST.attrs, shifts=[63]),
                GraphError,
                "each of shifts must lie in [1, 62], got 63",
            ),
        ),
    )
)
