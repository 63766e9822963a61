"""Zeros that training keeps."""

from __future__ import annotations

from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import not_equal, where


def keep_zeros(old: Tensor, new: Tensor) -> Tensor:
    """Return ``new`` where ``old`` is not 0, and 0 elsewhere: for `Variable.keep`."""
    return where(not_equal(old, 0.0), new, 0.0)
