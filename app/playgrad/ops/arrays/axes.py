"""Axes in another order or direction: ``flip``, ``roll``, ``moveaxis``, ``swapaxes``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.shape import identity, reshape, reshape_like
from playgrad.ops.arrays.strided_slice import strided_slice
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.core.build import (
    add_node,
    as_tensor,
    normalize_axis,
    one_or_more,
    sorted_axes,
    whole,
)
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.slices import lower_roll


def flip(x: Any, axis: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` with its elements in reverse order along axes.

    Args:
        x: a tensor of any shape and dtype.
        axis: the axes to reverse, one or several; None means all.

    Raises:
        ShapeError: ``x`` has no such axis.
    """
    tensor = as_tensor(x)
    rank = tensor.spec.rank
    axes = list(range(rank)) if axis is None else sorted_axes(axis, rank)
    if not axes:
        return identity(tensor, name=name)
    slices = [[None, None, -1 if i in axes else 1] for i in range(rank)]
    return strided_slice(tensor, slices, name=name)


def roll(
    x: Any,
    shift: int | Sequence[int],
    axis: int | Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Return ``x`` with its elements moved along axes; past one end they enter at the other.

    Args:
        x: a tensor of any shape and dtype.
        shift: by how many places, towards higher indices; one number, or one for each of ``axis``.
        axis: one axis or several. None moves the elements of the flattened tensor.

    Returns:
        A tensor of the shape of ``x``.

    Raises:
        ShapeError: ``x`` has no such axis, or ``shift`` and ``axis`` differ in length.
    """
    tensor = as_tensor(x)
    if axis is None:
        return reshape_like(roll(reshape(tensor, [-1]), shift, 0), tensor, name=name)
    axes = [normalize_axis(i, tensor.spec.rank) for i in one_or_more(axis)]
    shifts = [whole(n, "a shift") for n in one_or_more(shift)]
    if len(shifts) not in (1, len(axes)):
        raise ShapeError(f"roll: {len(shifts)} shifts do not fit {len(axes)} axes.")
    total = [0] * tensor.spec.rank
    for i, n in zip(axes, shifts * (len(axes) // len(shifts)), strict=True):
        total[i] += n
    return add_node(_ROLL, [tensor], {"shift": total}, name=name).output


def moveaxis(
    x: Any,
    source: int | Sequence[int],
    destination: int | Sequence[int],
    name: str | None = None,
) -> Tensor:
    """Return ``x`` with axes moved to other positions; the others keep their order.

    Args:
        x: a tensor of any shape and dtype.
        source: the axes to move, one or several.
        destination: the position of each of them in the result.

    Raises:
        ShapeError: an axis does not exist or occurs twice, or the two differ in length.
    """
    tensor = as_tensor(x)
    rank = tensor.spec.rank
    moved, places = (
        [normalize_axis(i, rank) for i in one_or_more(axes)] for axes in (source, destination)
    )
    if len(moved) != len(places) or len(set(moved)) < len(moved) or len(set(places)) < len(places):
        raise ShapeError(f"moveaxis: cannot move the axes {moved} to {places}.")
    perm = [i for i in range(rank) if i not in moved]
    for place, i in sorted(zip(places, moved, strict=True)):
        perm.insert(place, i)
    return transpose(tensor, perm, name=name)


def swapaxes(x: Any, axis1: int, axis2: int, name: str | None = None) -> Tensor:
    """Return ``x`` with two axes exchanged.

    Raises:
        ShapeError: ``x`` has no such axis.
    """
    tensor = as_tensor(x)
    perm = list(range(tensor.spec.rank))
    i, j = (normalize_axis(axis, tensor.spec.rank) for axis in (axis1, axis2))
    perm[i], perm[j] = j, i
    return transpose(tensor, perm, name=name)


def _infer_roll(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    if len(attrs["shift"]) != inputs[0].rank:
        raise ShapeError(
            f"roll: expected one shift for each dimension of the shape "
            f"{shape_text(inputs[0].shape)}, got {list(attrs['shift'])}."
        )
    return [inputs[0]]


def _roll_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    return [add_node(_ROLL, [grads[0]], {"shift": [-n for n in node.attrs["shift"]]}).output]


_ROLL = register(
    OpDef(
        name="roll",
        infer=_infer_roll,
        reference=lambda inputs, attrs: [
            np.roll(inputs[0], tuple(attrs["shift"]), tuple(range(inputs[0].ndim)))
        ],
        gradient=_roll_gradient,
        lower=lower_roll,
        samples=(
            Sample((floats(7),), {"shift": [2]}),
            Sample((floats(3, 4, 5),), {"shift": [0, -9, 1]}),
            Sample((integers(4, 3),), {"shift": [3, 0]}),
            Sample((np.arange(7, dtype=np.uint8),), {"shift": [2]}),
            Sample((floats(0, 3),), {"shift": [3, 1]}),
            Sample((floats(3, 0),), {"shift": [1, 1]}),
        ),
        invalid=(InvalidSample((floats(3, 4),), {"shift": [1]}, ShapeError, "got [1]"),),
    )
)
