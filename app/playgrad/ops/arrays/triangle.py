"""``triu`` and ``tril``: matrices without the elements on one side of a diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.fill import zeros_like
from playgrad.ops.core.build import as_tensor, whole
from playgrad.ops.elementwise.definitions import where


def triu(x: Any, k: int = 0, name: str | None = None) -> Tensor:
    """Return ``x`` with zeros below a diagonal.

    Args:
        x: shape (..., m, n) with known m and n; any dtype.
        k: the diagonal: 0 is the main one, a positive number one above it.

    Raises:
        ShapeError: ``x`` is not a matrix or a stack of them, or m or n is unknown.
    """
    tensor = as_tensor(x)
    mask = np.tri(*_matrix(tensor, "triu"), k=whole(k, "k") - 1, dtype=np.bool_)
    return where(~mask, tensor, zeros_like(tensor), name=name)


def tril(x: Any, k: int = 0, name: str | None = None) -> Tensor:
    """Return ``x`` with zeros above a diagonal.

    Args:
        x: shape (..., m, n) with known m and n; any dtype.
        k: the diagonal: 0 is the main one, a positive number one above it.

    Raises:
        ShapeError: ``x`` is not a matrix or a stack of them, or m or n is unknown.
    """
    tensor = as_tensor(x)
    mask = np.tri(*_matrix(tensor, "tril"), k=whole(k, "k"), dtype=np.bool_)
    return where(mask, tensor, zeros_like(tensor), name=name)


def _matrix(x: Tensor, what: str) -> tuple[int, int]:
    """Return the last two dimensions of ``x``."""
    *_, rows, columns = (None, None, *x.shape)
    if rows is None or columns is None:
        raise ShapeError(
            f"{what} needs at least two dimensions, of which the last two are known, got the shape "
            f"{shape_text(x.shape)}."
        )
    return rows, columns
