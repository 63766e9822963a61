"""Convolutions as products with matrices that are found by tables, in WebAssembly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.graph.opdef import lookup
from playgrad.ops.convolution.conv2d import CASES
from playgrad.ops.convolution.simd_convolution import segment_length, window_tables
from playgrad.ops.convolution.window import crop, pad_image, padded_zeros
from playgrad.wasm.product import product_module
from playgrad.wasm.window_sums import window_sums_module
from tests.wasm.wasmtime_host import WasmtimeHost

Array = np.ndarray[Any, Any]

_ROOM = 1 << 20
UNGROUPED = [case for case in CASES if "groups" not in case[2]]


@pytest.fixture(scope="module")
def host() -> WasmtimeHost:
    return WasmtimeHost(product_module(relaxed=False), 6 * _ROOM)


def multiply(host: WasmtimeHost, image: Array, rows: Array, columns: Array, b: Array) -> Array:
    """Return the product of the matrix that the tables find in ``image`` and of ``b``."""
    for number, array in enumerate((image, rows, columns, b)):
        host.view(number * _ROOM, array.shape, array.dtype)[...] = array
    result = host.view(4 * _ROOM, (len(rows), b.shape[1]))
    result[...] = np.nan
    size = len(rows), b.shape[1], len(columns)
    places = (number * _ROOM for number in range(4))
    run = host.function("indexed_product")
    run(*size, *places, *b.strides, 4 * _ROOM, result.strides[0], 5 * _ROOM)
    return result.copy()


def random(*shape: int) -> Array:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(("shape", "filters", "attrs"), UNGROUPED)
def test_convolutions(
    host: WasmtimeHost, shape: tuple[int, ...], filters: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    image, weights = random(*shape), random(*filters)
    (expected,) = lookup("conv2d").reference([image, weights], attrs)
    padded = pad_image(image, attrs["padding"])
    rows, columns = window_tables(padded.shape, filters[:2], expected.shape[1:3], attrs)
    result = multiply(host, padded, rows, columns, weights.reshape(len(columns), -1))
    np.testing.assert_allclose(result.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("shape", "filters", "attrs"), UNGROUPED)
def test_gradients_by_filters(
    host: WasmtimeHost, shape: tuple[int, ...], filters: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    image, weights = random(*shape), random(*filters)
    (result,) = lookup("conv2d").reference([image, weights], attrs)
    grad = random(*result.shape)
    attrs = {**attrs, "kernel_size": list(filters[:2])}
    (expected,) = lookup("conv2d_filter_gradient").reference([image, grad], attrs)
    padded = pad_image(image, attrs["padding"])
    rows, columns = window_tables(padded.shape, filters[:2], grad.shape[1:3], attrs)
    result = multiply(host, padded, columns, rows, grad.reshape(len(rows), -1))
    np.testing.assert_allclose(result.reshape(expected.shape), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("shape", "filters", "attrs"), UNGROUPED)
def test_gradients_by_images(
    shape: tuple[int, ...], filters: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    weights = random(*filters)
    (result,) = lookup("conv2d").reference([random(*shape), weights], attrs)
    grad = random(*result.shape)
    attrs = {**attrs, "image_size": list(shape[1:3])}
    (expected,) = lookup("conv2d_input_gradient").reference([weights, grad], attrs)
    total = padded_zeros(shape[0], shape[1:3], shape[3], attrs, np.float32)
    rows, columns = window_tables(total.shape, filters[:2], grad.shape[1:3], attrs)
    length = segment_length(filters[1], filters[2], attrs)
    matrix = weights.reshape(len(columns), -1).T
    host = WasmtimeHost(window_sums_module(), 3 * _ROOM)
    host.view(_ROOM, rows.shape, np.int32)[...] = rows
    host.view(2 * _ROOM, total.shape)[...] = total
    for first in range(0, len(columns), length):
        parts = grad.reshape(len(rows), -1) @ matrix[:, first : first + length]
        host.view(0, parts.shape)[...] = parts
        target = 2 * _ROOM + int(columns[first])
        host.function("run")(len(rows), length, 0, _ROOM, target)
    image = crop(host.view(2 * _ROOM, total.shape), attrs["padding"], shape[1:3])
    np.testing.assert_allclose(image, expected, rtol=1e-4, atol=1e-4)
