"""Tensors of given values: ``zeros``, ``ones``, ``full``, ``eye``, ``arange``, ``linspace``.

``arange`` and ``linspace`` of numbers are constants of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.fill import fill
from playgrad.ops.arrays.one_hot import one_hot
from playgrad.ops.core.build import constant, whole


def zeros(shape: int | Sequence[int], dtype: Any = "float32", name: str | None = None) -> Tensor:
    """Return a tensor of zeros.

    Args:
        shape: the shape of the result, known in full.
        dtype: the element type.

    Raises:
        ShapeError: a dimension is negative or not a whole number.
    """
    return fill(shape, 0, dtype, name=name)


def ones(shape: int | Sequence[int], dtype: Any = "float32", name: str | None = None) -> Tensor:
    """Return a tensor of ones.

    Args:
        shape: the shape of the result, known in full.
        dtype: the element type.

    Raises:
        ShapeError: a dimension is negative or not a whole number.
    """
    return fill(shape, 1, dtype, name=name)


def full(
    shape: int | Sequence[int], fill_value: float, dtype: Any = None, name: str | None = None
) -> Tensor:
    """Return a tensor whose elements are all ``fill_value``; ``fill`` under NumPy's name.

    Args:
        shape: the shape of the result, known in full.
        fill_value: a number that ``dtype`` can hold.
        dtype: the element type; None means float32.

    Raises:
        ShapeError: a dimension is negative or not a whole number.
        DTypeError: ``fill_value`` does not fit ``dtype``.
    """
    return fill(shape, fill_value, dtype, name=name)


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = "float32", name: str | None = None
) -> Tensor:
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Args:
        N: the number of rows, at least 0.
        M: the number of columns, at least 1; None means N.
        k: the diagonal: 0 is the main one, a positive number one above it.
        dtype: the element type.

    Returns:
        A tensor of shape (N, M).

    Raises:
        ShapeError: a number is not whole, or N or M is too small.
    """
    rows, columns = whole(N, "N"), whole(N if M is None else M, "M")
    if rows < 0 or columns < 0:
        raise ShapeError(f"eye: a matrix cannot have the shape ({rows}, {columns}).")
    if not columns:
        return fill([rows, 0], 0, dtype, name=name)
    first = whole(k, "k")
    return one_hot(np.arange(first, first + rows, dtype=np.int32), columns, dtype, name=name)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return the numbers from ``start`` up to, and without, ``stop``; ``range`` is the same.

    Args:
        start, stop, step: as in ``numpy.arange``. One number alone is ``stop``, from 0.
        dtype: the element type; None means int32 if all are whole numbers, else float32.

    Returns:
        A tensor of one dimension.

    Raises:
        DTypeError: an argument is not a number, or a result does not fit ``dtype``.
        ShapeError: ``step`` is 0.
    """
    first, last = (0, start) if stop is None else (start, stop)
    for number in (first, last, step):
        _expect_number(number, "arange")
    if step == 0:
        raise ShapeError("arange: step must not be 0.")
    return constant(np.arange(first, last, step), dtype, name=name)


range = arange


def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Return ``num`` numbers at equal distances.

    Args:
        start: the first number.
        stop: the last number, if ``endpoint``; else the one after the last.
        num: how many, at least 0.
        endpoint: whether ``stop`` is among them.
        dtype: the element type; None means float32.

    Returns:
        A tensor of shape (num,).

    Raises:
        DTypeError: an argument is not a number.
        ShapeError: ``num`` is negative or not whole.
    """
    _expect_number(start, "linspace")
    _expect_number(stop, "linspace")
    count = whole(num, "num")
    if count < 0:
        raise ShapeError(f"linspace: num must be ≥ 0, got {count}.")
    kind = dtype_of(dtype or "float32").numpy
    return constant(np.linspace(start, stop, count, endpoint, dtype=kind), kind, name=name)


def _expect_number(value: Any, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise DTypeError(f"{what} takes numbers, not {type(value).__name__} {value!r:.60}.")
