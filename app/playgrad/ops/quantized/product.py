"""Products of int8 matrices in NumPy, exact and by BLAS."""

from __future__ import annotations

import numpy as np

from playgrad.graph.opdef import Array, Attrs
from playgrad.ops.products.matmul import numpy_matmul
from playgrad.ops.quantized.requantize import requantized

_DEPTH = 1 << 10
"""As many products of two int8, each at most 2^14, have a sum that float32 holds exactly."""
_ELEMENTS = 1 << 16
"""Results that are computed at a time: their 64 bits stay in a processor's cache."""


def int8_product(a: Array, b: Array) -> Array:
    """Return ``a @ b`` as int32, which wraps around, of matrices of int8 or of float32 with int8's
    numbers.

    NumPy's product of integers takes tens of times as long as that of floats.
    """
    result: Array | None = None
    for first in range(0, a.shape[1], _DEPTH):
        block = slice(first, first + _DEPTH)
        left, right = (x.astype(np.float32, copy=False) for x in (a[:, block], b[block]))
        part = numpy_matmul(left, right).astype(np.int32)
        result = part if result is None else np.add(result, part, out=result)
    return np.zeros((len(a), b.shape[1]), np.int32) if result is None else result


def requantized_rows(sums: Array, multiplier: Array, shift: Array, attrs: Attrs) -> Array:
    """Return ``requantized`` of ``sums`` (rows, out), some rows at a time."""
    result = np.empty(sums.shape, np.int8)
    rows = max(1, _ELEMENTS // max(1, sums.shape[1]))
    for first in range(0, len(sums), rows):
        part = slice(first, first + rows)
        result[part] = requantized(sums[part], multiplier, shift, attrs)
    return result
