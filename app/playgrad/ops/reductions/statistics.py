"""Variance, standard deviation, norms and logsumexp, made of other operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from playgrad.errors import UnsupportedOpError
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.pad_slice import pad_constant
from playgrad.ops.arrays.shape import identity, squeeze, stop_gradient
from playgrad.ops.core.build import as_tensor, sorted_axes
from playgrad.ops.elementwise.definitions import (
    absolute,
    cast,
    equal,
    exp,
    greater,
    is_finite,
    is_inf,
    less,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    not_equal,
    pow,
    rsqrt,
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
    return reduce_mean(square(_centred(as_tensor(x), axis)), axis, keepdims, name=name)


def std(x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Return the standard deviation of ``x``, the root of ``var``, with derivative 0 where it is 0.

    Arguments, result and errors as in ``var``.
    """
    centred = _centred(as_tensor(x), axis)
    axes = _axes(centred, axis)
    if not axes:
        return identity(absolute(centred), name=name)
    return _root_of_squares(centred, axes, keepdims, reduce_mean, name)


def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None) -> Tensor:
    """Return ``log(sum(exp(x)))`` along one or more axes, computed so that exp cannot overflow.

    Arguments, result and errors as in ``var``.
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
    if not axes:
        return identity(absolute(tensor), name=name)
    if ord is None or isinstance(ord, str) or ord == 2:
        return _root_of_squares(tensor, axes, keepdims, reduce_sum, name)
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
    return _root_of_powers(size, float(ord), axes, keepdims, name)


def _axes(tensor: Tensor, axis: Axis) -> Sequence[int]:
    rank = tensor.spec.rank
    return sorted_axes(range(rank) if axis is None else axis, rank)


def _centred(x: Tensor, axis: Axis) -> Tensor:
    return x - reduce_mean(x, axis, keepdims=True)


def scale_of(sizes: Tensor) -> Tensor:
    """Return what to divide numbers of these sizes by, so that their powers are in range: 1 where
    they are anyway."""
    least, most = _ORDINARY
    ordinary = logical_and(greater(sizes, least), less(sizes, most))
    kept = logical_or(ordinary, logical_or(equal(sizes, 0.0), logical_not(is_finite(sizes))))
    return stop_gradient(where(kept, 1.0, sizes))


_ORDINARY = (1e-12, 1e12)
"""Sizes of numbers whose squares, and the derivatives of these, are in range in float32."""


def _scaled(x: Tensor, axes: Sequence[int], at_least: float = 0.0) -> tuple[Tensor, Tensor]:
    """Return ``x`` divided along ``axes`` so that squares are in range, and the divisor.

    The divisor has the shape of ``x`` with the axes kept, and counts as a constant for gradients.
    """
    divisor = maximum(scale_of(_extreme(reduce_max, absolute(x), axes, 0.0)), at_least)
    return x / divisor, divisor


def _extreme(
    reduce: Callable[..., Tensor], x: Tensor, axes: Sequence[int], of_none: float
) -> Tensor:
    """Return the largest or smallest elements along ``axes``; ``of_none`` if there are none."""
    if any(x.shape[axis] in (None, 0) for axis in axes):
        ends = [(0, int(axis in axes)) for axis in range(x.spec.rank)]
        x = pad_constant(x, ends, of_none)
    return reduce(x, axes, keepdims=True)


def unit_vectors(x: Tensor, axis: int, least: float) -> Tensor:
    """Return ``x`` divided by the root of its squares' sum along ``axis``, which is at least
    ``least``: the derivative at a vector of zeros is that of a division by a constant."""
    scaled, divisor = _scaled(x, [axis % x.spec.rank], at_least=1.0)
    squares = reduce_sum(square(scaled), axis, keepdims=True)
    return scaled * rsqrt(maximum(squares, least / divisor / divisor))


def inverse_deviation(variance: Tensor, epsilon: float) -> Tensor:
    """Return ``1 / sqrt(variance + epsilon)``, or NaN where the variance is infinite.

    There squares are out of range. A factor of 0 would hide that.
    """
    return rsqrt(where(is_inf(variance), float("nan"), variance) + epsilon)


def _root_of_squares(
    x: Tensor, axes: Sequence[int], keepdims: bool, total: Callable[..., Tensor], name: str | None
) -> Tensor:
    """Return the root of the sum, or mean, of squares, with derivative 0 instead of infinity at
    0."""
    scaled, divisor = _scaled(x, axes)
    squares = total(square(scaled), axes, keepdims=True)
    is_zero = equal(squares, 0.0)
    root = where(is_zero, 0.0, sqrt(where(is_zero, 1.0, squares)) * divisor)
    return identity(root, name=name) if keepdims else squeeze(root, axes, name=name)


def _root_of_powers(
    sizes: Tensor, order: float, axes: Sequence[int], keepdims: bool, name: str | None
) -> Tensor:
    """Return ``sum(sizes ** order) ** (1 / order)``, with derivatives 0 instead of infinity at
    0."""
    of_none, extreme = (0.0, reduce_max) if order > 0 else (float("inf"), reduce_min)
    decisive = stop_gradient(_extreme(extreme, sizes, axes, of_none))
    is_zero = equal(decisive, 0.0)  # then so is the norm
    divisor = where(logical_or(is_zero, is_inf(decisive)), 1.0, decisive)
    ratios = sizes / divisor
    is_extreme = logical_or(is_zero, logical_or(equal(ratios, 0.0), is_inf(ratios)))
    powers = pow(where(is_extreme, 1.0, ratios), order)
    powers = where(is_extreme, stop_gradient(pow(ratios, order)), powers)
    total = reduce_sum(powers, axes, keepdims=True)
    root = where(is_zero, 0.0, pow(where(is_zero, 1.0, total), 1.0 / order) * divisor)
    return identity(root, name=name) if keepdims else squeeze(root, axes, name=name)
