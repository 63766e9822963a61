"""Variance, standard deviation, norms and logsumexp, made of other operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import UnsupportedOpError
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import identity, squeeze, stop_gradient
from playgrad.ops.core.build import as_tensor, sorted_axes
from playgrad.ops.elementwise.definitions import (
    absolute,
    cast,
    equal,
    exp,
    is_finite,
    log,
    not_equal,
    pow,
    sqrt,
    square,
    where,
)
from playgrad.ops.reductions.reduce import (
    Axis,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_sum,
)


def var(x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Return the variance of ``x`` along one or more axes: the mean of squared differences.

    Args:
        x: a tensor of any shape; float32 or float64.
        axis: one axis or several, negative ones counted from the end; None means all axes.
        keepdims: keep reduced axes with size 1, so that the result broadcasts against ``x``.

    Returns:
        A tensor of the dtype of ``x`` without the reduced axes.

    Raises:
        ShapeError: an axis does not exist, is named twice, or has size 0.
        DTypeError: ``x`` is not floating.
    """
    tensor = as_tensor(x)
    mean = reduce_mean(tensor, axis, keepdims=True)
    return reduce_mean(square(tensor - mean), axis, keepdims, name=name)


def std(x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Return the standard deviation of ``x``, the root of ``var``, with derivative 0 where it is 0.

    Arguments, result and errors are those of ``var``.
    """
    return _root(var(x, axis, keepdims), name)


def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Return ``log(sum(exp(x)))`` along one or more axes, computed so that exp cannot overflow.

    Arguments, result and errors are those of ``var``.
    """
    tensor = as_tensor(x)
    axes = _axes(tensor, axis)
    if not axes:
        return identity(tensor, name=name)
    largest = stop_gradient(reduce_max(tensor, axes, keepdims=True))
    largest = where(is_finite(largest), largest, 0.0)
    total = log(reduce_sum(exp(tensor - largest), axes, keepdims=True)) + largest
    return identity(total, name=name) if keepdims else squeeze(total, axes, name=name)


def norm(
    x: Any,
    ord: float | str | None = None,
    axis: Axis = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the norm of vectors, or the Frobenius norm of matrices.

    Args:
        x: a tensor of any shape; float32 or float64.
        ord: for one axis the order p of ``sum(abs(x) ** p) ** (1 / p)``, which may be infinite; 0
            counts the elements that are not 0. For several axes None or ``"fro"``, the root of the
            sum of squares, as is None for one axis.
        axis: as in ``var``.
        keepdims: as in ``var``.

    Returns:
        A tensor of the dtype of ``x`` without the reduced axes. The derivative of a root at 0 is 0.

    Raises:
        UnsupportedOpError: ``ord`` is a matrix norm other than ``"fro"``.
        ShapeError: an axis does not exist or is named twice.
    """
    tensor = as_tensor(x)
    axes = _axes(tensor, axis)
    if isinstance(ord, str) and ord not in ("fro", "euclidean"):
        raise UnsupportedOpError(f"norm() has no order {ord!r}.", hint="Use a number or 'fro'.")
    if len(axes) > 1 and not isinstance(ord, str) and ord is not None:
        raise UnsupportedOpError(
            f"norm() of order {ord!r} is for one axis, got {len(axes)}.",
            hint="Give axis=, or ord='fro' for the root of the sum of squares.",
        )
    if ord is None or isinstance(ord, str) or ord == 2:
        return _root(reduce_sum(square(tensor), axes, keepdims), name)
    if ord == 0:
        counted = cast(not_equal(tensor, 0.0), tensor.dtype)
        return reduce_sum(counted, axes, keepdims, name=name)
    size = absolute(tensor)
    if ord == float("inf"):
        return reduce_max(size, axes, keepdims, name=name)
    if ord == float("-inf"):
        return reduce_min(size, axes, keepdims, name=name)
    if ord == 1:
        return reduce_sum(size, axes, keepdims, name=name)
    total = reduce_sum(pow(size, float(ord)), axes, keepdims)
    is_zero = equal(total, 0.0)
    return where(is_zero, 0.0, pow(where(is_zero, 1.0, total), 1.0 / ord), name=name)


def _axes(tensor: Tensor, axis: Axis) -> Sequence[int]:
    rank = tensor.spec.rank
    return sorted_axes(range(rank) if axis is None else axis, rank)


def _root(x: Tensor, name: str | None) -> Tensor:
    """Return the square root of ``x``, with derivative 0 instead of infinity at 0."""
    is_zero = equal(x, 0.0)
    return where(is_zero, 0.0, sqrt(where(is_zero, 1.0, x)), name=name)
