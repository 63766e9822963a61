"""The product of float32 matrices that compiled code calls on the desktop, of NumPy's BLAS.

BLAS has vectors of up to 512 bits, WebAssembly of 128. A call from compiled code by way of Python
takes 2.4 µs: NumPy's own function would take as long again, and cannot add to a result.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

Product = Callable[..., None]
"""``product(begin, ...)``, with the address of the memory and the arguments of
`playgrad.wasm.step.SGEMM`, whose addresses are in that memory."""

_SYMBOLS = {
    "scipy_cblas_sgemm64_": ctypes.c_int64,
    "cblas_sgemm64_": ctypes.c_int64,
    "scipy_cblas_sgemm": ctypes.c_int,
    "cblas_sgemm": ctypes.c_int,
}
"""The names of the function in OpenBLAS, by the type of its sizes."""
_ROW_MAJOR, _PLAIN = 101, 111  # one more if transposed


@cache
def product() -> Product:
    """Return BLAS's product, or NumPy's if NumPy has no OpenBLAS."""
    from threadpoolctl import ThreadpoolController

    # NumPy has been imported before any other package of this process that has OpenBLAS.
    for library in ThreadpoolController().select(internal_api="openblas").lib_controllers:
        for name, integer in _SYMBOLS.items():
            if hasattr(library.dynlib, name):
                return _of_library(library.filepath, name, integer)
    return numpy_product


def _of_library(path: str, name: str, size: Any) -> Product:
    flag, number, place = ctypes.c_int, ctypes.c_float, ctypes.c_void_p
    kind = ctypes.CFUNCTYPE(
        None, *(flag,) * 3, *(size,) * 3, number, place, size, place, size, number, place, size
    )
    function = kind((name, ctypes.CDLL(path)))

    def multiply(
        begin: int, flip_a: int, flip_b: int, m: int, n: int, k: int,
        a: int, a_row: int, b: int, b_row: int, adds: int, c: int, c_row: int,
    ) -> None:  # fmt: skip
        function(
            _ROW_MAJOR, _PLAIN + flip_a, _PLAIN + flip_b, m, n, k,
            1.0, begin + a, a_row, begin + b, b_row, adds, begin + c, c_row,
        )  # fmt: skip

    return multiply


def numpy_product(
    begin: int, flip_a: int, flip_b: int, m: int, n: int, k: int,
    a: int, a_row: int, b: int, b_row: int, adds: int, c: int, c_row: int,
) -> None:  # fmt: skip
    """Multiply by NumPy, whichever library that has."""
    left = _matrix(begin + a, (k, m) if flip_a else (m, k), a_row)
    right = _matrix(begin + b, (n, k) if flip_b else (k, n), b_row)
    result = _matrix(begin + c, (m, n), c_row)
    operands = left.T if flip_a else left, right.T if flip_b else right
    if adds:
        result += np.matmul(*operands)
    else:
        np.matmul(*operands, out=result)


def _matrix(place: int, shape: tuple[int, int], row: int) -> np.ndarray[Any, Any]:
    rows, columns = shape
    elements = (ctypes.c_float * ((rows - 1) * row + columns)).from_address(place)
    return np.lib.stride_tricks.as_strided(np.ctypeslib.as_array(elements), shape, (4 * row, 4))
