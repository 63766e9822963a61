"""Cross-entropy of labels that are class numbers, probabilities, or answers yes and no."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from playgrad.errors import DataError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Node, Tensor
from playgrad.nn.label_checks import check_labels
from playgrad.nn.loss import MEAN, AlongAxis, as_rows, mean_of_sample
from playgrad.nn.target_shapes import labels_along
from playgrad.ops.arrays.gather import as_indices
from playgrad.ops.arrays.shape import (
    expand_dims,
    reshape,
    reshape_like,
    squeeze,
    stop_gradient,
)
from playgrad.ops.core.build import add_node, as_tensor
from playgrad.ops.elementwise.activations import softplus
from playgrad.ops.elementwise.definitions import equal, log, maximum, minimum, not_equal, where
from playgrad.ops.reductions.cross_entropy import (
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from playgrad.ops.reductions.reduce import reduce_sum

Array = np.ndarray[Any, Any]
_EPSILON = 1e-7
"""Probabilities are clipped this far from 0 and 1 before their logarithm is taken."""


def _log_of_shares(y_pred: Tensor) -> Tensor:
    """Return the logarithm of predictions (..., classes), divided by their sum as in Keras."""
    total = reduce_sum(y_pred, axis=-1, keepdims=True)
    total = where(equal(total, 0.0), 1.0, total)
    shares = y_pred / total
    clipped = stop_gradient(minimum(maximum(shares, _EPSILON), 1.0 - _EPSILON))
    # A share that is clipped has no derivative, also where it is infinite.
    kept = equal(clipped, shares)
    quotient = where(kept, y_pred, 0.0) / where(kept, total, 1.0)
    return log(where(kept, quotient, clipped))


class FromScores(AlongAxis):
    """A loss on probabilities, or with ``from_logits=True`` on scores before softmax."""

    def __init__(self, from_logits: bool = False, reduction: str | None = MEAN) -> None:
        super().__init__(reduction)
        self.from_logits = from_logits

    def scores(self, y_pred: Tensor) -> Tensor | None:
        """Return the logits of ``y_pred``; None if only probabilities are available.

        Cross-entropy from logits is exact where probabilities are rounded to 0 or 1, so the input
        of a final softmax is used instead of its output.
        """
        if self.from_logits:
            return y_pred
        node = y_pred.node
        while node.inputs and (node.op.name == "identity" or _joins_positions(node)):
            node = node.inputs[0].node
        last = len(node.outputs[0].shape) - 1
        if node.inputs and node.op.name == "softmax" and node.attrs.get("axis", -1) in (-1, last):
            logits = node.inputs[0]
            return logits if y_pred.spec.rank == last + 1 else as_rows(logits)
        if node.op.name in ("add", "matmul"):
            warnings.warn(
                f"{self.kind} expects probabilities, but the model ends in '{node.name}' without "
                "a softmax: add activation='softmax', or use from_logits=True.",
                stacklevel=2,
            )
        return None


class SparseCategoricalCrossentropy(FromScores):
    """Cross-entropy with labels that are class numbers from 0.

    Probabilities that do not sum to 1 are divided by their sum.

    Labels (batch,) for predictions (batch, classes). Where there is a prediction for each position
    of a sample, (batch, positions, classes), labels are (batch, positions), and the loss of the
    sample is the mean over its positions.

    Args:
        from_logits: whether predictions are scores before softmax, rather than probabilities.
        ignore_class: a label whose samples, or positions, do not count; None for none.
        axis: the axis of the classes.
    """

    kind = "sparse_categorical_crossentropy"
    target_dtype = "int32"

    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        axis: int = -1,
        reduction: str | None = MEAN,
    ) -> None:
        super().__init__(from_logits, reduction)
        self.ignore_class = None if ignore_class is None else int(ignore_class)
        self.set_axis(axis)

    def kept_targets(self, y_true: Tensor) -> Tensor | None:
        return None if self.ignore_class is None else not_equal(y_true, self.ignore_class)

    def aligned(self, y_true: Any, y_pred: Tensor) -> Tensor:
        labels = as_tensor(y_true, y_pred.graph)
        if y_pred.spec.rank < 2:
            raise ShapeError(
                f"{self.kind} needs predictions (batch, ..., classes), not "
                f"{shape_text(y_pred.shape)}."
            )
        self.is_last(y_pred.spec.rank)  # checks the axis
        axis = self.axis % y_pred.spec.rank
        return labels_along(labels, y_pred.shape, axis, self.kind)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        kept = self.kept_targets(y_true)
        if kept is None:
            return mean_of_sample(self._of_labels(y_true, y_pred))
        each = self._of_labels(where(kept, y_true, 0), y_pred)
        return mean_of_sample(where(kept, each, 0.0))

    def _of_labels(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the loss of each label, in the shape of the labels."""
        y_pred = self.axis_last(y_pred)
        logits, labels = self.scores(y_pred), reshape(y_true, (-1,))
        if logits is not None:
            each = sparse_softmax_cross_entropy(as_rows(logits), labels)
        else:
            inputs = [-_log_of_shares(as_rows(y_pred)), expand_dims(as_indices(labels), 1)]
            attrs = {"axis": 1, "labels": True}  # check_targets has checked a data set's labels
            each = squeeze(add_node("take_along_axis", inputs, attrs).output, 1)
        return each if y_true.spec.rank == 1 else reshape_like(each, y_true)

    def check_targets(self, y: Array, output: Shape, what: str, layer: str) -> Array:
        if len(output) < 2:
            raise ShapeError(
                f"{self.kind} needs an output of shape (batch, ..., classes), not "
                f"{shape_text(output)}."
            )
        if not self.is_last(len(output)):
            axis = self.axis % len(output)
            y = np.moveaxis(y, axis, -1) if y.ndim == len(output) else y
            output = (*output[:axis], *output[axis + 1 :], output[axis])
        labels = y[..., 0] if y.ndim == len(output) and y.shape[-1] == 1 else y
        expected = tuple(output[1:-1])
        if labels.ndim != len(expected) + 1 or any(
            size not in (None, count)
            for size, count in zip(expected, labels.shape[1:], strict=True)
        ):
            hint = "For one-hot labels use categorical_crossentropy."
            if expected:
                hint += f" For one label per sample put nn.Flatten() before '{layer}'."
            raise ShapeError(
                f"{what} must hold one class number per "
                f"{'position' if expected else 'sample'} of an output {shape_text(output)}, but "
                f"has samples of shape {shape_text(y.shape[1:])}.",
                hint=hint,
                code="targets-shape",
                values=self._shape_values(y, output, layer),
            )
        if labels.dtype.kind == "f" and not (np.isfinite(labels) & (labels % 1 == 0)).all():
            raise DataError(
                f"{what} must hold whole class numbers.",
                code="labels-fractional",
                values={"loss": self.kind, "layer": layer},
            )
        counted = labels if self.ignore_class is None else labels * (labels != self.ignore_class)
        check_labels(counted, int(output[-1] or 0), what, layer)
        return labels.astype(np.int32)


class Smoothed(FromScores):
    """A loss on labels that may be smoothed (Szegedy et al. 2016).

    Args:
        from_logits: whether predictions are scores.
        label_smoothing: the fraction of each label that is spread evenly over all classes.
        axis: the axis of the classes.

    Raises:
        ValueError: ``label_smoothing`` is not between 0 and 1.
    """

    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        axis: int = -1,
        reduction: str | None = MEAN,
    ) -> None:
        super().__init__(from_logits, reduction)
        self.set_axis(axis)
        if not 0.0 <= label_smoothing <= 1.0:
            raise ValueError(f"label_smoothing must be between 0 and 1, got {label_smoothing}")
        self.label_smoothing = float(label_smoothing)

    def smoothed(self, y_true: Tensor, classes: int) -> Tensor:
        """Return the labels of ``classes`` classes, smoothed."""
        if self.label_smoothing == 0.0:
            return y_true
        return y_true * (1.0 - self.label_smoothing) + self.label_smoothing / classes


class CategoricalCrossentropy(Smoothed):
    """Cross-entropy with labels that are probabilities, one-hot or soft: (batch, ..., classes).

    Predicted probabilities that do not sum to 1 are divided by their sum.
    Where there is a prediction for each position of a sample, its loss is the mean over them.

    Args:
        from_logits: whether predictions are scores before softmax, rather than probabilities.
        label_smoothing: the fraction of each label that is spread evenly over all classes.
        axis: the axis of the classes.
    """

    kind = "categorical_crossentropy"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        y_true, y_pred = self.axis_last(y_true), self.axis_last(y_pred)
        y_true = self.smoothed(y_true, y_pred.shape[-1] or 1)
        logits = self.scores(y_pred)
        if logits is not None:
            each = softmax_cross_entropy(as_rows(logits), as_rows(y_true))
            if logits.spec.rank > 2:
                each = reshape_like(each, reduce_sum(y_true, axis=-1))
            return mean_of_sample(each)
        return mean_of_sample(reduce_sum(y_true * -_log_of_shares(y_pred), axis=-1))

    def _shape_hint(self, y: Array, layer: str) -> str:
        if y.ndim == 1:
            return "For labels that are class numbers use sparse_categorical_crossentropy."
        return super()._shape_hint(y, layer)


class BinaryCrossentropy(Smoothed):
    """Cross-entropy of independent yes/no outputs, with labels between 0 and 1.

    Args:
        from_logits: whether predictions are scores before the sigmoid, rather than probabilities.
        label_smoothing: the fraction of each label that is moved towards 0.5.
        axis: the axis of the outputs, over which the mean is taken first. As there is one number
            for each sample, the mean over all others follows.
    """

    kind = "binary_crossentropy"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        if y_pred.spec.rank > 1:
            self.is_last(y_pred.spec.rank)  # checks the axis
        y_true = self.smoothed(y_true, 2)
        if self.from_logits:
            # Two terms that are never negative, so that a small loss is not lost in a difference.
            return mean_of_sample(y_true * softplus(-y_pred) + (1.0 - y_true) * softplus(y_pred))
        p = minimum(maximum(y_pred, _EPSILON), 1.0 - _EPSILON)
        return mean_of_sample(-(y_true * log(p) + (1.0 - y_true) * log(1.0 - p)))

    def check_targets(self, y: Array, output: Shape, what: str, layer: str) -> Array:
        values = super().check_targets(y, output, what, layer)
        if values.size and (values.min() < 0 or values.max() > 1):
            raise DataError(
                f"{what} must be between 0 and 1 for {self.kind}, but ranges from "
                f"{values.min():g} to {values.max():g}.",
                hint="Two classes are 0 and 1. For more use sparse_categorical_crossentropy, and "
                f"give '{layer}' one output for each class.",
                code="targets-outside",
                values={
                    "loss": self.kind,
                    "layer": layer,
                    "least": float(values.min()),
                    "most": float(values.max()),
                    "whole": int((values % 1 == 0).all()),
                },
            )
        return values


def _joins_positions(node: Node) -> bool:
    """Return whether ``node`` makes a matrix of the predictions of all positions."""
    if node.op.name != "reshape":
        return False
    before, after = node.inputs[0].shape, node.outputs[0].shape
    return len(after) == 2 and len(before) > 2 and before[-1] == after[-1]
