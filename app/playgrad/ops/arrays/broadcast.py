"""``broadcast_to`` and its gradient ``sum_to``, each also with the shape of another tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.core.build import add_node, as_tensor, broadcast_shapes, is_static
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.core.like import register_like
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.core.sums import add_up
from playgrad.ops.elementwise.elementwise_kernel import lower_elementwise
from playgrad.ops.elementwise.elementwise_op import sum_to_like
from playgrad.ops.expression.expr import Leaf
from playgrad.ops.lowering.reduce import lower_sum_to

__all__ = ["broadcast_like", "broadcast_to", "sum_to_like"]


def broadcast_to(x: Any, shape: Sequence[int], name: str | None = None) -> Tensor:
    """Broadcast ``x`` to ``shape`` by NumPy's rules.

    Args:
        x: a tensor of any dtype.
        shape: the shape of the result, known in full.

    Returns:
        A tensor of shape ``shape`` and the dtype of ``x``; ``x`` itself if it has that shape.

    Raises:
        ShapeError: ``x`` does not broadcast to ``shape``.
    """
    tensor = as_tensor(x)
    if is_static(tensor.shape) and tensor.shape == tuple(shape):
        return tensor
    return add_node(BROADCAST_TO, [tensor], {"shape": [int(n) for n in shape]}, name=name).output


def broadcast_like(x: Any, like: Tensor, name: str | None = None) -> Tensor:
    """Broadcast ``x`` to the shape of ``like``.

    Args:
        x: a tensor of any dtype.
        like: a tensor whose shape may have unknown dimensions. Its values are not used.

    Returns:
        A tensor of the shape of ``like`` and the dtype of ``x``.

    Raises:
        ShapeError: ``x`` does not broadcast to that shape.
    """
    if is_static(like.shape):
        return broadcast_to(as_tensor(x, like.graph), like.spec.static_shape, name=name)
    return add_node(_BROADCAST_LIKE, [as_tensor(x, like.graph), like], name=name).output


def sum_axes(source: Sequence[int], target: Sequence[int]) -> list[int]:
    """Return the axes of shape ``source`` along which ``target`` was broadcast to it."""
    lead = len(source) - len(target)
    return [
        axis
        for axis, dim in enumerate(source)
        if axis < lead or (target[axis - lead] == 1 and dim != 1)
    ]


# broadcast_to and broadcast_like


def _expect_broadcast(source: Shape, target: Shape) -> None:
    """Raise ShapeError unless ``source`` broadcasts to exactly ``target``."""
    try:
        result: Shape = broadcast_shapes(source, target)
    except ShapeError:
        result = ()
    fits = len(result) == len(target) and all(
        expected is None or dim is None or dim == expected
        for dim, expected in zip(result, target, strict=True)
    )
    if not fits:
        raise ShapeError(f"shape {shape_text(source)} does not broadcast to {shape_text(target)}.")


def _infer_broadcast_to(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    _expect_broadcast(inputs[0].shape, tuple(attrs["shape"]))
    return [TensorSpec(tuple(attrs["shape"]), inputs[0].dtype)]


def _broadcast(x: Array, shape: tuple[int, ...]) -> Array:
    return np.asarray(np.broadcast_to(x, shape), order="C")


def _sum_back(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    return [sum_to_like(grads[0], node.inputs[0])]


def _shape_of_last(inputs: Sequence[TensorSpec], attrs: Attrs) -> dict[str, Any]:
    return {"shape": list(inputs[-1].shape)}


def _lower_broadcast(request: KernelRequest) -> Lowering:
    return lower_elementwise(request, (Leaf(0),))


BROADCAST_TO = register(
    OpDef(
        name="broadcast_to",
        infer=_infer_broadcast_to,
        reference=lambda inputs, attrs: [_broadcast(inputs[0], tuple(attrs["shape"]))],
        gradient=_sum_back,
        lower=_lower_broadcast,
        packed=True,
        samples=(
            Sample((floats(4),), {"shape": [3, 4]}),
            Sample((floats(2, 1, 3),), {"shape": [2, 5, 3]}),
            Sample((floats(),), {"shape": [6]}),
            Sample((integers(3, 1),), {"shape": [2, 3, 4]}),
            Sample((np.arange(3, dtype=np.uint8),), {"shape": [3, 3]}),
            Sample((np.arange(-1, 2, dtype=np.int8),), {"shape": [3, 3]}),
            Sample((floats(3, 1, 2),), {"shape": [3, 0, 2]}),
        ),
        invalid=(
            InvalidSample((floats(3),), {"shape": [2, 4]}, ShapeError, "(3,) does not broadcast"),
            InvalidSample((floats(3, 4),), {"shape": [4]}, ShapeError, "not broadcast to (4,)"),
            InvalidSample((floats(4),), {"shape": [1]}, ShapeError, "does not broadcast to (1,)"),
        ),
    )
)
_BROADCAST_LIKE = register_like(
    "broadcast_like",
    BROADCAST_TO,
    1,
    _shape_of_last,
    identity_if_equal=True,
    samples=(
        Sample((floats(4), floats(3, 4))),
        Sample((floats(3, 1), integers(2, 3, 5))),
        Sample((floats(3, 4), floats(3, 4))),
    ),
    invalid=(InvalidSample((floats(3), floats(2, 4)), {}, ShapeError, "(3,) does not broadcast"),),
)


# sum_to and sum_to_like


def _infer_sum_to(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    source, target = inputs[0], tuple(attrs["shape"])
    if source.dtype in ("bool", "uint8", "int8"):
        raise DTypeError(f"cannot sum {source.dtype} values.", hint="Cast them to int32.")
    try:
        _expect_broadcast(target, source.shape)
    except ShapeError:
        raise ShapeError(
            f"shape {shape_text(source.shape)} cannot be summed to {shape_text(target)}, "
            "which does not broadcast to it."
        ) from None
    return [TensorSpec(target, source.dtype)]


def _sum_to(x: Array, shape: tuple[int, ...]) -> Array:
    axes = tuple(sum_axes(x.shape, shape))
    return np.asarray(add_up(x, axes)).reshape(shape)


def _prepare_sum_to(inputs: Sequence[TensorSpec], attrs: Attrs) -> Callable[..., list[Array]]:
    shape = tuple(attrs["shape"])
    axes = tuple(sum_axes(inputs[0].static_shape, shape))
    if not shape or 1 in shape:
        return lambda arrays: [np.asarray(add_up(arrays[0], axes)).reshape(shape)]
    return lambda arrays: [add_up(arrays[0], axes)]


def _repeat_back(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [broadcast_like(grads[0], node.inputs[0])]


_FEW = 3
"""As many sums are added up: to join their terms would cost as many dispatches."""


def _total(sums: Sequence[Tensor]) -> Tensor | None:
    """Return the sum of gradients of a tensor that was added to several others, as one sum."""
    terms, like = [node.inputs[0] for node in (x.node for x in sums)], sums[0].node.inputs[1]
    if len(sums) <= _FEW or any(
        term.spec.rank <= like.spec.rank or term.shape[1:] != terms[0].shape[1:] for term in terms
    ):
        return None
    return sum_to_like(concat(terms, 0), like)


_SUM_INVALID = "(3, 4) cannot be summed to (3,)"
_SUM_TO = register(
    OpDef(
        name="sum_to",
        infer=_infer_sum_to,
        reference=lambda inputs, attrs: [_sum_to(inputs[0], tuple(attrs["shape"]))],
        prepare=_prepare_sum_to,
        gradient=_repeat_back,
        lower=lower_sum_to,
        epilogue=True,
        samples=(
            Sample((floats(3, 4),), {"shape": [4]}),
            Sample((floats(2, 5, 3),), {"shape": [1, 3]}),
            Sample((floats(2, 5, 3),), {"shape": [2, 1, 1]}),
            Sample((floats(2, 3),), {"shape": []}),
            Sample((floats(65, 130),), {"shape": [130]}),
        ),
        invalid=(InvalidSample((floats(3, 4),), {"shape": [3]}, ShapeError, _SUM_INVALID),),
    )
)
_SUM_TO_LIKE = register_like(
    "sum_to_like",
    _SUM_TO,
    1,
    _shape_of_last,
    identity_if_equal=True,
    total=_total,
    samples=(
        Sample((floats(3, 4), floats(4))),
        Sample((floats(2, 5, 3), floats(5, 1))),
        Sample((floats(3, 4), floats(3, 4))),
    ),
    invalid=(InvalidSample((floats(3, 4), floats(3)), {}, ShapeError, _SUM_INVALID),),
)
