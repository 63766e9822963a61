"""Scales, zero points and multipliers of integer arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from playgrad.compression.scales import (
    Parameters,
    addition_multipliers,
    integer_limits,
    integer_weights,
    multiplier_and_shift,
    parameters,
    quantized,
    softmax_table,
    sums,
)
from playgrad.graph.opdef import lookup

random = np.random.default_rng(0)


@pytest.mark.parametrize("factor", [*random.uniform(1e-9, 4, 40), 0.5, 1.0, 0.25, 1 - 2**-40, 1e8])
def test_a_multiplier_has_31_bits(factor: float) -> None:
    pair = multiplier_and_shift(float(factor))
    assert pair is not None
    multiplier, shift = pair
    assert 2**30 <= multiplier < 2**31 and 1 <= shift <= 62
    assert abs(Fraction(multiplier, 2**shift) / Fraction(float(factor)) - 1) < Fraction(1, 2**30)


def test_factors_out_of_range() -> None:
    assert multiplier_and_shift(2.0**31) is None
    tiny = multiplier_and_shift(2.0**-40)
    assert tiny == (1 << 30, 62)
    attrs = {"zero_point": 0, "low": -128, "high": 127}
    largest = np.full((1, 1), 127, np.int8)
    constants = [np.array([value], np.int32) for value in (2**31 - 1 - 127, *tiny)]
    (result,) = lookup("quantized_matmul").reference(
        [largest, largest * 0 + np.int8(1), *constants], attrs
    )
    assert result.item() == 0


@pytest.mark.parametrize(("left", "right"), [(1.0, 1.0), (0.3, 1.7), (1e-6, 0.9), (100.0, 3.0)])
def test_multipliers_of_a_sum_fit_in_int32(left: float, right: float) -> None:
    factors = addition_multipliers(left, right)
    assert factors is not None
    first, second, shift = factors
    assert max(first, second) <= 2**21 and 1 <= shift <= 30
    assert 255 * (first + second) + 2 ** (shift - 1) < 2**31
    assert first / 2**shift == pytest.approx(left, rel=1e-5, abs=2**-20 * max(left, right))
    assert second / 2**shift == pytest.approx(right, rel=1e-5, abs=2**-20 * max(left, right))
    assert addition_multipliers(2.0**22, 1.0) is None


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1.0, 3.0), (0.5, 2.0), (-4.0, -1.0), (0.0, 0.0), (-1e-30, 1e-33), (-3.0, 3.0)],
)
def test_ranges_hold_zero_and_their_ends(low: float, high: float) -> None:
    at = parameters(low, high)
    assert at.scale > 0 and -128 <= at.zero_point <= 127
    ends = np.array([min(low, 0), 0.0, max(high, 0)], np.float32)
    values = at.scale * (quantized(ends, at).astype(np.float64) - at.zero_point)
    assert values[1] == 0
    assert np.allclose(values, ends, atol=at.scale / 2 + 1e-30)


def test_limits_of_relu_are_integers() -> None:
    at = Parameters(0.1, -20)
    assert integer_limits((0.0, 6.0), at) == (-20, 40)
    assert integer_limits((-math.inf, math.inf), at) == (-128, 127)
    assert integer_limits((0.0, 1e9), at) == (-20, 127)


@pytest.mark.parametrize("bits", [8, 4])
def test_weights_are_symmetric_for_each_output(bits: int) -> None:
    kernel = random.normal(size=(3, 3, 5, 4)).astype(np.float32)
    kernel[..., 2] = 0
    weights = integer_weights(kernel, bits)
    most = 2 ** (bits - 1) - 1
    assert np.abs(weights.values).max(axis=(0, 1, 2)).tolist() == [most, most, 0, most]
    assert np.abs(weights.values * weights.scale - kernel).max() <= weights.scale.max() / 2 + 1e-6


@pytest.mark.parametrize(("bias", "fits"), [(1.0, True), (3e4, True), (1e5, False), (-1e5, False)])
def test_sums_that_fit_and_others(bias: float, fits: bool) -> None:
    """Every partial sum of products and bias is an int32, or there are no constants."""
    weights = integer_weights(np.full((4, 1), 0.005, np.float32), 8)
    at, to = Parameters(1.0, -128), Parameters(1.0, 0)
    constants = sums(weights, np.array([bias], np.float32), at, to)
    assert (constants is not None) == fits
    if constants is not None:
        worst = abs(int(constants.bias[0])) + 128 * int(np.abs(weights.values.astype(int)).sum())
        assert worst < 2**31


@pytest.mark.parametrize("count", [1, 2, 10, 1000, 50_000])
def test_powers_of_a_softmax_fit_in_uint32(count: int) -> None:
    table: Any = softmax_table(0.05, count).astype(np.int64)
    assert table[255] == table.max() > 2**14
    assert table.max() * count <= 2**31
    assert 256 * table.max() + table.max() * count // 2 < 2**32
