"""Padding with a constant and ``slice_``, which are each other's gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import converted
from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensor
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.move_elements import lower_pad, lower_slice


def pad_constant(
    x: Any, paddings: Sequence[Sequence[int]], value: float = 0.0, name: str | None = None
) -> Tensor:
    """Return ``x`` with ``value`` added around it, for the pairs (before, after) in ``paddings``.

    Raises:
        ShapeError: the number of pairs is not the rank of ``x``, or a padding is negative.
        DTypeError: the dtype of ``x`` cannot hold ``value``.
    """
    tensor = as_tensor(x)
    converted(np.asarray(value), tensor.dtype, f"pad with {value!r:.60}")
    attrs = {"padding": [list(pair) for pair in paddings], "value": value}
    return add_node(_PAD, [tensor], attrs, name=name).output


def slice_(x: Any, begin: Sequence[int], size: Sequence[int], name: str | None = None) -> Tensor:
    """Return the block of ``x`` that starts at ``begin`` and has the shape ``size``.

    ``x[1:, :3]`` is ``slice_(x, [1, 0], [-1, 3])``.

    Args:
        x: a tensor of any shape and dtype.
        begin: the first index of each dimension, at least 0.
        size: the number of elements of each dimension; -1 takes all from ``begin`` to the end.

    Returns:
        A tensor of shape ``size`` and the dtype of ``x``.

    Raises:
        ShapeError: the length of ``begin`` or ``size`` is not that of ``x.shape``, or the block
            reaches outside ``x``.
    """
    attrs = {"begin": [int(n) for n in begin], "size": [int(n) for n in size]}
    return add_node(SLICE, [as_tensor(x)], attrs, name=name).output


def _infer_pad(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, paddings = inputs[0], attrs["padding"]
    if len(paddings) != x.rank or any(n < 0 for pair in paddings for n in pair):
        raise ShapeError(
            f"pad: expected one pair of numbers ≥ 0 for each dimension of the shape "
            f"{shape_text(x.shape)}, got {[list(pair) for pair in paddings]}."
        )
    shape = tuple(
        None if dim is None else before + dim + after
        for dim, (before, after) in zip(x.shape, paddings, strict=True)
    )
    return [TensorSpec(shape, x.dtype)]


def _pad(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (x,) = inputs
    shape = _infer_pad([TensorSpec(x.shape, x.dtype.name)], attrs)[0].static_shape
    before = [pair[0] for pair in attrs["padding"]]
    window = tuple(slice(n, n + dim) for n, dim in zip(before, x.shape, strict=True))
    result = np.full(shape, attrs["value"], x.dtype)
    result[window] = x
    return [result]


def _pad_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    begin = node.attrs.get("begin")  # of pad_like
    if begin is None:
        begin = [before for before, _ in node.attrs["padding"]]
    return [slice_like(grads[0], node.inputs[0], begin)]


def _infer_slice(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, begin, size = inputs[0], attrs["begin"], attrs["size"]
    if len(begin) != x.rank or len(size) != x.rank:
        raise ShapeError(
            f"slice: begin {list(begin)} and size {list(size)} need one number for each "
            f"dimension of the shape {shape_text(x.shape)}."
        )
    shape: list[int | None] = []
    for dim, first, count in zip(x.shape, begin, size, strict=True):
        if first < 0 or count < -1 or (dim is not None and first + max(count, 0) > dim):
            raise ShapeError(
                f"slice: begin {list(begin)} and size {list(size)} reach outside the shape "
                f"{shape_text(x.shape)}."
            )
        if count >= 0:
            shape.append(count)
        else:
            shape.append(None if dim is None else dim - first)
    return [TensorSpec(tuple(shape), x.dtype)]


def _slice(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (x,) = inputs
    ends = [
        dim if count < 0 else first + count
        for dim, first, count in zip(x.shape, attrs["begin"], attrs["size"], strict=True)
    ]
    window = tuple(slice(first, end) for first, end in zip(attrs["begin"], ends, strict=True))
    return [np.asarray(x[window], order="C")]


def _slice_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [_pad_like(grads[0], node.inputs[0], node.attrs["begin"])]


def _pad_like(x: Any, like: Tensor, begin: Sequence[int]) -> Tensor:
    """Return zeros of the shape of ``like`` with ``x`` in them, starting at ``begin``."""
    return add_node(_PAD_LIKE, [x, like], {"begin": list(begin)}).output


def _join(blocks: Sequence[Tensor]) -> Tensor | None:
    """Return the sum of gradients of slices along one axis that do not overlap, as one tensor.

    To pad each to the size of the whole and to add them up takes quadratic time.
    """
    nodes = [block.node for block in blocks]
    like, begins = nodes[0].inputs[1], [node.attrs["begin"] for node in nodes]
    varying = [
        axis for axis, starts in enumerate(zip(*begins, strict=True)) if len(set(starts)) > 1
    ]
    if len(varying) != 1 or any(node.inputs[1] is not like for node in nodes):
        return None
    (axis,) = varying
    parts: list[Tensor] = []
    end = 0
    for node in sorted(nodes, key=lambda node: node.attrs["begin"][axis]):
        part, start = node.inputs[0], node.attrs["begin"][axis]
        if start != end or not _spans(part.spec, like.spec, node.attrs["begin"], axis):
            return None
        parts.append(part)
        end += part.spec.shape[axis] or 0
    if end != like.shape[axis]:
        return None
    return add_node("concat", parts, {"axis": axis}).output


def _spans(part: TensorSpec, whole: TensorSpec, begin: Sequence[int], axis: int) -> bool:
    """Return whether a block has a known size along ``axis`` and all of the other dimensions."""
    return part.shape[axis] is not None and all(
        start == 0 and size == all_of_it
        for other, (start, size, all_of_it) in enumerate(
            zip(begin, part.shape, whole.shape, strict=True)
        )
        if other != axis
    )


def slice_like(x: Any, like: Tensor, begin: Sequence[int]) -> Tensor:
    """Return the block of ``x`` that starts at ``begin`` and has the shape of ``like``."""
    return add_node(_SLICE_LIKE, [x, like], {"begin": list(begin)}).output


def _infer_like(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    return [TensorSpec(inputs[1].shape, inputs[0].dtype)]


def _padding_like(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    x, like = (spec.static_shape for spec in inputs)
    sizes = zip(attrs["begin"], x, like, strict=True)
    return {"padding": [[first, whole - first - dim] for first, dim, whole in sizes], "value": 0}


def _window_like(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    return {"begin": list(attrs["begin"]), "size": list(inputs[1].static_shape)}


_PAD = register(
    OpDef(
        name="pad",
        infer=_infer_pad,
        reference=_pad,
        gradient=_pad_gradient,
        lower=lower_pad,
        samples=(
            Sample((floats(3, 4),), {"padding": [[1, 2], [0, 3]], "value": 0.0}),
            Sample((floats(2, 3, 2),), {"padding": [[0, 0], [1, 1], [2, 0]], "value": -1.5}),
            Sample((integers(5),), {"padding": [[2, 2]], "value": 7}),
            Sample((integers(5),), {"padding": [[2, 2]], "value": -(2**31)}),
            Sample((integers(5) > 4,), {"padding": [[1, 2]], "value": True}),
            Sample((floats(3),), {"padding": [[1, 1]], "value": float("-inf")}, differentiable=()),
            Sample((floats(3),), {"padding": [[0, 1]], "value": float("nan")}, differentiable=()),
            Sample((floats(0, 3),), {"padding": [[1, 1], [0, 0]], "value": 1.0}),
            Sample((floats(2, 0, 3),), {"padding": [[1, 1], [0, 0], [0, 2]], "value": 1.0}),
            Sample((floats(),), {"padding": [], "value": 1.0}),
            Sample((np.arange(5, dtype=np.uint8),), {"padding": [[1, 3]], "value": 255}),
            Sample((np.arange(-2, 3, dtype=np.int8),), {"padding": [[1, 3]], "value": -128}),
        ),
        invalid=(
            InvalidSample(
                (floats(3, 4),), {"padding": [[1, 1]], "value": 0}, ShapeError, "each dimension"
            ),
            InvalidSample(
                (floats(3),), {"padding": [[-1, 1]], "value": 0}, ShapeError, "got [[-1, 1]]"
            ),
        ),
    )
)
SLICE = register(
    OpDef(
        name="slice",
        infer=_infer_slice,
        reference=_slice,
        gradient=_slice_gradient,
        lower=lower_slice,
        samples=(
            Sample((floats(),), {"begin": [], "size": []}),
            Sample((floats(5, 6),), {"begin": [5, 2], "size": [0, 4]}),
            Sample((floats(5, 6),), {"begin": [1, 2], "size": [3, 4]}),
            Sample((floats(5, 6),), {"begin": [0, 5], "size": [-1, -1]}),
            Sample((integers(2, 3, 4),), {"begin": [1, 0, 1], "size": [1, 3, 2]}),
            Sample((np.arange(9, dtype=np.uint8),), {"begin": [3], "size": [5]}),
            Sample((np.arange(-4, 5, dtype=np.int8),), {"begin": [3], "size": [5]}),
        ),
        invalid=(
            InvalidSample(
                (floats(5, 6),), {"begin": [3, 0], "size": [3, 6]}, ShapeError, "outside the shape"
            ),
            InvalidSample(
                (floats(5, 6),), {"begin": [0], "size": [5]}, ShapeError, "each dimension"
            ),
        ),
    )
)
_PAD_LIKE = register_like(
    "pad_like",
    _PAD,
    1,
    _padding_like,
    infer=_infer_like,
    total=_join,
    samples=(Sample((floats(2, 3), floats(4, 5)), {"begin": [1, 2]}),),
)
_SLICE_LIKE = register_like(
    "slice_like",
    SLICE,
    1,
    _window_like,
    infer=_infer_like,
    samples=(Sample((floats(4, 5), floats(2, 3)), {"begin": [1, 2]}),),
)
