"""Softmax cross-entropy, the loss of classification, with its derivative in the same kernel.

Both operations have two outputs: the loss of each sample, and its derivative with respect to the
logits, which costs next to nothing once the exponentials are computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.gather import outside
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.core.build import add_node, as_tensor, as_tensors, expect_dtype, expect_floating
from playgrad.ops.core.samples import distribution, floats, integers
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.lowering.softmax import lower_softmax_cross_entropy
from playgrad.ops.reductions.reduce import reduce_sum
from playgrad.ops.reductions.softmax import log_softmax, log_softmax_of, softmax, softmax_of


def sparse_softmax_cross_entropy(logits: Any, labels: Any, name: str | None = None) -> Tensor:
    """Return the cross-entropy ``-log(softmax(logits)[label])`` of each sample.

    Args:
        logits: shape (batch, classes); float32 or float64.
        labels: class indices in [0, classes) of shape (batch,); int32, uint32 or uint8.

    Returns:
        A tensor of shape (batch,) and the dtype of ``logits``.

    Raises:
        ShapeError: the shapes differ from these.
        DTypeError: ``logits`` is not floating, or ``labels`` is not integer.
        FeedError: labels that were fed lie outside [0, classes).
        DataError: computed labels lie outside [0, classes), in a run.
    """
    scores = as_tensor(logits)
    classes = as_tensor(labels, scores.graph)
    if classes.dtype in ("uint8", "uint32"):
        classes = cast(classes, "int32")
    return add_node(_SPARSE, [scores, classes], name=name).outputs[0]


def softmax_cross_entropy(logits: Any, labels: Any, name: str | None = None) -> Tensor:
    """Return the cross-entropy ``-sum(labels * log(softmax(logits)))`` of each sample.

    Args:
        logits: shape (batch, classes); float32 or float64.
        labels: the probability of each class, of the same shape and dtype.

    Returns:
        A tensor of shape (batch,) and the dtype of ``logits``.

    Raises:
        ShapeError: the shapes differ from these.
        DTypeError: ``logits`` is not floating, or ``labels`` has another dtype.
    """
    return add_node(_DENSE, as_tensors(logits, labels), name=name).outputs[0]


def _expect_logits(logits: TensorSpec) -> None:
    expect_floating(logits, "logits")
    if logits.rank != 2 or logits.shape[1] == 0:
        raise ShapeError(
            f"logits must have the shape (batch, classes), not {shape_text(logits.shape)}."
        )


def _logits_gradient(node: Node, grads: Sequence[Tensor | None], total: Tensor | None) -> Tensor:
    """Return the gradient of the logits.

    ``total`` is the sum of the labels of each sample, None where that is 1.
    """
    derivative = node.outputs[1]
    by_loss, by_derivative = grads
    parts: list[Tensor] = []
    if by_loss is not None:
        parts.append(expand_dims(by_loss, 1) * derivative)
    if by_derivative is not None:  # second order: the Jacobian of softmax
        probabilities = softmax(node.inputs[0])
        weighted = by_derivative * probabilities
        part = weighted - probabilities * reduce_sum(weighted, 1, keepdims=True)
        parts.append(part if total is None else part * total)
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


# Labels as class indices


def _infer_sparse(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    logits, labels = inputs
    _expect_logits(logits)
    expect_dtype(labels, "labels", "int32")
    batch, examples = logits.shape[0], labels.shape[0] if labels.rank == 1 else -1
    if examples == -1 or (None not in (batch, examples) and batch != examples):
        raise ShapeError(
            f"labels must have the shape (batch,), one for each row of logits: labels are "
            f"{shape_text(labels.shape)}, logits {shape_text(logits.shape)}."
        )
    batch = examples if batch is None else batch
    return [
        TensorSpec((batch,), logits.dtype),
        TensorSpec((batch, logits.shape[1]), logits.dtype),
    ]


def _check_labels(
    arrays: Sequence[Array], inputs: Sequence[TensorSpec], attrs: Attrs
) -> str | None:
    classes = inputs[0].shape[1]
    return None if classes is None else outside("labels", arrays[0], classes)


def _sparse(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    logits, labels = inputs
    problem = outside("labels", labels, logits.shape[1])
    if problem:
        raise DataError(problem)
    rows = np.arange(len(labels))
    derivative = softmax_of(logits, 1)
    derivative[rows, labels] -= 1
    return [-log_softmax_of(logits, 1)[rows, labels], derivative]


def _sparse_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [_logits_gradient(node, grads, None), None]


_SPARSE = register(
    OpDef(
        name="sparse_softmax_cross_entropy",
        infer=_infer_sparse,
        reference=_sparse,
        gradient=_sparse_gradient,
        checked=(1,),
        check=_check_labels,
        lower=lower_softmax_cross_entropy,
        samples=(
            Sample((floats(6, 10), integers(6)), differentiable=(0,)),
            Sample((floats(1, 2), np.array([1], np.int32)), differentiable=(0,)),
            Sample((floats(100, 10), integers(100)), differentiable=(0,)),
            Sample((floats(3, 300), np.array([0, 299, 7], np.int32)), differentiable=(0,)),
            Sample((floats(2, 3) * np.float32(500), np.array([0, 2], np.int32)), differentiable=()),
            Sample((floats(6, 10) + np.float32(30000), integers(6)), differentiable=()),
        ),
        invalid=(
            InvalidSample(
                (floats(4, 3), integers(5)), {}, ShapeError, "labels are (5,), logits (4, 3)"
            ),
            InvalidSample((floats(4, 3), integers(4, 3)), {}, ShapeError, "shape (batch,)"),
            InvalidSample((floats(4), integers(4)), {}, ShapeError, "(batch, classes), not (4,)"),
            InvalidSample((floats(4, 3), floats(4)), {}, DTypeError, "must be int32, not float32"),
            InvalidSample(
                (integers(4, 3), integers(4)), {}, DTypeError, "logits must be float32 or float64"
            ),
        ),
    )
)


# Labels as probabilities


def _infer_dense(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    logits, labels = inputs
    _expect_logits(logits)
    if labels.dtype != logits.dtype:
        raise DTypeError(f"labels must be {logits.dtype} like the logits, not {labels.dtype}.")
    if labels.rank != 2 or any(
        None not in (m, n) and m != n for m, n in zip(logits.shape, labels.shape, strict=True)
    ):
        raise ShapeError(
            f"labels must have the shape of logits: labels are {shape_text(labels.shape)}, "
            f"logits {shape_text(logits.shape)}."
        )
    batch, classes = (
        n if m is None else m for m, n in zip(logits.shape, labels.shape, strict=True)
    )
    return [TensorSpec((batch,), logits.dtype), TensorSpec((batch, classes), logits.dtype)]


def _dense(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    logits, labels = inputs
    loss = -(labels * log_softmax_of(logits, 1)).sum(axis=1)
    return [loss, softmax_of(logits, 1) * labels.sum(axis=1, keepdims=True) - labels]


def _dense_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    logits, labels = node.inputs
    by_loss, by_derivative = grads
    by_logits = _logits_gradient(node, grads, reduce_sum(labels, 1, keepdims=True))
    parts: list[Tensor] = []
    if by_loss is not None:
        parts.append(-(expand_dims(by_loss, 1) * log_softmax(logits)))
    if by_derivative is not None:
        weighted = reduce_sum(by_derivative * softmax(logits), 1, keepdims=True)
        parts.append(weighted - by_derivative)
    return [by_logits, parts[0] if len(parts) == 1 else parts[0] + parts[1]]


_DENSE = register(
    OpDef(
        name="softmax_cross_entropy",
        infer=_infer_dense,
        reference=_dense,
        gradient=_dense_gradient,
        lower=lower_softmax_cross_entropy,
        samples=(
            Sample((floats(6, 10), distribution(6, 10))),
            Sample((floats(100, 10), distribution(100, 10))),
            Sample((floats(3, 300), distribution(3, 300))),
            Sample((floats(4, 3), floats(4, 3, seed=1, low=0.5))),
            Sample((floats(6, 10) + np.float32(30000), distribution(6, 10)), differentiable=()),
        ),
        invalid=(
            InvalidSample(
                (floats(4, 3), floats(4, 2)), {}, ShapeError, "labels are (4, 2), logits (4, 3)"
            ),
            InvalidSample((floats(4, 3), integers(4, 3)), {}, DTypeError, "not int32"),
            InvalidSample((floats(4), floats(4)), {}, ShapeError, "(batch, classes), not (4,)"),
        ),
    )
)
