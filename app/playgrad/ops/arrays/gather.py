"""``gather``, its gradient ``scatter_add``, and ``one_hot``: operations on indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DataError, DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensor, expect_dtype, expect_floating
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.lowering.gather import lower_gather, lower_gather_gradient
from playgrad.ops.lowering.move_elements import lower_one_hot


def gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """Return rows of a tensor by index: ``params[indices]``.

    Args:
        params: shape (rows, ...), of any dtype.
        indices: indices in [0, rows) of any shape; int32, uint32 or uint8.

    Returns:
        A tensor of shape ``indices.shape + params.shape[1:]`` and the dtype of ``params``.

    Raises:
        ShapeError: ``params`` is a scalar.
        DTypeError: ``indices`` are not integers.
        FeedError: indices that were fed lie outside [0, rows).
        DataError: computed indices lie outside [0, rows), on the cpu. On a GPU their rows are NaN
            or 0.
    """
    table = as_tensor(params)
    return add_node(_GATHER, [table, _as_indices(indices, table)], name=name).output


def one_hot(indices: Any, depth: int, dtype: Any = "float32", name: str | None = None) -> Tensor:
    """Return one-hot rows: 1 at each index and 0 elsewhere.

    Args:
        indices: indices of any shape; int32, uint32 or uint8. One outside [0, depth) gives a row
            of zeros.
        depth: the length of a row, at least 1.
        dtype: the element type of the result.

    Returns:
        A tensor of shape ``(*indices.shape, depth)``.

    Raises:
        ShapeError: ``depth`` is less than 1.
        DTypeError: ``indices`` are not integers.
    """
    attrs = {"depth": int(depth), "dtype": dtype_of(dtype).name}
    return add_node(_ONE_HOT, [_as_indices(indices)], attrs, name=name).output


def _as_indices(indices: Any, table: Tensor | None = None) -> Tensor:
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
    if params.rank == 0:
        raise ShapeError("gather: params is a scalar, which has no rows.")
    expect_dtype(indices, "the indices of gather", "int32")
    return [TensorSpec(indices.shape + params.shape[1:], params.dtype)]


def _check_indices(number: int, array: Array, inputs: Sequence[TensorSpec]) -> str | None:
    rows = inputs[0].shape[0]
    return outside("indices", array, rows) if number == 1 and rows is not None else None


def _gather(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    params, indices = inputs
    # Read as unsigned, negative indices are beyond the end as well.
    if indices.size and np.maximum.reduce(indices.view(np.uint32), axis=None) >= len(params):
        raise DataError(outside("indices", indices, len(params)) or "")
    return [params.take(indices, 0)]


def _gather_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    params, indices = node.inputs
    return [add_node(_SCATTER_ADD_LIKE, [grads[0], indices, params]).output, None]


_GATHER = register(
    OpDef(
        name="gather",
        infer=_infer_gather,
        reference=_gather,
        gradient=_gather_gradient,
        lower=lower_gather,
        epilogue=True,
        check_feed=_check_indices,
        samples=(
            Sample((floats(9, 5), integers(4)), differentiable=(0,)),
            Sample((floats(9), integers(2, 3)), differentiable=(0,)),
            Sample((floats(9, 2, 3), np.array(7, np.int32)), differentiable=(0,)),
            Sample((np.arange(90, dtype=np.uint8).reshape(9, 10), integers(5))),
            Sample((np.arange(252, dtype=np.uint8).reshape(9, 28), integers(5))),
            Sample((np.arange(9, dtype=np.uint8) * 3, integers(7))),
            Sample((integers(9, 3), integers(4))),
        ),
        invalid=(
            InvalidSample((floats(), integers(2)), {}, ShapeError, "which has no rows"),
            InvalidSample((floats(3), floats(2)), {}, DTypeError, "must be int32, not float32"),
        ),
    )
)


# scatter_add, the gradient of gather


def _infer_scatter_add(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    updates, indices = inputs
    lead: Shape = updates.shape[: indices.rank]
    agree = len(lead) == indices.rank and all(
        None in (m, n) or m == n for m, n in zip(lead, indices.shape, strict=True)
    )
    if not agree:
        raise ShapeError(
            f"scatter_add: the updates {shape_text(updates.shape)} must begin with the shape of "
            f"the indices, {shape_text(indices.shape)}."
        )
    expect_floating(updates, "the updates of scatter_add")
    expect_dtype(indices, "the indices of scatter_add", "int32")
    return [TensorSpec((attrs["rows"], *updates.shape[indices.rank :]), updates.dtype)]


def _scatter_add(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    updates, indices = inputs
    result = np.zeros((attrs["rows"], *updates.shape[indices.ndim :]), updates.dtype)
    np.add.at(result, indices, updates)
    return [result]


def _scatter_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [gather(grads[0], node.inputs[1]), None]


_SCATTER_ADD = register(
    OpDef(
        name="scatter_add",
        infer=_infer_scatter_add,
        reference=_scatter_add,
        gradient=_scatter_gradient,
        lower=lower_gather_gradient,
        epilogue=True,
        samples=(
            Sample((floats(6, 5), integers(6)), {"rows": 9}, differentiable=(0,)),
            Sample((floats(2, 3), integers(2, 3)), {"rows": 9}, differentiable=(0,)),
            Sample((floats(2, 3, 4), integers(2)), {"rows": 10}, differentiable=(0,)),
        ),
        invalid=(
            InvalidSample(
                (floats(6, 5), integers(5)),
                {"rows": 9},
                ShapeError,
                "the updates (6, 5) must begin",
            ),
            InvalidSample((floats(6), floats(6)), {"rows": 9}, DTypeError, "not float32"),
        ),
    )
)
_SCATTER_ADD_LIKE = register_like(
    "scatter_add_like",
    _SCATTER_ADD,
    2,
    lambda inputs, attrs: {"rows": inputs[2].shape[0]},
    samples=(Sample((floats(6, 5), integers(6), floats(9, 5))),),
)


# one_hot


def _infer_one_hot(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_dtype(inputs[0], "the indices of one_hot", "int32")
    if attrs["depth"] < 1:
        raise ShapeError(f"one_hot: depth must be at least 1, not {attrs['depth']}.")
    return [TensorSpec((*inputs[0].shape, attrs["depth"]), dtype_of(attrs["dtype"]).name)]


def _one_hot(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    return [(inputs[0][..., None] == np.arange(attrs["depth"])).astype(attrs["dtype"])]


_ONE_HOT = register(
    OpDef(
        name="one_hot",
        infer=_infer_one_hot,
        reference=_one_hot,
        lower=lower_one_hot,
        blocks_gradient=True,
        samples=(
            Sample((integers(6),), {"depth": 9, "dtype": "float32"}),
            Sample((integers(2, 3),), {"depth": 5, "dtype": "int32"}),
            Sample((np.array([-1, 0, 9], np.int32),), {"depth": 9, "dtype": "float32"}),
        ),
        invalid=(
            InvalidSample(
                (floats(2),), {"depth": 3, "dtype": "float32"}, DTypeError, "not float32"
            ),
            InvalidSample(
                (integers(2),), {"depth": 0, "dtype": "float32"}, ShapeError, "at least 1"
            ),
        ),
    )
)
