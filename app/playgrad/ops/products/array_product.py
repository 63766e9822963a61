"""Products of arrays: by BLAS on the desktop, by WebAssembly with SIMD in a page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from playgrad.graph.opdef import Array
from playgrad.wasm.memory import address
from playgrad.wasm.page_kernels import has_page_kernels
from playgrad.wasm.product import SCRATCH, product_module

WORTH = 1 << 14
"""Multiplications from which other ways than ``@`` are worth their preparation."""


def numpy_matmul(a: Array, b: Array) -> Array:
    """Compute ``a @ b`` of matrices or of stacks of matrices.

    In a browser NumPy has no BLAS. There products of float32 are computed by `SimdProduct`, the
    others by ``einsum``, whose loops are up to four times as fast as those of ``@``.
    """
    if sys.platform == "emscripten" and a.size * b.shape[-1] >= WORTH:
        is_single = a.dtype == b.dtype == np.float32
        if is_single and has_page_kernels() and (simd := simd_product()):
            return simd(a, b)
        return np.einsum("...ij,...jk->...ik", a, b)
    result: Array = np.matmul(a, b)
    return result


class SimdProduct:
    """Products of float32 arrays by the functions of `playgrad.wasm.product`.

    Args:
        kernels: the functions, on the memory in which NumPy has its arrays.
    """

    def __init__(self, kernels: Any) -> None:
        self._product: Callable[..., None] = kernels.product
        self._indexed_product: Callable[..., None] = kernels.indexed_product
        self._scratch = np.empty(SCRATCH, np.uint8)
        self._scratch_address = address(self._scratch)

    def __call__(self, a: Array, b: Array) -> Array:
        """Return ``a @ b`` of matrices, or of stacks of matrices that broadcast together."""
        (rows, terms), columns = a.shape[-2:], b.shape[-1]
        stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) if a.ndim + b.ndim > 4 else ()
        result = np.empty((*stack, rows, columns), np.float32)
        a, b = _stacked(a, stack), _stacked(b, stack)
        target = result.reshape(-1, rows, columns) if stack else result[None]
        operands = (value for x in (a, b, target) for value in (address(x), *x.strides))
        self._product(len(target), rows, columns, terms, *operands, self._scratch_address)
        return result

    def indexed(self, a: Array, rows: Array, columns: Array, b: Array) -> Array:
        """Return the product with a matrix ``b`` of the matrix whose element (i, j) is
        ``rows[i] + columns[j]`` bytes behind the first one of ``a``; both are int32."""
        result = np.empty((len(rows), b.shape[1]), np.float32)
        size = len(rows), b.shape[1], len(columns)
        places = address(a), address(rows), address(columns), address(b), *b.strides
        target = address(result), result.strides[0], self._scratch_address
        self._indexed_product(*size, *places, *target)
        return result


def _stacked(array: Array, stack: tuple[int, ...]) -> Array:
    """Return an array of three dimensions: a matrix, whose copies in the stack are at one place, or
    all matrices of the stack."""
    matrix = array.shape[-2:]
    if array.ndim == 2:
        return array[None]
    return np.broadcast_to(array, (*stack, *matrix)).reshape(-1, *matrix)


@cache
def simd_product() -> SimdProduct | None:
    """Return the fastest product that the browser can compute, or None without SIMD."""
    from playgrad.devices import _emscripten

    for relaxed in (True, False):
        module = product_module(relaxed)
        if _emscripten.can_run(module):
            return SimdProduct(_emscripten.instantiate(module))
    return None
