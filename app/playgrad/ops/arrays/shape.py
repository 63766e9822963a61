"""Operations that change the shape of a tensor and not its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensor, is_static, one_or_more, sorted_axes, whole
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers

_BYTES = np.arange(12, dtype=np.uint8)


def identity(x: Any, name: str | None = None) -> Tensor:
    """Return ``x`` under another name."""
    return add_node(_IDENTITY, [as_tensor(x)], name=name).output


def stop_gradient(x: Any, name: str | None = None) -> Tensor:
    """Return ``x`` and block its gradient.

    ``gradients`` treats the result as a constant.
    """
    return add_node(_STOP_GRADIENT, [as_tensor(x)], name=name).output


def reshape(x: Any, shape: Sequence[int | None], name: str | None = None) -> Tensor:
    """Return ``x`` with another shape and its elements in the same (row-major) order.

    Args:
        x: a tensor of any shape and dtype.
        shape: the dimensions of the result. One may be -1 or None and is then computed from the
            others.

    Returns:
        A tensor of shape ``shape`` and the dtype of ``x``.

    Raises:
        ShapeError: the number of elements differs, or more than one dimension is -1.
    """
    sizes = [-1 if dim is None else whole(dim, "a dimension") for dim in one_or_more(shape)]
    return add_node(_RESHAPE, [as_tensor(x)], {"shape": sizes}, name=name).output


def reshape_like(x: Any, like: Tensor, name: str | None = None) -> Tensor:
    """Return ``x`` with the shape of ``like``.

    Args:
        x: a tensor of any dtype with as many elements as ``like``.
        like: a tensor whose shape may have unknown dimensions. Its values are not used.

    Raises:
        ShapeError: the number of elements differs.
    """
    if is_static(like.shape):
        return reshape(x, like.shape, name=name)
    return add_node(_RESHAPE_LIKE, [as_tensor(x, like.graph), like], name=name).output


def flatten(x: Any, name: str | None = None) -> Tensor:
    """Return ``x`` with all dimensions after the first joined into one.

    Args:
        x: a tensor of shape (n, ...) and any dtype. Only n may be unknown.

    Returns:
        A tensor of shape (n, product of the other dimensions).

    Raises:
        ShapeError: ``x`` is a scalar, or a dimension after the first is unknown.
    """
    tensor = as_tensor(x)
    rest = tensor.shape[1:]
    if tensor.spec.rank == 0 or not is_static(rest):
        raise ShapeError(
            f"cannot flatten a tensor of shape {shape_text(tensor.shape)}: it needs at least one "
            "dimension, and all others known."
        )
    width = TensorSpec(rest, tensor.dtype).size
    rows = -1 if tensor.shape[0] is None else tensor.shape[0]
    return reshape(tensor, [rows, width], name=name)


def expand_dims(x: Any, axis: int | Sequence[int], name: str | None = None) -> Tensor:
    """Return ``x`` with dimensions of size 1 inserted.

    Args:
        x: a tensor of any shape and dtype.
        axis: one axis or several, as positions in the shape of the result. A negative one counts
            from the end.

    Raises:
        ShapeError: an axis lies outside the shape of the result.
    """
    tensor = as_tensor(x)
    axes = sorted_axes(axis, tensor.spec.rank + len(one_or_more(axis)))
    return add_node(_EXPAND_DIMS, [tensor], {"axes": axes}, name=name).output


def squeeze(x: Any, axis: int | Sequence[int] | None = None, name: str | None = None) -> Tensor:
    """Return ``x`` without dimensions of size 1.

    Args:
        x: a tensor of any shape and dtype.
        axis: the axes to remove, one or several. None removes all whose size is known to be 1.

    Raises:
        ShapeError: an axis does not exist, or its size is not 1.
    """
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
            raise ShapeError(
                f"axis {axis} of the shape {shape_text(shape)} has a size other than 1."
            )
    squeezed = tuple(dim for axis, dim in enumerate(shape) if axis not in attrs["axes"])
    return [TensorSpec(squeezed, inputs[0].dtype)]


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
        invalid=(InvalidSample((floats(2, 1),), {"axes": [0]}, ShapeError, "other than 1"),),
    )
)
