"""``argsort``, and ``sort`` and ``top_k``, which take elements in its order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.along_axis import take_along_axis
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.core.build import add_node, as_tensor, normalize_axis, whole
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.sort import lower_argsort


def argsort(x: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Tensor:
    """Return the indices that sort ``x`` along an axis.

    The order is stable: of equal elements, the one with the lower index comes first. NaN is larger
    than any number.

    Args:
        x: a tensor of at least one dimension and any dtype.
        axis: the axis that is sorted; a negative one counts from the end.
        descending: begin with the largest element.

    Returns:
        An int32 tensor of the shape of ``x``. It has no gradient.

    Raises:
        ShapeError: ``x`` has no such axis.
    """
    tensor = as_tensor(x)
    attrs = {
        "axis": normalize_axis(axis, tensor.spec.rank),
        "descending": bool(descending),
    }
    return add_node(_ARGSORT, [tensor], attrs, name=name).output


def sort(x: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> Tensor:
    """Return ``x`` with its elements in order along an axis.

    Args:
        x: a tensor of at least one dimension and any dtype. NaN is larger than any number.
        axis: the axis that is sorted; a negative one counts from the end.
        descending: begin with the largest element.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        ShapeError: ``x`` has no such axis.
    """
    tensor = as_tensor(x)
    return take_along_axis(tensor, argsort(tensor, axis, descending), axis, name=name)


def top_k(x: Any, k: int, sorted: bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the k largest elements along the last axis, and their indices.

    Args:
        x: a tensor of at least one dimension and any dtype. NaN is larger than any number.
        k: how many, at least 0 and at most the size of the last axis.
        sorted: as in Keras. The results are in descending order in either case; of equal elements,
            the one with the lower index comes first.

    Returns:
        Values and int32 indices, both of shape ``(*x.shape[:-1], k)``. The values have a gradient.

    Raises:
        ShapeError: ``x`` is a scalar, or k is negative or too large.
    """
    tensor = as_tensor(x)
    axis = normalize_axis(-1, tensor.spec.rank)
    count, size = whole(k, "k"), tensor.shape[axis]
    if count < 0 or (size is not None and count > size):
        raise ShapeError(
            f"top_k: k must lie in [0, {'size' if size is None else size}] for a tensor of shape "
            f"{shape_text(tensor.shape)}, got {count}."
        )
    order = argsort(tensor, axis, descending=True)
    indices = slice_(order, [0] * tensor.spec.rank, [-1] * axis + [count])
    return take_along_axis(tensor, indices, axis, name=name), indices


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, axis = inputs[0], attrs["axis"]
    if not 0 <= axis < x.rank:
        raise ShapeError(f"argsort: axis {axis} does not exist in {shape_text(x.shape)}.")
    return [TensorSpec(x.shape, "int32")]


def _argsort(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (x,), axis = inputs, attrs["axis"]
    if not attrs["descending"]:
        return [np.argsort(x, axis, kind="stable").astype(np.int32)]
    # Reversed before and after, so that the first of equal elements stays the first.
    order = np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    return [(x.shape[axis] - 1 - order).astype(np.int32)]


_SPECIAL = np.array([1, np.nan, -np.inf, 0.0, -0.0, np.inf, np.nan, -1, 1e-40, 0.0], np.float32)
_LIMITS = np.array([3, -(2**31), 2**31 - 1, 0, -1, 3], np.int32)


def _attrs(axis: int, descending: bool = False) -> dict[str, Any]:
    return {"axis": axis, "descending": descending}


_ARGSORT = register(
    OpDef(
        name="argsort",
        infer=_infer,
        reference=_argsort,
        lower=lower_argsort,
        blocks_gradient=True,
        samples=(
            Sample((floats(7),), _attrs(0)),
            Sample((floats(3, 10),), _attrs(1, True)),
            Sample((integers(3, 12, 2),), _attrs(1)),
            Sample((integers(3, 12, 2),), _attrs(1, True)),
            Sample((_SPECIAL,), _attrs(0)),
            Sample((_SPECIAL,), _attrs(0, True)),
            Sample((_LIMITS,), _attrs(0)),
            Sample((_LIMITS.astype(np.uint32),), _attrs(0, True)),
            Sample((floats(9) > 0,), _attrs(0)),
            Sample((integers(3, 30, high=256).astype(np.uint8),), _attrs(1, True)),
            Sample((integers(3, 30, low=-128, high=128).astype(np.int8),), _attrs(1, True)),
            Sample((integers(2, 300),), _attrs(1)),
            Sample((integers(1100, 2, high=400),), _attrs(0, True)),
            Sample((floats(1, 4),), _attrs(0)),
            Sample((floats(2, 0),), _attrs(1)),
            Sample((floats(0, 2),), _attrs(1)),
        ),
        invalid=(InvalidSample((floats(3),), _attrs(1), ShapeError, "axis 1 does not exist"),),
    )
)
