"""Products in which four invocations share their loads, on the desktop and in Chromium."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from playgrad.compiler.steps import Place
from playgrad.devices import _wgpu
from playgrad.dtypes import to_device_bytes
from playgrad.graph.spec import TensorSpec
from playgrad.ops.lowering.conv2d import (
    lower_conv2d,
    lower_conv2d_filter_gradient,
    lower_conv2d_input_gradient,
)
from playgrad.ops.lowering.matmul import lower_matmul
from tests.browser.replay import Recording, in_page, on_desktop
from tests.kernels.harness import QUADS, Array, Lower, make_plan, make_request

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

WINDOW = {"strides": [1, 1], "padding": [[1, 1], [1, 1]]}
IMAGE, FILTERS, GRADIENT = (4, 20, 20, 16), (3, 3, 16, 32), (4, 20, 20, 32)


@pytest.mark.parametrize(
    ("lower", "shapes", "attrs"),
    [
        (lower_matmul, [(125, 77), (77, 125), (125, 125)], {}),
        (lower_matmul, [(3000, 16), (3000, 32), (16, 32)], {"transpose_a": True}),
        (lower_conv2d, [IMAGE, FILTERS, GRADIENT], WINDOW),
        (lower_conv2d_input_gradient, [FILTERS, GRADIENT, IMAGE], WINDOW),
        (lower_conv2d_filter_gradient, [IMAGE, GRADIENT, FILTERS], WINDOW),
    ],
)
def test_both_hosts_agree(
    page: Page, lower: Lower, shapes: list[tuple[int, ...]], attrs: dict[str, Any]
) -> None:
    recording = recorded(lower, shapes, attrs)
    assert recording.plan["kernels"][0]["family"].endswith("_quads")
    host = _wgpu.open()
    desktop = on_desktop(host, recording).variables["result"]
    host.destroy()
    browser = in_page(page, recording).variables["result"]
    assert np.abs(desktop).max() > 1
    np.testing.assert_allclose(browser, desktop, rtol=1e-4, atol=1e-5 * np.abs(desktop).max())


def recorded(lower: Lower, shapes: list[tuple[int, ...]], attrs: dict[str, Any]) -> Recording:
    """The dispatches of one product of random inputs; the last shape is the result's."""
    random = np.random.default_rng(0)
    inputs: list[Array] = [random.standard_normal(shape, np.float32) for shape in shapes[:-1]]
    request = make_request(inputs, [(shapes[-1], "float32")], attrs, QUADS)
    plan = make_plan(request, lower(request))
    state = {f"input{i}": to_device_bytes(array) for i, array in enumerate(inputs)}
    state["result"] = bytes(4 * int(np.prod(shapes[-1])))
    for buffer, key in zip(plan["buffers"], state, strict=False):
        buffer["external"] = key
    result = (TensorSpec(shapes[-1], "float32"), Place("result", 0))
    return Recording(plan, state, {}, {"result": result})
