"""Reductions and softmax that join parts within subgroups, on the desktop and in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from playgrad.compiler.steps import Place
from playgrad.devices import _wgpu
from playgrad.devices.tuning import SUBGROUPS, Tuning
from playgrad.dtypes import to_device_bytes
from playgrad.graph.spec import TensorSpec
from playgrad.ops.lowering.reduce import lower_reduce_max, lower_reduce_min, lower_reduce_sum
from playgrad.ops.lowering.softmax import lower_softmax
from tests.browser.replay import Recording, in_page, on_desktop
from tests.kernels.harness import GPU, Array, Lower, make_plan, make_request

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

TARGET = replace(GPU, measured=Tuning("shared_64", "shared_64", SUBGROUPS))
ROWS = {"axes": [1], "keepdims": False}


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(1, keepdims=True))
    result: Array = powers / powers.sum(1, keepdims=True)
    return result


@pytest.mark.parametrize(
    ("lower", "expected", "shape", "attrs"),
    [
        (lower_reduce_sum, lambda x: x.sum(1), (5, 1000), ROWS),
        (lower_reduce_sum, lambda x: x.sum(1), (3, 64), ROWS),
        (lower_reduce_sum, lambda x: x.sum(1), (1, 100_000), ROWS),
        (lower_reduce_max, lambda x: x.max(1), (7, 129), ROWS),
        (lower_reduce_min, lambda x: x.min(1), (7, 70), ROWS),
        (lower_softmax, softmax, (4, 300), {"axis": 1}),
    ],
)
def test_both_hosts_agree_with_numpy(
    page: Page,
    lower: Lower,
    expected: Callable[[Array], Array],
    shape: tuple[int, ...],
    attrs: dict[str, Any],
) -> None:
    x = np.random.default_rng(0).standard_normal(shape, np.float32)
    if lower in (lower_reduce_max, lower_reduce_min):
        x[1, 5], x[2, 6], x[3, 7], x[4] = np.nan, np.inf, -np.inf, 0.0
    result = expected(x)
    recording = recorded(lower, x, result.shape, attrs)
    assert "_subgroups" in recording.plan["kernels"][0]["family"]
    host = _wgpu.open()
    desktop = on_desktop(host, recording).variables["result"]
    host.destroy()
    browser = in_page(page, recording).variables["result"]
    for actual in (desktop, browser):
        np.testing.assert_allclose(actual, result, rtol=1e-4, atol=1e-3)


def recorded(lower: Lower, x: Array, shape: tuple[int, ...], attrs: dict[str, Any]) -> Recording:
    """The dispatches of one reduction of ``x``."""
    request = make_request([x], [(shape, "float32")], attrs, TARGET)
    plan = make_plan(request, lower(request))
    state = {"input0": to_device_bytes(x), "result": bytes(4 * int(np.prod(shape)))}
    for buffer, key in zip(plan["buffers"], state, strict=False):
        buffer["external"] = key
    return Recording(
        plan, state, {}, {"result": (TensorSpec(shape, "float32"), Place("result", 0))}
    )
