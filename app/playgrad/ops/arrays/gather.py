"""``gather``, and ``scatter_add``, whose operation is its gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import (
    NUMBERS,
    add_node,
    as_tensor,
    as_tensors,
    expect_dtype,
    normalize_axis,
)
from playgrad.ops.core.half import in_float32
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.core.segments import reduce_segments, sorted_problem
from playgrad.ops.elementwise.definitions import add, cast
from playgrad.ops.lowering.gather import lower_gather, lower_scatter_add


def gather(params: Any, indices: Any, axis: int = 0, name: str | None = None) -> Tensor:
    """Return slices of a tensor by their index along an axis: ``params[indices]`` for axis 0.

    Args:
        params: a tensor of at least one dimension and any dtype.
        indices: indices of any shape, at least 0 and less than the size of ``axis``; int32, uint32
            or uint8.
        axis: the axis of ``params`` that is indexed; a negative one counts from the end.

    Returns:
        A tensor of the dtype of ``params`` and its shape with ``axis`` replaced by the dimensions
        of ``indices``.

    Raises:
        ShapeError: ``params`` has no such axis.
        DTypeError: ``indices`` are not integers.
        FeedError: indices that were fed lie outside the axis.
        DataError: computed indices lie outside the axis, in a run.
    """
    table = as_tensor(params)
    if table.spec.rank == 0:
        raise ShapeError("gather: params is a scalar, which has no rows.")
    attrs = {"axis": normalize_axis(axis, table.spec.rank)}
    return add_node(_GATHER, [table, as_indices(indices, table)], attrs, name=name).output


def scatter_add(
    x: Any, indices: Any, updates: Any, axis: int = 0, name: str | None = None
) -> Tensor:
    """Return ``x`` with ``updates`` added to its slices: ``x[indices] += updates`` for axis 0.

    Updates of the same index are summed, in a fixed order.

    Args:
        x: a tensor of at least one dimension; float16, float32, float64, int32 or uint32.
        indices: indices of any shape, at least 0 and less than the size of ``axis``; int32, uint32
            or uint8.
        updates: a tensor of the dtype of ``x`` and the shape of ``gather(x, indices, axis)``.
        axis: the axis of ``x`` that is indexed; a negative one counts from the end.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        ShapeError: ``x`` has no such axis, or ``updates`` have another shape.
        DTypeError: ``indices`` are not integers, or the dtypes differ.
        FeedError: indices that were fed lie outside the axis.
        DataError: computed indices lie outside the axis, in a run.
    """
    tensor, changes = as_tensors(x, updates)
    attrs = {"axis": normalize_axis(axis, tensor.spec.rank)}
    inputs = [changes, as_indices(indices, tensor), tensor]
    return add(tensor, add_node(_SCATTER_ADD_LIKE, inputs, attrs).output, name=name)


def as_indices(indices: Any, table: Tensor | None = None) -> Tensor:
    """Return ``indices`` as a tensor of the graph of ``table``; other integers become int32."""
    tensor = as_tensor(indices, table.graph if table is not None else None)
    return cast(tensor, "int32") if tensor.dtype in ("uint8", "uint32") else tensor


def outside(what: str, array: Array, count: int) -> str | None:
    """Return an error text for the first element of ``array`` outside [0, count), or None.

    The text calls the array ``what``.
    """
    wrong = np.flatnonzero((array < 0) | (array >= count))
    if not wrong.size:
        return None
    first = int(wrong[0])
    place = f" at position {first}" if array.ndim else ""
    return f"{what} must lie in [0, {count}), but there is {array.reshape(-1)[first]}{place}."


# gather


def _infer_gather(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    params, indices = inputs
    axis = attrs.get("axis", 0)
    if not 0 <= axis < params.rank:
        raise ShapeError(f"gather: axis {axis} does not exist in {shape_text(params.shape)}.")
    expect_dtype(indices, "the indices of gather", "int32")
    shape = params.shape[:axis] + indices.shape + params.shape[axis + 1 :]
    return [TensorSpec(shape, params.dtype)]


def inside_axis(
    size: Callable[[Sequence[TensorSpec], Attrs], int | None],
) -> Callable[[Sequence[Array], Sequence[TensorSpec], Attrs], str | None]:
    """Return the ``check`` of an op whose indices must lie in [0, ``size`` of its specs)."""

    def check(arrays: Sequence[Array], inputs: Sequence[TensorSpec], attrs: Attrs) -> str | None:
        count = size(inputs, attrs)
        return None if count is None else outside("indices", arrays[0], count)

    return check


def expect_inside(indices: Array, size: int) -> None:
    """Raise DataError unless all ``indices`` lie in [0, size)."""
    # Read as unsigned, negative indices are beyond the end as well.
    if indices.size and np.maximum.reduce(indices.view(np.uint32), axis=None) >= size:
        raise DataError(outside("indices", indices, size) or "")


def _gather(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    params, indices = inputs
    axis = attrs.get("axis", 0)
    expect_inside(indices, params.shape[axis])
    return [params.take(indices, axis)]


def _gather_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    params, indices = node.inputs
    attrs = {"axis": node.attrs.get("axis", 0)}
    return [add_node(_SCATTER_ADD_LIKE, [grads[0], indices, params], attrs).output, None]


_GATHER = register(
    OpDef(
        name="gather",
        infer=_infer_gather,
        reference=_gather,
        gradient=_gather_gradient,
        lower=lower_gather,
        epilogue=True,
        packed=True,
        checked=(1,),
        check=inside_axis(lambda inputs, attrs: inputs[0].shape[attrs.get("axis", 0)]),
        samples=(
            Sample((floats(9, 5), integers(4)), differentiable=(0,)),
            Sample((floats(9), integers(2, 3)), differentiable=(0,)),
            Sample((floats(9, 2, 3), np.array(7, np.int32)), differentiable=(0,)),
            Sample((np.arange(90, dtype=np.uint8).reshape(9, 10), integers(5))),
            Sample((np.arange(252, dtype=np.uint8).reshape(9, 28), integers(5))),
            Sample((np.arange(9, dtype=np.uint8) * 3, integers(7))),
            Sample((np.arange(-4, 5, dtype=np.int8) * 3, integers(7))),
            Sample((np.arange(-45, 45, dtype=np.int8).reshape(9, 10), integers(5))),
            Sample((integers(9, 3), integers(4))),
            Sample((floats(9, 3).astype(np.float16), integers(5)), differentiable=()),
            Sample((floats(9, 4).astype(np.float16), integers(5)), differentiable=()),
            Sample((floats(2, 9, 3), integers(2, 3)), {"axis": 1}, differentiable=(0,)),
            Sample((floats(4, 9), integers(5)), {"axis": 1}, differentiable=(0,)),
            Sample((np.arange(90, dtype=np.uint8).reshape(2, 9, 5), integers(4)), {"axis": 1}),
            Sample((np.arange(72, dtype=np.uint8).reshape(2, 9, 4), integers(4)), {"axis": 1}),
            Sample((floats(4, 9), integers(0)), {"axis": 1}, differentiable=(0,)),
            Sample((floats(0, 9), integers(3)), {"axis": 1}, differentiable=(0,)),
        ),
        invalid=(
            InvalidSample((floats(), integers(2)), {}, ShapeError, "axis 0 does not exist in ()"),
            InvalidSample((floats(3), integers(2)), {"axis": 1}, ShapeError, "axis 1 does not"),
            InvalidSample((floats(3), floats(2)), {}, DTypeError, "must be int32, not float32"),
        ),
    )
)


# scatter_add, the gradient of gather

_MANY = (np.arange(150, dtype=np.int32) * 37) % 29  # five of each, and many rows without any

_IN_ORDER = np.array([0, 0, 2, 5, 5, 5], np.int32)


def infer_segments(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    updates, indices = inputs
    axis = attrs.get("axis", 0)
    middle: Shape = updates.shape[axis : axis + indices.rank]
    agree = len(middle) == indices.rank and all(
        None in (m, n) or m == n for m, n in zip(middle, indices.shape, strict=True)
    )
    if not agree:
        raise ShapeError(
            f"the updates {shape_text(updates.shape)} must have the shape of the indices, "
            f"{shape_text(indices.shape)}, at axis {axis}."
        )
    expect_dtype(updates, "the updates", *NUMBERS)
    expect_dtype(indices, "the indices", "int32")
    shape = (*updates.shape[:axis], attrs["rows"], *updates.shape[axis + indices.rank :])
    return [TensorSpec(shape, updates.dtype)]


def _scatter_add(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    updates, indices = inputs
    (spec,) = infer_segments([TensorSpec(array.shape, array.dtype.name) for array in inputs], attrs)
    expect_inside(indices, attrs["rows"])
    expect_sorted(indices, attrs)
    if attrs.get("axis", 0) == 0:
        result = reduce_segments(np.add, updates, indices, attrs["rows"])
        return [result.reshape(spec.static_shape)]
    result = np.zeros(spec.static_shape, updates.dtype)
    places: Any = (*[slice(None)] * attrs["axis"], indices)
    np.add.at(result, places, updates)
    return [result]


def expect_sorted(indices: Array, attrs: Attrs) -> None:
    """Raise DataError if attrs ``sorted`` says that the indices are in order, and they are not."""
    problem = sorted_problem(indices) if attrs.get("sorted") else None
    if problem:
        raise DataError(problem)


def check_segments(
    arrays: Sequence[Array], inputs: Sequence[TensorSpec], attrs: Attrs
) -> str | None:
    """Return what is wrong with indices into attrs ``rows`` rows; None if nothing is."""
    problem = outside("indices", arrays[0], attrs["rows"])
    return problem or (sorted_problem(arrays[0]) if attrs.get("sorted") else None)


def _scatter_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [gather(grads[0], node.inputs[1], node.attrs.get("axis", 0)), None]


SCATTER_ADD = register(
    OpDef(
        name="scatter_add",
        infer=infer_segments,
        reference=in_float32(_scatter_add),
        gradient=_scatter_gradient,
        checked=(1,),
        check=check_segments,
        lower=lower_scatter_add,
        epilogue=True,
        samples=(
            Sample((floats(6, 5), integers(6)), {"rows": 9}, differentiable=(0,)),
            Sample((floats(2, 3), integers(2, 3)), {"rows": 9}, differentiable=(0,)),
            Sample((floats(2, 3, 4), integers(2)), {"rows": 10}, differentiable=(0,)),
            Sample((floats(2, 6, 5), integers(6)), {"rows": 9, "axis": 1}, differentiable=(0,)),
            Sample((floats(4, 2, 3), integers(2, 3)), {"rows": 9, "axis": 1}, differentiable=(0,)),
            Sample((integers(6, 5), integers(6)), {"rows": 9}),
            Sample((floats(0, 5), integers(0)), {"rows": 9}, differentiable=(0,)),
            # So many that a GPU sorts the indices first.
            Sample((floats(150, 7), _MANY), {"rows": 260}, differentiable=(0,)),
            Sample((floats(6, 5), _IN_ORDER), {"rows": 9, "sorted": True}, differentiable=(0,)),
            Sample((floats(2, 150, 4), _MANY), {"rows": 260, "axis": 1}, differentiable=(0,)),
        ),
        invalid=(
            InvalidSample(
                (floats(6, 5), integers(5)),
                {"rows": 9},
                ShapeError,
                "the updates (6, 5) must have the shape",
            ),
            InvalidSample((floats(6), floats(6)), {"rows": 9}, DTypeError, "not float32"),
        ),
    )
)


def _infer_like(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    updates, indices, like = inputs
    axis = attrs.get("axis", 0)
    (spec,) = infer_segments([updates, indices], {**attrs, "rows": like.shape[axis]})
    fits = spec.rank == like.rank and all(
        None in (m, n) or m == n for m, n in zip(spec.shape, like.shape, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"scatter_add: updates of shape {shape_text(updates.shape)} do not fit a tensor of "
            f"shape {shape_text(like.shape)}."
        )
    return [TensorSpec(like.shape, updates.dtype)]


_SCATTER_ADD_LIKE = register_like(
    "scatter_add_like",
    SCATTER_ADD,
    2,
    lambda inputs, attrs: {
        "rows": inputs[2].shape[attrs.get("axis", 0)],
        "axis": attrs.get("axis", 0),
    },
    infer=_infer_like,
    samples=(
        Sample((floats(6, 5), integers(6), floats(9, 5))),
        Sample((floats(4, 6), integers(6), floats(4, 9)), {"axis": 1}),
    ),
    invalid=(
        InvalidSample((floats(6, 5), integers(6), floats(9, 4)), {}, ShapeError, "do not fit"),
    ),
)
