"""``take`` and ``gather_nd``: indexing with tensors of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.fill import size
from playgrad.ops.arrays.gather import as_indices, gather
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.merge import merge_axes
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.build import as_tensor, normalize_axis
from playgrad.ops.elementwise.definitions import (
    add,
    greater_equal,
    less,
    logical_and,
    mul,
    where,
)


def take(x: Any, indices: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Return slices of ``x`` by their index along an axis, as ``numpy.take`` does.

    It is ``gather`` with negative indices, which count from the end.

    Args:
        x: a tensor of at least one dimension and any dtype.
        indices: indices of any shape, less than the size of ``axis``; int32, uint32 or uint8.
        axis: the axis that is indexed; a negative one counts from the end. None indexes the
            flattened tensor.

    Returns:
        A tensor of the dtype of ``x`` and its shape with ``axis`` replaced by the dimensions of
        ``indices``.

    Raises:
        ShapeError: ``x`` has no such axis.
        DTypeError: ``indices`` are not integers.
        DataError: indices lie outside the axis, in a run.
    """
    tensor = as_tensor(x)
    if axis is None:
        tensor, axis = reshape(tensor, [-1]), 0
    axis = normalize_axis(axis, tensor.spec.rank)
    places = as_indices(indices, tensor)
    if not (places.node.op.name == "constant" and np.all(places.node.attrs["value"] >= 0)):
        places = where(less(places, 0), add(places, size(tensor, [axis])), places)
    return gather(tensor, places, axis, name=name)


def gather_nd(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Return slices of a tensor by the indices of their first axes, as TensorFlow's does.

    With indices of shape (n, 2), ``result[i]`` is ``params[indices[i, 0], indices[i, 1]]``.

    Args:
        params: a tensor of any dtype.
        indices: shape (..., k), for the first k axes of ``params``; int32, uint32 or uint8. Each
            is at least 0 and less than the size of its axis.

    Returns:
        A tensor of shape ``indices.shape[:-1] + params.shape[k:]``.

    Raises:
        ShapeError: ``params`` has less than k axes, k is unknown or 0, or the sizes of axes 1 to
            k - 1 are unknown.
        DTypeError: ``indices`` are not integers.
        DataError: indices lie outside ``params``, in a run.
    """
    table = as_tensor(params)
    places = as_indices(indices, table)
    count = places.shape[-1] if places.spec.rank else None
    if not count or count > table.spec.rank or None in table.shape[1:count]:
        raise ShapeError(
            f"gather_nd: indices of shape {shape_text(places.shape)} do not fit a tensor of shape "
            f"{shape_text(table.shape)}: their last dimension is the number of axes that they "
            "index, whose sizes must be known."
        )
    flat = getitem(places, (..., 0))
    inside = greater_equal(flat, 0)
    for axis in range(1, count):
        dim = table.shape[axis]
        index = getitem(places, (..., axis))
        inside = logical_and(inside, logical_and(greater_equal(index, 0), less(index, dim)))
        flat = add(mul(flat, dim), index)
        table = merge_axes(table, 0)
    # An index that is outside its own axis must not become the index of another row.
    return gather(table, where(inside, flat, -1), name=name)
