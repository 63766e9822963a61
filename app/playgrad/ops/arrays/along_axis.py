"""``take_along_axis`` and its gradient: an index for each element of the result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.gather import as_indices, expect_inside, inside_axis
from playgrad.ops.core.build import NUMBERS, add_node, as_tensor, expect_dtype, normalize_axis
from playgrad.ops.core.half import in_float32
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.gather import lower_scatter_along_axis, lower_take_along_axis


def take_along_axis(x: Any, indices: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """Return elements of ``x`` by their index along an axis, with an index for each.

    For ``axis=1`` and three axes, ``result[i, j, k]`` is ``x[i, indices[i, j, k], k]``. The results
    of ``argsort`` and ``top_k`` are such indices.

    Args:
        x: a tensor of at least one dimension and any dtype.
        indices: indices in [0, size of ``axis``), of the shape of ``x`` except in ``axis``; int32,
            uint32 or uint8.
        axis: the axis that is indexed; a negative one counts from the end.

    Returns:
        A tensor of the shape of ``indices`` and the dtype of ``x``.

    Raises:
        ShapeError: ``x`` has no such axis, or the shapes differ in another one.
        DTypeError: ``indices`` are not integers.
        DataError: indices lie outside the axis, in a run.
    """
    tensor = as_tensor(x)
    attrs = {"axis": normalize_axis(axis, tensor.spec.rank)}
    inputs = [tensor, as_indices(indices, tensor)]
    return add_node(_TAKE, inputs, attrs, name=name).output


def _expect_equal_but(axis: int, x: TensorSpec, indices: TensorSpec) -> None:
    """Raise an error unless the shapes are equal except in ``axis``, and the indices int32."""
    expect_dtype(indices, "the indices of take_along_axis", "int32")
    if not 0 <= axis < x.rank:
        raise ShapeError(f"axis {axis} does not exist in a tensor of shape {shape_text(x.shape)}.")
    if x.rank != indices.rank or any(
        i != axis and None not in (m, n) and m != n
        for i, (m, n) in enumerate(zip(x.shape, indices.shape, strict=True))
    ):
        raise ShapeError(
            f"take_along_axis: the indices {shape_text(indices.shape)} must have the shape "
            f"{shape_text(x.shape)}, except in axis {axis}."
        )


def _infer_take(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, indices = inputs
    _expect_equal_but(attrs["axis"], x, indices)
    return [TensorSpec(indices.shape, x.dtype)]


def _take(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, indices = inputs
    expect_inside(indices, x.shape[attrs["axis"]])
    return [np.take_along_axis(x, indices, attrs["axis"])]


def _take_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    x, indices = node.inputs
    return [add_node(_SCATTER_LIKE, [grads[0], indices, x], node.attrs).output, None]


_TAKE = register(
    OpDef(
        name="take_along_axis",
        infer=_infer_take,
        reference=_take,
        gradient=_take_gradient,
        checked=(1,),
        check=inside_axis(lambda inputs, attrs: inputs[0].shape[attrs["axis"]]),
        lower=lower_take_along_axis,
        packed=True,
        samples=(
            Sample((floats(9), integers(4)), {"axis": 0}, differentiable=(0,)),
            Sample((floats(3, 9), integers(3, 4)), {"axis": 1}, differentiable=(0,)),
            Sample((floats(2, 9, 3), integers(2, 11, 3)), {"axis": 1}, differentiable=(0,)),
            Sample((integers(9, 2), integers(3, 2)), {"axis": 0}),
            Sample((np.arange(27, dtype=np.uint8).reshape(3, 9), integers(3, 5)), {"axis": 1}),
            Sample((floats(3, 9) > 0, integers(3, 5)), {"axis": 1}),
            Sample((floats(3, 9), integers(3, 0)), {"axis": 1}, differentiable=(0,)),
        ),
        invalid=(
            InvalidSample(
                (floats(3, 9), integers(2, 4)), {"axis": 1}, ShapeError, "except in axis 1"
            ),
            InvalidSample((floats(3), floats(3)), {"axis": 0}, DTypeError, "not float32"),
            InvalidSample((floats(3), integers(3)), {"axis": 1}, ShapeError, "axis 1 does not"),
        ),
    )
)


def _infer_scatter(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    updates, indices = inputs
    axis = attrs["axis"]
    _expect_equal_but(axis, updates, indices)
    expect_dtype(updates, "the updates", *NUMBERS)
    if None not in (m := updates.shape[axis], n := indices.shape[axis]) and m != n:
        raise ShapeError(
            f"updates of shape {shape_text(updates.shape)} need an index each, but the indices "
            f"have the shape {shape_text(indices.shape)}."
        )
    shape = (*updates.shape[:axis], attrs["size"], *updates.shape[axis + 1 :])
    return [TensorSpec(shape, updates.dtype)]


def _scatter(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    updates, indices = inputs
    axis, size = attrs["axis"], attrs["size"]
    expect_inside(indices, size)
    result = np.zeros((*updates.shape[:axis], size, *updates.shape[axis + 1 :]), updates.dtype)
    places: list[Any] = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    np.add.at(result, tuple(places), updates)
    return [result]


def _scatter_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [take_along_axis(grads[0], node.inputs[1], node.attrs["axis"]), None]


_SCATTER = register(
    OpDef(
        name="scatter_along_axis",
        infer=_infer_scatter,
        reference=in_float32(_scatter),
        gradient=_scatter_gradient,
        checked=(1,),
        check=inside_axis(lambda inputs, attrs: attrs["size"]),
        lower=lower_scatter_along_axis,
        epilogue=True,
        samples=(
            Sample((floats(4), integers(4)), {"axis": 0, "size": 9}, differentiable=(0,)),
            Sample(
                (floats(2, 11, 3), integers(2, 11, 3)), {"axis": 1, "size": 9}, differentiable=(0,)
            ),
            Sample((integers(3, 4), integers(3, 4)), {"axis": 1, "size": 9}),
            # So many that a GPU sorts the indices first.
            Sample(
                (floats(2, 150, 3), integers(2, 150, 3)),
                {"axis": 1, "size": 300},
                differentiable=(0,),
            ),
        ),
        invalid=(
            InvalidSample(
                (floats(3), integers(4, 1)), {"axis": 0, "size": 9}, ShapeError, "except in axis 0"
            ),
            InvalidSample(
                (floats(3), integers(4)), {"axis": 0, "size": 9}, ShapeError, "an index each"
            ),
        ),
    )
)
_SCATTER_LIKE = register_like(
    "scatter_along_axis_like",
    _SCATTER,
    2,
    lambda inputs, attrs: {**attrs, "size": inputs[2].shape[attrs["axis"]]},
    samples=(Sample((floats(2, 3), integers(2, 3), floats(2, 9)), {"axis": 1}),),
)
