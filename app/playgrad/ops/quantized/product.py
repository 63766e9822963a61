"""Products of int8 matrices in NumPy, exact and by BLAS."""

from __future__ import annotations

import numpy as np

from playgrad.graph.opdef import Array
from playgrad.ops.products.matmul import numpy_matmul

_BLOCK = 1 << 10
"""As many products of two int8, each at most 2^14, have a sum that float32 holds exactly."""


def int8_product(a: Array, b: Array) -> Array:
    """Return ``a @ b`` of int8 matrices as int32, which wraps around.

    NumPy's product of integers takes tens of times as long as that of floats.
    """
    result: Array | None = None
    for first in range(0, a.shape[1], _BLOCK):
        block = slice(first, first + _BLOCK)
        left, right = a[:, block].astype(np.float32), b[block].astype(np.float32)
        part = numpy_matmul(left, right).astype(np.int32)
        result = part if result is None else np.add(result, part, out=result)
    return np.zeros((len(a), b.shape[1]), np.int32) if result is None else result
