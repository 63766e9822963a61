"""Maximum pooling in WebAssembly gives what the operations' references give, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.graph.opdef import lookup
from playgrad.ops.convolution import simd_pooling
from playgrad.ops.convolution.pooling import make_attrs, out_size
from playgrad.ops.convolution.simd_pooling import pool_form
from playgrad.ops.convolution.window import crop, pad_image, padded_zeros
from playgrad.wasm.max_pool import max_pool_gradient_module, max_pool_module
from tests.wasm.wasmtime_host import WasmtimeHost

Array = np.ndarray[Any, Any]

_ROOM = 1 << 16
NO_PADDING = [[0, 0], [0, 0]]
CASES = [  # shape of the image, attributes
    ((2, 6, 4, 4), make_attrs([2, 2], [2, 2], NO_PADDING)),
    ((1, 7, 5, 6), make_attrs([3, 2], [2, 1], NO_PADDING)),
    ((2, 5, 5, 9), make_attrs([3, 3], [2, 2], [[1, 1], [1, 1]])),
    ((1, 3, 4, 5), make_attrs([2, 3], [1, 2], [[0, 1], [1, 2]])),
    ((2, 7, 6, 7), make_attrs([2, 2], [3, 2], [[1, 1], [0, 0]])),
    ((3, 5, 5, 8), make_attrs([2, 2], [2, 2], NO_PADDING)),
]


def images(shape: tuple[int, ...]) -> Array:
    """Return images with equal pixels, infinity and NaN."""
    generator = np.random.default_rng(0)
    values = generator.integers(-3, 3, shape).astype(np.float32)
    values[generator.random(shape) < 0.05] = np.nan
    values[generator.random(shape) < 0.1] = -np.inf
    return values


@pytest.mark.parametrize(("shape", "attrs"), CASES)
def test_maxima_and_positions(shape: tuple[int, ...], attrs: dict[str, Any]) -> None:
    image = images(shape)
    form = pool_form(shape, out_size(image, attrs), attrs)
    host = WasmtimeHost(max_pool_module(form), 4 * _ROOM)
    padded = pad_image(image, attrs["padding"], -np.inf)
    host.view(0, padded.shape)[...] = padded
    out = (shape[0], *form.out, shape[3])
    host.function("run")(0, _ROOM, 2 * _ROOM)
    maxima, positions = lookup("max_pool2d").reference([image], attrs)
    np.testing.assert_array_equal(host.view(_ROOM, out), maxima)
    np.testing.assert_array_equal(host.view(2 * _ROOM, out, np.int32), positions)


@pytest.mark.parametrize(
    ("shape", "attrs"), [case for case in CASES if case[1]["pool_size"] <= case[1]["strides"]]
)
def test_gradients_of_windows_that_do_not_overlap(
    shape: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    maxima, positions = lookup("max_pool2d").reference([images(shape)], attrs)
    gradients = np.random.default_rng(1).normal(size=maxima.shape).astype(np.float32)
    form = pool_form(shape, maxima.shape[1:3], attrs)
    host = WasmtimeHost(max_pool_gradient_module(form), 4 * _ROOM)
    zeros = padded_zeros(shape[0], shape[1:3], shape[3], attrs, np.float32)
    host.view(0, zeros.shape)[...] = zeros
    host.view(_ROOM, maxima.shape)[...] = gradients
    host.view(2 * _ROOM, maxima.shape, np.int32)[...] = positions
    host.function("run")(0, _ROOM, 2 * _ROOM)
    result = crop(host.view(0, zeros.shape), attrs["padding"], shape[1:3])
    attrs = {**attrs, "image_size": list(shape[1:3])}
    (expected,) = lookup("max_pool2d_gradient").reference([gradients, positions], attrs)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("height", "has_kernel"), [(16, True), (17, False)])
def test_large_windows_have_no_kernel(
    height: int, has_kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The code of a kernel grows with the window, and with it the time to compile it."""
    monkeypatch.setattr("sys.platform", "emscripten")
    monkeypatch.setattr(simd_pooling, "_instance", lambda emit, form: emit(form))
    attrs = make_attrs([height, 16], [height, 16], NO_PADDING)
    form = pool_form((64, height, 16, 64), (1, 1), attrs)
    for prepare in (simd_pooling.prepare_max_pool, simd_pooling.prepare_max_pool_gradient):
        assert (prepare(form, "float32", attrs) is not None) == has_kernel
