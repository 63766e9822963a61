"""``cumsum``: running sums along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.build import NUMBERS, add_node, as_tensor, expect_dtype, normalize_axis
from playgrad.ops.core.half import in_float32
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.cumsum import lower_cumsum
from playgrad.ops.reductions.reduce import expect_axes


def cumsum(
    x: Any,
    axis: int | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the running sum of ``x`` along an axis.

    Args:
        x: a tensor of any shape; float16, float32, float64, int32 or uint32.
        axis: the axis to add along, a negative one counted from the end; None adds all elements in
            row-major order.
        exclusive: leave each element itself out of its sum, so that the first sum is 0.
        reverse: add from the end of the axis.

    Returns:
        A tensor of the shape and dtype of ``x``, or with one dimension if ``axis`` is None.

    Raises:
        ShapeError: the axis does not exist.
        DTypeError: ``x`` is bool, uint8 or int8.
    """
    tensor = as_tensor(x)
    if axis is None:
        tensor, axis = reshape(tensor, (-1,)), 0
    attrs = {
        "axis": normalize_axis(axis, tensor.spec.rank),
        "exclusive": bool(exclusive),
        "reverse": bool(reverse),
    }
    return add_node(_CUMSUM, [tensor], attrs, name=name).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_dtype(inputs[0], "the tensor to add up", *NUMBERS)
    expect_axes(inputs[0], [attrs["axis"]])
    return [inputs[0]]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, axis = inputs[0], attrs["axis"]
    ordered = np.flip(x, axis) if attrs["reverse"] else x
    total = np.cumsum(ordered, axis, dtype=x.dtype)
    if attrs["exclusive"]:
        total = np.roll(total, 1, axis)
        total[(slice(None),) * axis + (slice(0, 1),)] = 0
    return [np.ascontiguousarray(np.flip(total, axis) if attrs["reverse"] else total)]


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    attrs = node.attrs
    return [cumsum(grads[0], attrs["axis"], attrs["exclusive"], not attrs["reverse"])]


def _attrs(axis: int, exclusive: bool = False, reverse: bool = False) -> dict[str, Any]:
    return {"axis": axis, "exclusive": exclusive, "reverse": reverse}


_CUMSUM = register(
    OpDef(
        name="cumsum",
        infer=_infer,
        reference=in_float32(_reference),
        gradient=_gradient,
        lower=lower_cumsum,
        samples=(
            Sample((floats(7, 5),), _attrs(0)),
            Sample((floats(7, 5),), _attrs(1, exclusive=True)),
            Sample((floats(3, 4, 5),), _attrs(1, reverse=True)),
            Sample((floats(9),), _attrs(0, exclusive=True, reverse=True)),
            Sample((integers(4, 6),), _attrs(1)),
            # So long that a GPU divides the lines into blocks.
            Sample((floats(2, 1030),), _attrs(1)),
            Sample((floats(1100, 3),), _attrs(0, exclusive=True, reverse=True)),
        ),
        invalid=(
            InvalidSample((floats(2, 3),), _attrs(2), ShapeError, "axis 2 does not exist"),
            InvalidSample((np.ones(3, bool),), _attrs(0), DTypeError, "not bool"),
        ),
    )
)
