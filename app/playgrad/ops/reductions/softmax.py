"""``softmax`` and ``log_softmax`` along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensor, expect_floating, normalize_axis
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.definitions import exp
from playgrad.ops.lowering.softmax import lower_log_softmax, lower_softmax
from playgrad.ops.reductions.reduce import reduce_sum


def softmax(x: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """Return ``exp(x) / sum(exp(x))`` along an axis: positive numbers that sum to 1.

    The maximum is subtracted first, so that ``exp`` cannot overflow.

    Args:
        x: a tensor of at least one dimension; float32 or float64.
        axis: the axis of the sum; a negative one counts from the end.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        ShapeError: the axis does not exist, or has size 0.
        DTypeError: ``x`` is not floating.
    """
    tensor = as_tensor(x)
    attrs = {"axis": normalize_axis(axis, tensor.spec.rank)}
    return add_node(_SOFTMAX, [tensor], attrs, name=name).output


def log_softmax(x: Any, axis: int = -1, name: str | None = None) -> Tensor:
    """Return ``log(softmax(x))``, which stays finite where softmax rounds to 0.

    Arguments, result and errors as in ``softmax``.
    """
    tensor = as_tensor(x)
    attrs = {"axis": normalize_axis(axis, tensor.spec.rank)}
    return add_node(_LOG_SOFTMAX, [tensor], attrs, name=name).output


def softmax_of(x: Array, axis: int) -> Array:
    """Compute softmax with NumPy."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def log_softmax_of(x: Array, axis: int) -> Array:
    """Compute log_softmax with NumPy."""
    shifted = x - x.max(axis=axis, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, axis = inputs[0], attrs["axis"]
    expect_floating(x, "the input of softmax")
    if not 0 <= axis < x.rank:
        raise ShapeError(f"axis {axis} does not exist in a tensor of shape {shape_text(x.shape)}.")
    if x.shape[axis] == 0:
        raise ShapeError(
            f"softmax needs at least one element along axis {axis}, got {shape_text(x.shape)}."
        )
    return [x]


def _softmax_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    y, axis = node.outputs[0], node.attrs["axis"]
    weighted = grads[0] * y
    return [weighted - y * reduce_sum(weighted, axis, keepdims=True)]


def _log_softmax_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    total = reduce_sum(grads[0], node.attrs["axis"], keepdims=True)
    return [grads[0] - exp(node.outputs[0]) * total]


_LARGE = np.array([[1000.0, 0.0, -1000.0], [-1000.0, -1000.0, -1000.0]], np.float32)
_SAMPLES = (
    Sample((floats(5, 10),), {"axis": 1}),
    Sample((floats(5, 10),), {"axis": 0}),
    Sample((floats(2, 3, 4),), {"axis": 1}),
    Sample((floats(3, 300),), {"axis": 1}),
    Sample((floats(7),), {"axis": 0}),
    Sample((_LARGE,), {"axis": 1}, differentiable=()),
)
_INVALID = (
    InvalidSample((floats(2, 3),), {"axis": 2}, ShapeError, "axis 2 does not exist"),
    InvalidSample((floats(2, 0),), {"axis": 1}, ShapeError, "at least one element"),
    InvalidSample((integers(2, 3),), {"axis": 1}, DTypeError, "not int32"),
)

_SOFTMAX = register(
    OpDef(
        name="softmax",
        infer=_infer,
        reference=lambda inputs, attrs: [softmax_of(inputs[0], attrs["axis"])],
        gradient=_softmax_gradient,
        lower=lower_softmax,
        epilogue=True,
        samples=_SAMPLES,
        invalid=_INVALID,
    )
)
_LOG_SOFTMAX = register(
    OpDef(
        name="log_softmax",
        infer=_infer,
        reference=lambda inputs, attrs: [log_softmax_of(inputs[0], attrs["axis"])],
        gradient=_log_softmax_gradient,
        lower=lower_log_softmax,
        epilogue=True,
        samples=_SAMPLES,
        invalid=_INVALID,
    )
)
