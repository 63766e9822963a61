"""Operations that move elements: transpose, pad and slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.broadcast import Specialised
from playgrad.ops.core.build import add_node, as_tensor, normalize_axis, one_or_more
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.lowering.move_elements import lower_pad, lower_slice, lower_transpose


def transpose(x: Any, perm: Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """``x`` with its axes in the order ``perm`` (None: reversed)."""
    tensor = as_tensor(x)
    rank = tensor.spec.rank
    order = list(reversed(range(rank))) if perm is None else one_or_more(perm)
    attrs = {"perm": [normalize_axis(axis, rank) for axis in order]}
    return add_node(_TRANSPOSE, [tensor], attrs, name=name).output


def pad(
    x: Any, paddings: Sequence[Sequence[int]], value: float = 0.0, name: str | None = None
) -> Tensor:
    """``x`` with ``value`` around it.

    Args:
        paddings: for each dimension how many elements to put before and after.
    """
    pairs = [[int(before), int(after)] for before, after in paddings]
    return add_node(_PAD, [as_tensor(x)], {"padding": pairs, "value": value}, name=name).output


def slice_(x: Any, begin: Sequence[int], size: Sequence[int], name: str | None = None) -> Tensor:
    """``size`` elements of each dimension from ``begin`` on; a size of -1 takes all the rest."""
    attrs = {"begin": [int(n) for n in begin], "size": [int(n) for n in size]}
    return add_node(_SLICE, [as_tensor(x)], attrs, name=name).output


# transpose


def _infer_transpose(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, perm = inputs[0], attrs["perm"]
    if sorted(perm) != list(range(x.rank)):
        raise ShapeError(
            f"transpose: perm {list(perm)} must name each axis of the shape "
            f"{shape_text(x.shape)} once."
        )
    return [TensorSpec(tuple(x.shape[axis] for axis in perm), x.dtype)]


def _transpose_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    perm = node.attrs["perm"]
    return [transpose(grads[0], [perm.index(axis) for axis in range(len(perm))])]


_TRANSPOSE = register(
    OpDef(
        name="transpose",
        infer=_infer_transpose,
        reference=lambda inputs, attrs: [np.ascontiguousarray(inputs[0].transpose(attrs["perm"]))],
        gradient=_transpose_gradient,
        lower=lower_transpose,
        samples=(
            Sample((floats(3, 4),), {"perm": [1, 0]}),
            Sample((floats(2, 3, 4),), {"perm": [2, 0, 1]}),
            Sample((integers(2, 3, 4, 5),), {"perm": [0, 3, 1, 2]}),
        ),
        invalid=(
            InvalidSample((floats(3, 4),), {"perm": [0, 0]}, ShapeError, "(3, 4) once"),
            InvalidSample((floats(3, 4),), {"perm": [0]}, ShapeError, "each axis"),
        ),
    )
)


# pad, slice, and their inverses for tensors of unknown shape


def _infer_pad(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, paddings = inputs[0], attrs["padding"]
    if len(paddings) != x.rank or any(n < 0 for pair in paddings for n in pair):
        raise ShapeError(
            f"pad: paddings {[list(pair) for pair in paddings]} do not fit the shape "
            f"{shape_text(x.shape)}: one pair for each dimension, none negative."
        )
    shape = tuple(
        None if dim is None else before + dim + after
        for dim, (before, after) in zip(x.shape, paddings, strict=True)
    )
    return [TensorSpec(shape, x.dtype)]


def _pad(x: Array, attrs: Attrs) -> Array:
    value = x.dtype.type(attrs["value"])
    return np.pad(x, [tuple(pair) for pair in attrs["padding"]], constant_values=value)


def _pad_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    begin = [before for before, _ in node.attrs["padding"]]
    return [_slice_like(grads[0], node.inputs[0], begin)]


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


def _slice(x: Array, attrs: Attrs) -> Array:
    ends = [
        dim if count < 0 else first + count
        for dim, first, count in zip(x.shape, attrs["begin"], attrs["size"], strict=True)
    ]
    window = tuple(slice(first, end) for first, end in zip(attrs["begin"], ends, strict=True))
    return np.ascontiguousarray(x[window])


def _slice_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [_pad_like(grads[0], node.inputs[0], node.attrs["begin"])]


def _pad_like(x: Any, like: Tensor, begin: Sequence[int]) -> Tensor:
    """Zeros of the shape of ``like`` with ``x`` in them, from ``begin`` on."""
    return add_node(_PAD_LIKE, [x, like], {"begin": list(begin)}).output


def _slice_like(x: Any, like: Tensor, begin: Sequence[int]) -> Tensor:
    """The part of ``x`` from ``begin`` on that has the shape of ``like``."""
    return add_node(_SLICE_LIKE, [x, like], {"begin": list(begin)}).output


def _infer_like(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    return [TensorSpec(inputs[1].shape, inputs[0].dtype)]


def _paddings_like(source: Sequence[int], like: Sequence[int], attrs: Attrs) -> dict[str, Any]:
    pairs = [
        [first, whole - first - dim]
        for dim, whole, first in zip(source, like, attrs["begin"], strict=True)
    ]
    return {"padding": pairs, "value": 0}


def _specialise_pad(inputs: Sequence[TensorSpec], attrs: Attrs) -> Specialised:
    source, like = inputs
    return "pad", _paddings_like(source.static_shape, like.static_shape, attrs), (0,)


def _specialise_slice(inputs: Sequence[TensorSpec], attrs: Attrs) -> Specialised:
    return "slice", {"begin": list(attrs["begin"]), "size": list(inputs[1].static_shape)}, (0,)


_PAD = register(
    OpDef(
        name="pad",
        infer=_infer_pad,
        reference=lambda inputs, attrs: [_pad(inputs[0], attrs)],
        gradient=_pad_gradient,
        lower=lower_pad,
        samples=(
            Sample((floats(3, 4),), {"padding": [[1, 2], [0, 3]], "value": 0.0}),
            Sample((floats(2, 3, 2),), {"padding": [[0, 0], [1, 1], [2, 0]], "value": -1.5}),
            Sample((integers(5),), {"padding": [[2, 2]], "value": 7}),
        ),
        invalid=(
            InvalidSample(
                (floats(3, 4),), {"padding": [[1, 1]], "value": 0}, ShapeError, "each dimension"
            ),
            InvalidSample(
                (floats(3),), {"padding": [[-1, 1]], "value": 0}, ShapeError, "none negative"
            ),
        ),
    )
)
_SLICE = register(
    OpDef(
        name="slice",
        infer=_infer_slice,
        reference=lambda inputs, attrs: [_slice(inputs[0], attrs)],
        gradient=_slice_gradient,
        lower=lower_slice,
        samples=(
            Sample((floats(5, 6),), {"begin": [1, 2], "size": [3, 4]}),
            Sample((floats(5, 6),), {"begin": [0, 5], "size": [-1, -1]}),
            Sample((integers(2, 3, 4),), {"begin": [1, 0, 1], "size": [1, 3, 2]}),
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
_PAD_LIKE = register(
    OpDef(
        name="pad_like",
        infer=_infer_like,
        reference=lambda inputs, attrs: [
            _pad(inputs[0], _paddings_like(inputs[0].shape, inputs[1].shape, attrs))
        ],
        gradient=lambda node, grads: [
            _slice_like(grads[0], node.inputs[0], node.attrs["begin"]),
            None,
        ],
        specialise=_specialise_pad,
        samples=(Sample((floats(2, 3), floats(4, 5)), {"begin": [1, 2]}, differentiable=(0,)),),
    )
)
_SLICE_LIKE = register(
    OpDef(
        name="slice_like",
        infer=_infer_like,
        reference=lambda inputs, attrs: [
            _slice(inputs[0], {"begin": attrs["begin"], "size": inputs[1].shape})
        ],
        gradient=lambda node, grads: [
            _pad_like(grads[0], node.inputs[0], node.attrs["begin"]),
            None,
        ],
        specialise=_specialise_slice,
        samples=(Sample((floats(4, 5), floats(2, 3)), {"begin": [1, 2]}, differentiable=(0,)),),
    )
)
