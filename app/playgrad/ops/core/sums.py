"""Sums with NumPy whose rounding errors do not grow with the number of terms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

LONG = 4096
"""Terms from which float32 sums are accumulated in float64.

NumPy adds term by term along all axes but the last, so that a sum of 200,000 rows is 0.2% off. With
fewer terms the error is small, and float64 would double the time of a training step.
"""
_reduce: Any = np.add.reduce


def add_up(x: Any, axis: Sequence[int], keepdims: bool = False) -> Any:
    """Return the sum of ``x`` along ``axis``, of the dtype of ``x``; of float16 rounded once."""
    if x.dtype == np.float16:
        with np.errstate(over="ignore"):
            return add_up(x.astype(np.float32), axis, keepdims).astype(np.float16)
    axes = tuple(axis)
    if x.dtype == np.float32 and x.size >= LONG and prod(x.shape[i] for i in axes) >= LONG:
        total = _reduce(x, axes, np.float64, keepdims=keepdims)
        return total.astype(np.float32)
    return _reduce(x, axes, x.dtype, keepdims=keepdims)
