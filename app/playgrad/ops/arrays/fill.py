"""Tensors of one value, and the number of elements of a tensor: they depend on shapes only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import converted
from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.graph import get_default_graph
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.broadcast import Specialised
from playgrad.ops.core.build import add_node, as_tensor, one_or_more, whole
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.elementwise_kernel import lower_elementwise
from playgrad.ops.expression.expr import Const


def fill(shape: Sequence[int], value: float, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of ``shape`` with ``value`` everywhere; float32 unless ``dtype`` says otherwise."""
    kind = dtype_of(dtype or "float32")
    converted(np.asarray(value), kind, f"fill of {value!r:.60}")
    attrs = {
        "shape": [whole(n, "a dimension") for n in one_or_more(shape)],
        "value": value,
        "dtype": kind.name,
    }
    return get_default_graph().add(_FILL, attrs=attrs, name=name).output


def ones_like(x: Any, name: str | None = None) -> Tensor:
    """Ones, of the shape and dtype of ``x``."""
    return add_node(_ONES_LIKE, [as_tensor(x)], name=name).output


def zeros_like(x: Any, name: str | None = None) -> Tensor:
    """Zeros, of the shape and dtype of ``x``."""
    return add_node(_ZEROS_LIKE, [as_tensor(x)], name=name).output


def size(x: Any, axes: Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Number of elements of ``x``, or the product of its dimensions ``axes``: an int32 scalar."""
    tensor = as_tensor(x)
    chosen = range(tensor.spec.rank) if axes is None else axes
    return add_node(_SIZE, [tensor], {"axes": [int(axis) for axis in chosen]}, name=name).output


def _infer_fill(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    if any(dim < 0 for dim in attrs["shape"]):
        raise ShapeError(f"fill: the shape {shape_text(tuple(attrs['shape']))} is not fully known.")
    return [TensorSpec(tuple(attrs["shape"]), dtype_of(attrs["dtype"]).name)]


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
        blocks_gradient=True,
        samples=(
            Sample((), {"shape": [3, 5], "value": 0.25, "dtype": "float32"}),
            Sample((), {"shape": [], "value": -7, "dtype": "int32"}),
            Sample((), {"shape": [70], "value": True, "dtype": "bool"}),
        ),
        invalid=(
            InvalidSample(
                (),
                {"shape": [2, -1], "value": 0, "dtype": "int32"},
                ShapeError,
                "not fully known",
            ),
            InvalidSample(
                (), {"shape": [2], "value": 0, "dtype": "int7"}, DTypeError, "no element type"
            ),
        ),
    )
)


def _register_filled_like(name: str, value: int) -> OpDef:
    def specialise(inputs: Sequence[TensorSpec], attrs: Attrs) -> Specialised:
        like = inputs[0]
        return "fill", {"shape": list(like.shape), "value": value, "dtype": like.dtype}, ()

    return register(
        OpDef(
            name=name,
            infer=lambda inputs, attrs: [inputs[0]],
            reference=lambda inputs, attrs: [np.full_like(inputs[0], value)],
            blocks_gradient=True,
            specialise=specialise,
            samples=(Sample((floats(3, 2),)), Sample((integers(4),)), Sample((floats(),))),
        )
    )


_ONES_LIKE = _register_filled_like("ones_like", 1)
_ZEROS_LIKE = _register_filled_like("zeros_like", 0)


def _infer_size(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    for axis in attrs["axes"]:
        if not 0 <= axis < inputs[0].rank:
            raise ShapeError(
                f"axis {axis} does not exist in a tensor of shape {shape_text(inputs[0].shape)}."
            )
    return [TensorSpec((), "int32")]


def _count(shape: Sequence[int | None], axes: Sequence[int]) -> Array:
    return np.asarray(np.prod([shape[axis] or 0 for axis in axes], dtype=np.int64), dtype=np.int32)


_SIZE = register(
    OpDef(
        name="size",
        infer=_infer_size,
        reference=lambda inputs, attrs: [_count(inputs[0].shape, attrs["axes"])],
        blocks_gradient=True,
        specialise=lambda inputs, attrs: (
            "constant",
            {"value": _count(inputs[0].shape, attrs["axes"])},
            (),
        ),
        samples=(
            Sample((floats(3, 4, 5),), {"axes": [0, 1, 2]}),
            Sample((floats(3, 4, 5),), {"axes": [0, 2]}),
            Sample((integers(),), {"axes": []}),
        ),
        invalid=(InvalidSample((floats(3),), {"axes": [1]}, ShapeError, "axis 1 does not exist"),),
    )
)
