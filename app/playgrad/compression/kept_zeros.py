"""Zeros that training keeps."""

from __future__ import annotations

from playgrad.graph.tensor import Tensor
from playgrad.ops.core.invariant import Invariant
from playgrad.ops.elementwise.definitions import not_equal, where


class _Zeros(Invariant):
    def value(self, old: Tensor, new: Tensor) -> Tensor:
        return where(not_equal(old, 0.0), new, 0.0)


KEEP_ZEROS: Invariant = _Zeros()
"""What is 0 stays 0."""
