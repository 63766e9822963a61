"""Reductions that are large enough to be split, and reproducible bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from playgrad.devices._wgpu import WgpuHost
from playgrad.devices.target import Target
from playgrad.ops.lowering.reduce import (
    lower_reduce_max,
    lower_reduce_mean,
    lower_reduce_min,
    lower_reduce_sum,
)
from playgrad.ops.lowering.softmax import lower_softmax_cross_entropy
from tests.kernels.harness import Array, Lower, make_request, run

pytestmark = [pytest.mark.gpu, pytest.mark.rotates]

SHAPES = [
    ((1_000_003,), (0,)),
    ((7, 30_000), (1,)),
    ((30_000, 7), (0,)),
    ((16, 26, 26, 32), (0, 1, 2)),
    ((5, 64, 3, 40), (1, 3)),
    ((64, 10), (0, 1)),
]
KINDS: list[tuple[Lower, Callable[..., Array]]] = [
    (lower_reduce_sum, np.sum),
    (lower_reduce_mean, np.mean),
    (lower_reduce_max, np.max),
    (lower_reduce_min, np.min),
]


@pytest.mark.parametrize(("shape", "axes"), SHAPES, ids=str)
def test_large_reductions_are_correct_and_reproducible(
    host: WgpuHost, target: Target, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for lower, function in KINDS:
        expected: Array = function(x.astype(np.float64), axis=axes)
        outputs = [(expected.shape, "float32")]
        attrs = {"axes": list(axes), "keepdims": False}
        first, second = (run(host, lower, [x], outputs, attrs, target)[0] for _ in range(2))
        np.testing.assert_allclose(first, expected, rtol=1e-4, atol=1e-5 * np.sqrt(x.size))
        assert first.tobytes() == second.tobytes()


def test_a_full_reduction_is_two_dispatches(target: Target) -> None:
    x = np.zeros(1_000_000, np.float32)
    lowering = lower_reduce_sum(make_request([x], [((), "float32")], {"axes": [0]}, target))
    assert len(lowering.calls) == 2


@pytest.mark.parametrize("place", [0, 5_000, 99_999])
def test_nan_reaches_the_result(host: WgpuHost, target: Target, place: int) -> None:
    x = np.ones(100_000, np.float32)
    x[place] = np.nan
    for lower, _ in KINDS:
        (result,) = run(host, lower, [x], [((), "float32")], {"axes": [0]}, target)
        assert np.isnan(result)


def test_an_invalid_label_gives_nan_for_its_row_only(host: WgpuHost) -> None:
    logits = np.zeros((4, 3), np.float32)
    labels = np.array([0, 3, -1, 2], np.int32)
    loss, gradient = run(
        host,
        lower_softmax_cross_entropy,
        [logits, labels],
        [((4,), "float32"), ((4, 3), "float32")],
    )
    assert np.isnan(loss).tolist() == [False, True, True, False]
    assert np.isnan(gradient).all(axis=1).tolist() == [False, True, True, False]
    np.testing.assert_allclose(loss[[0, 3]], np.log(3), rtol=1e-5)
