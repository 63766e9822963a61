"""Operations that give a tensor another shape and leave its bytes alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.broadcast import is_static
from playgrad.ops.core.build import add_node, as_tensor, one_or_more, sorted_axes, whole
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers

_BYTES = np.arange(12, dtype=np.uint8)


def identity(x: Any, name: str | None = None) -> Tensor:
    """``x`` under another name."""
    return add_node(_IDENTITY, [as_tensor(x)], name=name).output


def stop_gradient(x: Any, name: str | None = None) -> Tensor:
    """``x``, through which no gradient flows."""
    return add_node(_STOP_GRADIENT, [as_tensor(x)], name=name).output


def reshape(x: Any, shape: Sequence[int | None], name: str | None = None) -> Tensor:
    """The elements of ``x``, in the same order, under another shape.

    Args:
        shape: one dimension may be -1 (or None): it follows from the others.

    Raises:
        ShapeError: the number of elements differs.
    """
    sizes = [-1 if dim is None else whole(dim, "a dimension") for dim in one_or_more(shape)]
    return add_node(_RESHAPE, [as_tensor(x)], {"shape": sizes}, name=name).output


def reshape_like(x: Any, like: Tensor, name: str | None = None) -> Tensor:
    """``x`` under the shape of ``like``."""
    if is_static(like.shape):
        return reshape(x, like.shape, name=name)
    return add_node(_RESHAPE_LIKE, [as_tensor(x, like.graph), like], name=name).output


def flatten(x: Any, name: str | None = None) -> Tensor:
    """Each row (element of axis 0) of ``x`` as a vector: shape (n, everything else).

    Raises:
        ShapeError: a dimension besides the first is not known.
    """
    tensor = as_tensor(x)
    rest = tensor.shape[1:]
    if tensor.spec.rank == 0 or not is_static(rest):
        raise ShapeError(
            f"cannot flatten a tensor of shape {shape_text(tensor.shape)}: it needs a first "
            "dimension, and all others known."
        )
    width = TensorSpec(rest, tensor.dtype).size
    rows = -1 if tensor.shape[0] is None else tensor.shape[0]
    return reshape(tensor, [rows, width], name=name)


def expand_dims(x: Any, axis: int | Sequence[int], name: str | None = None) -> Tensor:
    """``x`` with dimensions of size 1 inserted; ``axis`` counts in the result."""
    tensor = as_tensor(x)
    axes = sorted_axes(axis, tensor.spec.rank + len(one_or_more(axis)))
    return add_node(_EXPAND_DIMS, [tensor], {"axes": axes}, name=name).output


def squeeze(x: Any, axis: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """``x`` without its dimensions ``axis``, which must be of size 1 (None: all such)."""
    tensor = as_tensor(x)
    if axis is None:
        axes = [i for i, dim in enumerate(tensor.shape) if dim == 1]
    else:
        axes = sorted_axes(axis, tensor.spec.rank)
    return add_node(_SQUEEZE, [tensor], {"axes": axes}, name=name).output


# identity and stop_gradient

_IDENTITY = register(
    OpDef(
        name="identity",
        infer=lambda inputs, attrs: [inputs[0]],
        reference=lambda inputs, attrs: [inputs[0]],
        gradient=lambda node, grads: grads,
        alias=True,
        samples=(Sample((floats(3, 4),)), Sample((integers(5),)), Sample((_BYTES,))),
    )
)
_STOP_GRADIENT = register(
    OpDef(
        name="stop_gradient",
        infer=lambda inputs, attrs: [inputs[0]],
        reference=lambda inputs, attrs: [inputs[0]],
        alias=True,
        blocks_gradient=True,
        samples=(Sample((floats(3, 4),)),),
    )
)


# reshape and reshape_like


def _infer_reshape(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    source, target = inputs[0], list(attrs["shape"])
    if target.count(-1) > 1 or any(dim is not None and dim < -1 for dim in target):
        raise ShapeError(
            f"cannot reshape to {shape_text(tuple(target))}: at most one dimension may be -1, "
            "and none smaller."
        )
    if not is_static(source.shape) or None in target:
        shape = tuple(None if dim == -1 else dim for dim in target)
        return [TensorSpec(shape, source.dtype)]
    known = int(np.prod([dim for dim in target if dim != -1], dtype=np.int64))
    if -1 in target and known and source.size % known == 0:
        target[target.index(-1)] = source.size // known
    elif -1 in target or source.size != known:
        raise ShapeError(
            f"cannot reshape {shape_text(source.shape)} to {shape_text(tuple(target))}: "
            "the number of elements differs."
        )
    return [TensorSpec(tuple(target), source.dtype)]


def _shape_back(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [reshape_like(grads[0], node.inputs[0])]


_RESHAPE = register(
    OpDef(
        name="reshape",
        infer=_infer_reshape,
        reference=lambda inputs, attrs: [inputs[0].reshape(attrs["shape"])],
        gradient=_shape_back,
        alias=True,
        samples=(
            Sample((floats(3, 4),), {"shape": [2, 6]}),
            Sample((floats(2, 3, 4),), {"shape": [-1, 12]}),
            Sample((floats(1),), {"shape": []}),
            Sample((_BYTES,), {"shape": [3, 4]}),
        ),
        invalid=(
            InvalidSample((floats(3, 4),), {"shape": [5, 2]}, ShapeError, "(3, 4) to (5, 2)"),
            InvalidSample((floats(3, 4),), {"shape": [5, -1]}, ShapeError, "elements differs"),
            InvalidSample((floats(4),), {"shape": [-1, -1]}, ShapeError, "at most one"),
        ),
    )
)
_RESHAPE_LIKE = register_like(
    "reshape_like",
    _RESHAPE,
    1,
    lambda inputs, attrs: {"shape": list(inputs[1].shape)},
    samples=(Sample((floats(3, 4), integers(2, 6))),),
    invalid=(InvalidSample((floats(3), floats(4)), {}, ShapeError, "(3,) to (4,)"),),
)


# expand_dims and squeeze


def _infer_expand(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    shape = list(inputs[0].shape)
    for axis in sorted(attrs["axes"]):
        if not 0 <= axis <= len(shape):
            raise ShapeError(
                f"cannot insert axis {axis} into the shape {shape_text(inputs[0].shape)}."
            )
        shape.insert(axis, 1)
    return [TensorSpec(tuple(shape), inputs[0].dtype)]


def _infer_squeeze(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    shape = inputs[0].shape
    for axis in attrs["axes"]:
        if not 0 <= axis < len(shape) or shape[axis] not in (1, None):
            raise ShapeError(f"axis {axis} of the shape {shape_text(shape)} is not of size 1.")
    kept = tuple(dim for axis, dim in enumerate(shape) if axis not in attrs["axes"])
    return [TensorSpec(kept, inputs[0].dtype)]


_EXPAND_DIMS = register(
    OpDef(
        name="expand_dims",
        infer=_infer_expand,
        reference=lambda inputs, attrs: [np.expand_dims(inputs[0], tuple(attrs["axes"]))],
        gradient=lambda node, grads: [squeeze(grads[0], node.attrs["axes"])],
        alias=True,
        samples=(
            Sample((floats(3, 4),), {"axes": [0]}),
            Sample((floats(3, 4),), {"axes": [1, 3]}),
            Sample((floats(),), {"axes": [0]}),
        ),
        invalid=(InvalidSample((floats(3),), {"axes": [2]}, ShapeError, "cannot insert axis 2"),),
    )
)
_SQUEEZE = register(
    OpDef(
        name="squeeze",
        infer=_infer_squeeze,
        reference=lambda inputs, attrs: [np.squeeze(inputs[0], tuple(attrs["axes"]))],
        gradient=lambda node, grads: [expand_dims(grads[0], node.attrs["axes"])],
        alias=True,
        samples=(
            Sample((floats(1, 3, 1),), {"axes": [0]}),
            Sample((floats(1, 3, 1),), {"axes": [0, 2]}),
        ),
        invalid=(InvalidSample((floats(2, 1),), {"axes": [0]}, ShapeError, "not of size 1"),),
    )
)
