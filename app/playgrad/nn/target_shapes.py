"""Targets in the shape that losses and metrics compute with: nothing is broadcast."""

from __future__ import annotations

from typing import Any

from playgrad.dtypes import dtype
from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.label_checks import count_of
from playgrad.ops.arrays.shape import reshape_like, squeeze
from playgrad.ops.core.build import as_tensor, is_static
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.reductions.argmax import argmax


def in_shape_of(y_true: Any, y_pred: Tensor, name: str) -> Tensor:
    """Return targets as floats in the shape of the predictions.

    A sample may have its numbers in another shape: (batch,) for (batch, 1).

    Args:
        name: the name of the loss or metric, for errors.

    Raises:
        ShapeError: a sample has more or fewer numbers than a prediction, or the batches differ in
            size. If a size is unknown, a run raises it.
    """
    true = as_tensor(y_true, y_pred.graph, y_pred.dtype)
    if not dtype(true.dtype).floating:
        true = cast(true, "float32")
    if _is_same(true.shape, y_pred.shape):
        return true
    if not true.shape or not _may_fit(true.shape, y_pred.shape):
        raise ShapeError(
            f"{name} needs targets of the shape of the predictions {shape_text(y_pred.shape)}, "
            f"got {shape_text(true.shape)}.",
            hint="Use one-hot targets in place of class numbers."
            if len(true.shape) < len(y_pred.shape)
            else None,
        )
    return reshape_like(true, y_pred)


def class_labels(y_true: Any, y_pred: Tensor, name: str) -> Tensor:
    """Return class numbers, int32, for predictions (batch, ..., classes): (batch, ...).

    Args:
        y_true: class numbers, (batch, ...) or (batch, ..., 1), or one-hot (batch, ..., classes).
        name: the name of the metric, for errors.

    Raises:
        ShapeError: the targets have neither of these shapes.
    """
    true = as_tensor(y_true, y_pred.graph)
    rank = len(y_pred.shape)
    if len(true.shape) == rank and true.shape[-1] != 1:
        return argmax(in_shape_of(true, y_pred, name), axis=-1)
    labels = labels_along(true, y_pred.shape, rank - 1, name)
    return reshape_like(cast(labels, "int32"), argmax(y_pred, axis=-1))


def labels_along(y_true: Tensor, predictions: Shape, axis: int, name: str) -> Tensor:
    """Return class numbers in the shape of predictions without their axis of classes.

    Args:
        y_true: class numbers, of that shape, or with size 1 along the axis.
        axis: the axis of the classes, counted from the front.
        name: the name of the loss or metric, for errors.

    Raises:
        ShapeError: the labels have another shape.
    """
    expected = (*predictions[:axis], *predictions[axis + 1 :])
    labels = y_true
    if len(labels.shape) == len(predictions) and labels.shape[axis] == 1:
        labels = squeeze(labels, axis)
    if len(labels.shape) != len(expected) or any(
        None not in (a, b) and a != b for a, b in zip(labels.shape, expected, strict=True)
    ):
        raise ShapeError(
            f"{name} needs a class number for each prediction, shape {shape_text(expected)}, got "
            f"{shape_text(y_true.shape)}.",
            hint="For one-hot labels use categorical_crossentropy.",
        )
    return labels


def _is_same(a: Shape, b: Shape) -> bool:
    return is_static(a) and a == b


def _may_fit(targets: Shape, predictions: Shape) -> bool:
    """Return whether both can be the same number of samples, of the same number of values."""
    count, other = targets[0], predictions[0]
    if None not in (count, other) and count != other:
        return False
    a, b = targets[1:], predictions[1:]
    if is_static(a) and is_static(b):
        return count_of(a) == count_of(b)
    return len(a) == len(b) and all(None in (x, y) or x == y for x, y in zip(a, b, strict=True))
