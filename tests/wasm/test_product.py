"""The matrix product in WebAssembly: equal bits to its definition, on any view of any matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.wasm.product import DEPTH, HEIGHT, SCRATCH, WIDTH, product_module
from tests.sweeps import dice
from tests.wasm.wasmtime_host import WasmtimeHost

Array = np.ndarray[Any, Any]

_GUARD = 64
_ROOM = 1 << 23
"""Bytes for each of the operands and the result."""
LARGE = [(HEIGHT + 5, WIDTH + 9, DEPTH + 3), (1, 1, 2 * DEPTH + 1), (6, 8, DEPTH), (1, WIDTH, 1)]
VIEWS = ["rows", "columns", "reversed", "strided"]


@pytest.fixture(scope="module", params=[False, True], ids=["simd", "relaxed"])
def host(request: pytest.FixtureRequest) -> WasmtimeHost:
    return WasmtimeHost(product_module(relaxed=request.param), 4 * _ROOM)


@pytest.fixture(scope="module")
def exact_host() -> WasmtimeHost:
    return WasmtimeHost(product_module(relaxed=False), 4 * _ROOM)


def placed(host: WasmtimeHost, address: int, values: Array, view: str) -> Array:
    """Copy a stack of matrices into memory, so that it is a view of this kind of what is there."""
    count, rows, columns = values.shape
    match view:
        case "rows":
            array = host.view(address, values.shape)
        case "columns":
            array = host.view(address, (count, columns, rows)).swapaxes(1, 2)
        case "reversed":
            array = host.view(address, values.shape)[::-1, ::-1, ::-1]
        case _:
            array = host.view(address, (count, rows, 2, columns, 3))[:, :, 1, :, 2]
    array[...] = values
    return array


def multiply(host: WasmtimeHost, a: Array, b: Array, count: int) -> Array:
    """Return the products of arrays in the memory; check that only the result has changed."""
    rows, terms, columns = a.shape[1], a.shape[2], b.shape[2]
    start = 2 * _ROOM + _GUARD
    result = host.view(start, (count, rows, columns))
    scratch = start + result.nbytes + _GUARD
    host.memory[2 * _ROOM :] = 0xAB
    before = host.memory[: 2 * _ROOM].copy()
    base = host.memory.ctypes.data
    operands = (value for x in (a, b, result) for value in (x.ctypes.data - base, *x.strides))
    host.function("product")(count, rows, columns, terms, *operands, scratch)
    np.testing.assert_array_equal(host.memory[: 2 * _ROOM], before)
    for end in (start, start + result.nbytes + _GUARD, scratch + SCRATCH + _GUARD):
        assert (host.memory[end - _GUARD : end] == 0xAB).all()
    return result.copy()


def defined(a: Array, b: Array) -> Array:
    """Return the products by the order of sums that the module documents."""
    result = None
    for first in range(0, a.shape[2], DEPTH):
        block = np.zeros((len(a), a.shape[1], b.shape[2]), np.float32)
        for term in range(first, min(first + DEPTH, a.shape[2])):
            block += a[:, :, term, None] * b[:, None, term]
        result = block if result is None else result + block
    assert result is not None
    return result


def random_sizes(generator: np.random.Generator) -> tuple[int, int, int]:
    rows, columns, terms = generator.integers(1, [30, 40, 50])
    return int(rows), int(columns), int(terms)


@pytest.mark.parametrize("case", range(8))
def test_equal_bits_to_the_definition(exact_host: WasmtimeHost, case: int) -> None:
    generator = np.random.default_rng(dice("products in WebAssembly", case).getrandbits(64))
    sizes = LARGE[case] if case < len(LARGE) else random_sizes(generator)
    count = 1 if case < len(LARGE) else int(generator.integers(1, 4))
    rows, columns, terms = sizes
    left, right = (str(view) for view in generator.choice(VIEWS, 2))
    a = generator.normal(size=(count, rows, terms)).astype(np.float32)
    b = generator.normal(size=(count, terms, columns)).astype(np.float32)
    placed_a, placed_b = placed(exact_host, 0, a, left), placed(exact_host, _ROOM, b, right)
    product = multiply(exact_host, placed_a, placed_b, count)
    np.testing.assert_array_equal(product, defined(a, b), err_msg=f"{sizes} {left} {right}")


@pytest.mark.parametrize("left", VIEWS)
@pytest.mark.parametrize("right", VIEWS)
def test_every_view_is_multiplied(host: WasmtimeHost, left: str, right: str) -> None:
    """Relaxed SIMD may keep more digits, never fewer: the error of each sum is bounded."""
    generator = np.random.default_rng(0)
    a = generator.normal(size=(2, 13, 70)).astype(np.float32)
    b = generator.normal(size=(2, 70, 19)).astype(np.float32)
    product = multiply(host, placed(host, 0, a, left), placed(host, _ROOM, b, right), 2)
    bound = 70 * np.finfo(np.float32).eps * (np.abs(a) @ np.abs(b))
    assert (np.abs(product - a.astype(np.float64) @ b.astype(np.float64)) <= bound).all()


def test_one_matrix_multiplies_a_stack(host: WasmtimeHost) -> None:
    a = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    b = np.arange(10, dtype=np.float32).reshape(1, 5, 2)
    stack = placed(host, 0, a, "rows")
    matrix = placed(host, _ROOM, b, "rows")[0][None]  # a distance of 0
    np.testing.assert_array_equal(multiply(host, stack, matrix, 3), a @ b[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_special_values_stay_in_their_row_and_column(host: WasmtimeHost, bad: float) -> None:
    a, b = np.ones((1, 7, 3), np.float32), np.ones((1, 3, 9), np.float32)
    a[0, 6, 1], b[0, 0, 8] = bad, -bad
    product = multiply(host, placed(host, 0, a, "rows"), placed(host, _ROOM, b, "rows"), 1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(product, a @ b)
