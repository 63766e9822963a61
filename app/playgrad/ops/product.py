"""Products of NumPy matrices."""

from __future__ import annotations

import sys

import numpy as np

from playgrad.graph.opdef import Array

SMALL = 1 << 15
"""Multiplications of a product that ``@`` does sooner than ``einsum``."""


def product(a: Array, b: Array) -> Array:
    """``a @ b`` of matrices, or of stacks of them.

    In a browser NumPy has no BLAS, and the loops of ``einsum`` are up to four times as fast as
    those of ``@``, most of all where an operand is transposed; but they take longer to begin.
    """
    if sys.platform == "emscripten" and a.size * b.shape[-1] > SMALL:
        return np.einsum("...ij,...jk->...ik", a, b)
    result: Array = np.matmul(a, b)
    return result
