"""``argmax`` and ``argmin``: the index of the largest or smallest element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import expand_dims, reshape
from playgrad.ops.core.build import NUMBERS, add_node, as_tensor, expect_dtype, normalize_axis
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.reduce import lower_argmax, lower_argmin
from playgrad.ops.reductions.reduce import expect_axes, reduced_shape


def argmax(
    x: Any, axis: int | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the index of the largest element, the first of equal ones.

    Args:
        x: a tensor; float16, float32, float64, int32 or uint32. NaN is larger than any number.
        axis: the axis to search; a negative one counts from the end. None for all elements: the
            result is then an index in the flattened tensor.
        keepdims: whether dimensions that are searched stay, with size 1.

    Returns:
        An int32 tensor of the shape of ``x`` without ``axis``, a scalar for None.

    Raises:
        ShapeError: the axis does not exist, or there are no elements to search.
        DTypeError: ``x`` is bool, uint8 or int8.
    """
    return _position(_ARGMAX, x, axis, keepdims, name)


def argmin(
    x: Any, axis: int | None = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Return the index of the smallest element, the first of equal ones.

    NaN is smaller than any number. Arguments, result and errors as in ``argmax``.
    """
    return _position(_ARGMIN, x, axis, keepdims, name)


def _position(op: OpDef, x: Any, axis: int | None, keepdims: bool, name: str | None) -> Tensor:
    tensor = as_tensor(x)
    rank = tensor.spec.rank
    searched = reshape(tensor, [-1]) if axis is None else tensor
    attrs = {"axis": 0 if axis is None else normalize_axis(axis, rank)}
    index = add_node(op, [searched], attrs, name=name).output
    if not keepdims:
        return index
    return reshape(index, [1] * rank) if axis is None else expand_dims(index, attrs["axis"])


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, axis = inputs[0], attrs["axis"]
    expect_dtype(x, "the tensor to search", *NUMBERS)
    expect_axes(x, [axis])
    if x.shape[axis] == 0:
        raise ShapeError(
            f"there is nothing to search along axis {axis} of size 0 in {shape_text(x.shape)}."
        )
    return [TensorSpec(reduced_shape(x.shape, [axis], False), "int32")]


_TIES = np.array([[1, 3, 3], [2, 2, 2], [-1, -1, 4]], np.float32)
_NANS = np.array([[1, np.nan, 3, np.nan], [np.inf, 2, -np.inf, 0]], np.float32)
_SAMPLES = (
    Sample((floats(7, 10),), {"axis": 1}),
    Sample((floats(7, 10),), {"axis": 0}),
    Sample((floats(3, 4, 5),), {"axis": 1}),
    Sample((_TIES,), {"axis": 1}),
    Sample((_NANS,), {"axis": 1}),
    Sample((floats(9),), {"axis": 0}),
    Sample((integers(4, 6),), {"axis": 1}),
)
_INVALID = (
    InvalidSample((floats(3),), {"axis": 1}, ShapeError, "axis 1 does not exist"),
    InvalidSample((floats(3, 0),), {"axis": 1}, ShapeError, "nothing to search"),
)


def _op(name: str, function: Callable[..., Any], lower: Callable[..., Any]) -> OpDef:
    return OpDef(
        name=name,
        infer=_infer,
        reference=lambda inputs, attrs: [
            np.asarray(function(inputs[0], axis=attrs["axis"]), dtype=np.int32)
        ],
        lower=lower,
        blocks_gradient=True,
        samples=_SAMPLES,
        invalid=_INVALID,
    )


_ARGMAX = register(_op("argmax", np.argmax, lower_argmax))
_ARGMIN = register(_op("argmin", np.argmin, lower_argmin))
