"""Reductions of rows by the number of their segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Reference, Sample, register
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.gather import (
    SCATTER_ADD,
    as_indices,
    check_segments,
    expect_inside,
    expect_sorted,
    gather,
    infer_segments,
)
from playgrad.ops.arrays.shape import expand_dims, identity, stop_gradient
from playgrad.ops.core.build import FLOATS, add_node, as_tensor, expect_dtype
from playgrad.ops.core.half import in_float32
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import distinct, floats, integers
from playgrad.ops.core.segments import reduce_segments
from playgrad.ops.elementwise.definitions import (
    absolute,
    cast,
    equal,
    exp,
    is_finite,
    maximum,
    sqrt,
    square,
    where,
)
from playgrad.ops.lowering.gather import lower_segment_max, lower_segment_min
from playgrad.ops.reductions.statistics import scale_of

Segments = int | Tensor
"""The number of segments, or a tensor that has a row for each of them."""


def segment_sum(
    x: Any,
    segment_ids: Any,
    num_segments: Segments,
    indices_are_sorted: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the sum of the rows of ``x`` of each segment.

    ``result[i]`` is the sum of the rows ``x[k]`` with ``segment_ids[k] == i``, in their order: the
    same bits in every run. A segment without rows is 0.

    Args:
        x: a tensor of any shape; float16, float32, float64, int32 or uint32.
        segment_ids: the segments of the rows of ``x``, of the shape of its first dimensions: at
            least 0 and less than ``num_segments``; int32, uint32 or uint8.
        num_segments: a whole number, or a tensor whose first dimension it is, such as the features
            of the nodes of a graph.
        indices_are_sorted: promises that ``segment_ids`` never decrease, which saves a GPU from
            sorting them. The cpu raises an error if they do; on a GPU, ids that are computed in the
            graph are not checked, and rows are left out.

    Returns:
        A tensor of the dtype of ``x`` and shape (num_segments, ...).

    Raises:
        ShapeError: ``segment_ids`` do not fit ``x``, or ``num_segments`` is negative.
        DTypeError: ``segment_ids`` are not integers, or ``x`` is bool or uint8.
        FeedError, DataError: ids lie outside the segments, in a run.
    """
    return _reduced(SCATTER_ADD, x, segment_ids, num_segments, indices_are_sorted, name)


def segment_max(
    x: Any,
    segment_ids: Any,
    num_segments: Segments,
    indices_are_sorted: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the largest elements of the rows of each segment; NaN where any is NaN.

    A segment without rows is 0, as in PyTorch Geometric. Equal maxima share the gradient equally.
    Arguments, result and errors as in ``segment_sum``.
    """
    return _reduced(_MAX, x, segment_ids, num_segments, indices_are_sorted, name)


def segment_min(
    x: Any,
    segment_ids: Any,
    num_segments: Segments,
    indices_are_sorted: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the smallest elements of the rows of each segment; NaN where any is NaN.

    A segment without rows is 0. Equal minima share the gradient equally. Arguments, result and
    errors as in ``segment_sum``.
    """
    return _reduced(_MIN, x, segment_ids, num_segments, indices_are_sorted, name)


def segment_mean(
    x: Any,
    segment_ids: Any,
    num_segments: Segments,
    indices_are_sorted: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the mean of the rows of each segment; 0 for a segment without rows.

    Arguments, result and errors as in ``segment_sum``, but ``x`` is floating.
    """
    tensor, ids = _floats(x, segment_ids, "segment_mean")
    count = _counts(tensor, ids, num_segments, indices_are_sorted)
    total = segment_sum(tensor, ids, num_segments, indices_are_sorted)
    return _divided(total, maximum(count, 1.0), name)


def segment_std(
    x: Any,
    segment_ids: Any,
    num_segments: Segments,
    indices_are_sorted: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the standard deviation of the rows of each segment: the root of the mean of squares.

    It is 0 for a segment without rows, and its derivative is 0 where it is 0. Arguments, result and
    errors as in ``segment_mean``.
    """
    tensor, ids = _floats(x, segment_ids, "segment_std")
    mean = segment_mean(tensor, ids, num_segments, indices_are_sorted)
    centred = tensor - gather(mean, ids)
    size = segment_max(absolute(stop_gradient(centred)), ids, num_segments, indices_are_sorted)
    divisor = scale_of(size)  # so that squares are in range
    squares = square(centred / gather(divisor, ids))
    variance = segment_mean(squares, ids, num_segments, indices_are_sorted)
    is_zero = equal(variance, 0.0)
    return where(is_zero, 0.0, sqrt(where(is_zero, 1.0, variance)) * divisor, name=name)


def segment_softmax(
    x: Any,
    segment_ids: Any,
    num_segments: Segments,
    indices_are_sorted: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the softmax of each column over the rows of each segment.

    Arguments and errors as in ``segment_mean``.

    Returns:
        A tensor of the dtype and shape of ``x``, whose rows of a segment sum to 1.
    """
    tensor, ids = _floats(x, segment_ids, "segment_softmax")
    largest = stop_gradient(segment_max(tensor, ids, num_segments, indices_are_sorted))
    powers = exp(tensor - gather(where(is_finite(largest), largest, 0.0), ids))
    total = segment_sum(powers, ids, num_segments, indices_are_sorted)
    return _divided(powers, gather(total, ids), name)


def _floats(x: Any, segment_ids: Any, what: str) -> tuple[Tensor, Tensor]:
    tensor = as_tensor(x)
    expect_dtype(tensor.spec, f"the rows of {what}", *FLOATS)
    return tensor, as_indices(segment_ids, tensor)


def _counts(x: Tensor, ids: Tensor, num_segments: Segments, is_sorted: bool) -> Tensor:
    """Return the rows of each segment, (num_segments, 1, ...)."""
    ones = cast(ones_like(ids), x.dtype)
    counts = segment_sum(ones, ids, num_segments, is_sorted)
    rest = x.spec.rank - ids.spec.rank
    return expand_dims(counts, tuple(range(1, rest + 1))) if rest > 0 else counts


def _divided(x: Tensor, divisor: Tensor, name: str | None) -> Tensor:
    return x / divisor if name is None else identity(x / divisor, name=name)


def _reduced(
    op: OpDef, x: Any, segment_ids: Any, num_segments: Segments, is_sorted: bool, name: str | None
) -> Tensor:
    tensor = as_tensor(x)
    inputs = [tensor, as_indices(segment_ids, tensor)]
    attrs = segment_attrs(num_segments, is_sorted)
    if isinstance(num_segments, Tensor):
        return add_node(_LIKE[op.name], [*inputs, num_segments], attrs, name=name).output
    return add_node(op, inputs, attrs, name=name).output


def segment_attrs(num_segments: Segments, is_sorted: bool) -> dict[str, Any]:
    """Return the attributes of a segment operation; a tensor has the number of segments itself.

    Raises:
        ShapeError: ``num_segments`` is not a whole number of at least 0.
    """
    attrs: dict[str, Any] = {"sorted": True} if is_sorted else {}
    if isinstance(num_segments, Tensor):
        return attrs
    if isinstance(num_segments, bool) or not hasattr(num_segments, "__index__"):
        raise ShapeError(f"num_segments must be a whole number, got {num_segments!r}.")
    if int(num_segments) < 0:
        raise ShapeError(f"num_segments must be at least 0, got {int(num_segments)}.")
    return {"rows": int(num_segments), **attrs}


def _reference(ufunc: np.ufunc) -> Reference:
    def reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
        x, ids = inputs
        expect_inside(ids, attrs["rows"])
        expect_sorted(ids, attrs)
        result = reduce_segments(ufunc, x, ids, attrs["rows"])
        return [result.reshape(attrs["rows"], *x.shape[ids.ndim :])]

    return reference


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    x, ids = node.inputs[:2]
    result = node.outputs[0]
    is_sorted = bool(node.attrs.get("sorted"))
    chosen = cast(equal(x, gather(result, ids)), x.dtype)
    count = segment_sum(chosen, ids, result, is_sorted)
    return [gather(grads[0] / maximum(count, 1.0), ids) * chosen, None]


_MANY = (np.arange(150, dtype=np.int32) * 37) % 29
_IN_ORDER = np.array([1, 1, 2, 5, 5, 5], np.int32)
_NANS = np.array([[np.nan, 1], [2, -np.inf], [3, np.inf], [-1, np.nan]], np.float32)


def _extreme(name: str, ufunc: np.ufunc, lower: Callable[..., Any]) -> OpDef:
    return register(
        OpDef(
            name=name,
            infer=infer_segments,
            reference=in_float32(_reference(ufunc)),
            gradient=_gradient,
            checked=(1,),
            check=check_segments,
            lower=lower,
            epilogue=True,
            samples=(
                Sample((distinct(6, 5), integers(6)), {"rows": 9}, differentiable=(0,)),
                Sample((distinct(12), integers(12)), {"rows": 9}, differentiable=(0,)),
                Sample((distinct(2, 3), integers(2, 3)), {"rows": 9}, differentiable=(0,)),
                Sample((distinct(6, 5), _IN_ORDER), {"rows": 7, "sorted": True}),
                Sample((integers(6, 5, low=-5), integers(6)), {"rows": 9}),
                Sample((_NANS, np.array([0, 1, 1, 3], np.int32)), {"rows": 5}, differentiable=()),
                Sample((floats(0, 5), integers(0)), {"rows": 3}, differentiable=(0,)),
                # So many that a GPU sorts the indices first.
                Sample((distinct(150, 7), _MANY), {"rows": 260}, differentiable=(0,)),
            ),
            invalid=(
                InvalidSample(
                    (floats(6, 5), integers(5)), {"rows": 9}, ShapeError, "must have the shape"
                ),
                InvalidSample((floats(6), floats(6)), {"rows": 9}, DTypeError, "not float32"),
            ),
        )
    )


_MAX = _extreme("segment_max", np.maximum, lower_segment_max)
_MIN = _extreme("segment_min", np.minimum, lower_segment_min)
_LIKE = {
    op.name: register_like(
        f"{prefix}_like",
        op,
        2,
        lambda inputs, attrs: {**attrs, "rows": inputs[2].shape[0]},
        samples=(Sample((distinct(6, 5), integers(6), floats(9, 2))),),
    )
    for prefix, op in (("segment_sum", SCATTER_ADD), ("segment_max", _MAX), ("segment_min", _MIN))
}
