"""``tile`` and ``repeat``: a broadcast along new axes, which are merged with the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, Sample
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.broadcast import BROADCAST_TO
from playgrad.ops.arrays.merge import merge_axes
from playgrad.ops.arrays.shape import expand_dims, identity, reshape
from playgrad.ops.arrays.take import take
from playgrad.ops.core.build import add_node, as_tensor, normalize_axis, one_or_more, whole
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers


def tile(x: Any, repeats: int | Sequence[int], name: str | None = None) -> Tensor:
    """Return ``x`` repeated as a whole along each axis, as ``numpy.tile`` does.

    Args:
        x: a tensor of any shape and dtype.
        repeats: how often along each axis, at least 0. A shorter list belongs to the last axes;
            a longer one adds axes in front.

    Returns:
        A tensor, the dimensions of ``x`` times ``repeats``.

    Raises:
        ShapeError: a number is negative or not whole.
    """
    tensor = as_tensor(x)
    counts = [_count(n) for n in one_or_more(repeats)]
    rank = max(len(counts), tensor.spec.rank)
    counts = [1] * (rank - len(counts)) + counts
    if rank > tensor.spec.rank:
        tensor = expand_dims(tensor, range(rank - tensor.spec.rank))
    axes = [axis for axis, count in enumerate(counts) if count != 1]
    if not axes:
        return identity(tensor, name=name)
    # (a, b) becomes (1, a, 1, b), then (r, a, s, b), then (r * a, s * b).
    places = [axis + before for before, axis in enumerate(axes)]
    copies = _broadcast_axes(expand_dims(tensor, places), places, [counts[axis] for axis in axes])
    return _merged(copies, axes, name)


def repeat(
    x: Any, repeats: int | Sequence[int], axis: int | None = None, name: str | None = None
) -> Tensor:
    """Return ``x`` with each element repeated along an axis, as ``numpy.repeat`` does.

    Args:
        x: a tensor of any shape and dtype.
        repeats: how often, at least 0: one number, or one for each index along ``axis``.
        axis: the axis; a negative one counts from the end. None flattens ``x`` first.

    Returns:
        A tensor of the shape of ``x``, whose dimension ``axis`` is the sum of the repeats.

    Raises:
        ShapeError: a number is negative or not whole, there is no such axis, or the numbers are
            not as many as the size of ``axis``, or that size is unknown.
    """
    tensor = as_tensor(x)
    if axis is None:
        tensor, axis = reshape(tensor, [-1]) if tensor.spec.rank != 1 else tensor, 0
    axis = normalize_axis(axis, tensor.spec.rank)
    counts = [_count(n) for n in one_or_more(repeats)]
    if len(counts) == 1:
        copies = expand_dims(tensor, axis + 1)
        return _merged(_broadcast_axes(copies, [axis + 1], counts), [axis], name)
    if tensor.shape[axis] != len(counts):
        raise ShapeError(
            f"repeat: {len(counts)} repeats do not fit axis {axis} of the shape "
            f"{shape_text(tensor.shape)}."
        )
    return take(tensor, np.repeat(np.arange(len(counts), dtype=np.int32), counts), axis, name)


def _count(value: Any) -> int:
    count = whole(value, "a number of repeats")
    if count < 0:
        raise ShapeError(f"a number of repeats must be ≥ 0, got {count}.")
    return count


def _merged(x: Tensor, axes: Sequence[int], name: str | None) -> Tensor:
    """Return ``x`` with each of ``axes``, sorted and numbered as in the result, merged with the
    next."""
    for axis in axes:
        x = merge_axes(x, axis, name if axis == axes[-1] else None)
    return x


def _broadcast_axes(x: Tensor, axes: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Return ``x`` with its ``axes`` of size 1 broadcast to ``sizes``."""
    return add_node(_BROADCAST_AXES, [x], {"axes": list(axes), "sizes": list(sizes)}).output


def _broadcast_shape(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    shape = list(inputs[0].shape)
    for axis, size in zip(attrs["axes"], attrs["sizes"], strict=True):
        shape[axis] = size
    return {"shape": shape}


_BROADCAST_AXES = register_like(
    "broadcast_axes",
    BROADCAST_TO,
    1,
    _broadcast_shape,
    samples=(
        Sample((floats(1, 3, 1),), {"axes": [0, 2], "sizes": [4, 2]}),
        Sample((integers(2, 1),), {"axes": [1], "sizes": [0]}),
    ),
    invalid=(
        InvalidSample(
            (floats(2, 3),), {"axes": [0], "sizes": [4]}, ShapeError, "(2, 3) does not broadcast"
        ),
    ),
)
