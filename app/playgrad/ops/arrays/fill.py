"""``fill``, ``ones_like``, ``zeros_like`` and ``size``: results that depend on shapes only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import converted
from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.graph import get_default_graph
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, lookup, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensor, one_or_more, whole
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.elementwise_kernel import lower_elementwise
from playgrad.ops.expression.expr import Const


def fill(
    shape: int | Sequence[int], value: float, dtype: Any = None, name: str | None = None
) -> Tensor:
    """Return a tensor whose elements are all ``value``.

    Args:
        shape: the shape of the result, known in full.
        value: a number that ``dtype`` can hold.
        dtype: the element type; None means float32.

    Raises:
        ShapeError: a dimension is negative or not a whole number.
        DTypeError: ``value`` does not fit ``dtype``, or there is no such type.
    """
    kind = dtype_of(dtype or "float32")
    converted(np.asarray(value), kind, f"fill of {value!r:.60}")
    attrs = {
        "shape": [whole(n, "a dimension") for n in one_or_more(shape)],
        "value": value,
        "dtype": kind.name,
    }
    return get_default_graph().add(_FILL, attrs=attrs, name=name).output


def ones_like(x: Any, name: str | None = None) -> Tensor:
    """Return a tensor of ones with the shape and dtype of ``x``."""
    return add_node(_ONES_LIKE, [as_tensor(x)], name=name).output


def zeros_like(x: Any, name: str | None = None) -> Tensor:
    """Return a tensor of zeros with the shape and dtype of ``x``."""
    return add_node(_ZEROS_LIKE, [as_tensor(x)], name=name).output


def size(x: Any, axes: Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Return the number of elements of ``x``, or the product of some of its dimensions.

    Args:
        x: a tensor of any shape and dtype.
        axes: the dimensions to multiply, counted from the front; None means all of them.

    Returns:
        An int32 scalar.

    Raises:
        ShapeError: ``x`` has no such axis.
    """
    tensor = as_tensor(x)
    chosen = range(tensor.spec.rank) if axes is None else axes
    return add_node(_SIZE, [tensor], {"axes": [int(axis) for axis in chosen]}, name=name).output


def _infer_fill(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    shape = tuple(attrs["shape"])
    if any(dim is not None and dim < 0 for dim in shape):
        raise ShapeError(f"fill: the dimensions must be ≥ 0, got {shape_text(shape)}.")
    return [TensorSpec(shape, dtype_of(attrs["dtype"]).name)]


def _lower_fill(request: KernelRequest) -> Lowering:
    return lower_elementwise(request, (Const(request.attrs["value"], request.attrs["dtype"]),))


_FILL = register(
    OpDef(
        name="fill",
        infer=_infer_fill,
        reference=lambda inputs, attrs: [
            np.full(tuple(attrs["shape"]), attrs["value"], dtype=attrs["dtype"])
        ],
        lower=_lower_fill,
        packed=True,
        blocks_gradient=True,
        samples=(
            Sample((), {"shape": [3, 5], "value": 0.25, "dtype": "float32"}),
            Sample((), {"shape": [], "value": -7, "dtype": "int32"}),
            Sample((), {"shape": [70], "value": True, "dtype": "bool"}),
            Sample((), {"shape": [7], "value": 200, "dtype": "uint8"}),
            Sample((), {"shape": [7], "value": -100, "dtype": "int8"}),
        ),
        invalid=(
            InvalidSample(
                (), {"shape": [2, -1], "value": 0, "dtype": "int32"}, ShapeError, "got (2, -1)"
            ),
            InvalidSample(
                (), {"shape": [2], "value": 0, "dtype": "int7"}, DTypeError, "no element type"
            ),
        ),
    )
)


def _register_fill_like(name: str, value: int) -> OpDef:
    def static_attrs(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
        return {"shape": list(inputs[0].shape), "value": value, "dtype": inputs[0].dtype}

    samples = (Sample((floats(3, 2),)), Sample((integers(4),)), Sample((floats(),)))
    return register_like(name, _FILL, 0, static_attrs, samples)


_ONES_LIKE = _register_fill_like("ones_like", 1)
_ZEROS_LIKE = _register_fill_like("zeros_like", 0)


def _count(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    shape = inputs[0].shape
    for axis in attrs["axes"]:
        if not 0 <= axis < len(shape):
            raise ShapeError(
                f"axis {axis} does not exist in a tensor of shape {shape_text(shape)}."
            )
    count = np.prod([shape[axis] or 0 for axis in attrs["axes"]], dtype=np.int64)
    return {"value": np.asarray(count, dtype=np.int32)}


_SIZE = register_like(
    "size",
    lookup("constant"),
    0,
    _count,
    samples=(
        Sample((floats(3, 4, 5),), {"axes": [0, 1, 2]}),
        Sample((floats(3, 4, 5),), {"axes": [0, 2]}),
        Sample((integers(),), {"axes": []}),
    ),
    invalid=(InvalidSample((floats(3),), {"axes": [1]}, ShapeError, "axis 1 does not exist"),),
)
