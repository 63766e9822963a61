"""Loss functions.

A loss maps targets and predictions to one number per sample, shape (batch,); training minimizes
their mean.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from playgrad.errors import DataError, GraphError, ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Node, Tensor
from playgrad.nn.label_checks import check_labels, count_of, fits, outputs_hint
from playgrad.nn.masked_steps import joined_steps, mean_of_steps, sum_of_kept
from playgrad.ops.arrays.axes import moveaxis
from playgrad.ops.arrays.one_hot import one_hot
from playgrad.ops.arrays.shape import reshape, reshape_like
from playgrad.ops.elementwise.activations import softplus
from playgrad.ops.elementwise.definitions import (
    absolute,
    log,
    maximum,
    minimum,
    not_equal,
    squared_difference,
    where,
)
from playgrad.ops.reductions.cross_entropy import (
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum

Array = np.ndarray[Any, Any]
_EPSILON = 1e-7
"""Probabilities are clipped this far from 0 and 1 before their logarithm is taken."""
_REGISTRY: dict[str, type[Loss]] = {}


class Loss:
    """Base class of losses. A subclass sets ``kind``, the name by which `get` finds it.

    Attributes:
        target_dtype: the dtype of targets on the device.
        uses_mask: whether the call itself cares for the mask of the predictions.
    """

    kind: ClassVar[str] = ""
    target_dtype: ClassVar[str] = "float32"
    uses_mask: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "kind" in cls.__dict__:
            _REGISTRY[cls.kind] = cls

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the loss of each sample, shape (batch,)."""
        raise NotImplementedError

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        """Return the loss of each step of sequences (batch, steps, ...), of the shape of ``mask``.

        Steps are taken for samples.
        """
        each = self(joined_steps(y_true, mask), joined_steps(y_pred, mask))
        return reshape_like(each, mask)

    def kept_targets(self, y_true: Tensor) -> Tensor | None:
        """Return where targets count, bool (batch, ...); None if all do."""
        return None

    def of_kept_steps(
        self, y_true: Tensor, y_pred: Tensor, mask: Tensor, mean_steps: Tensor
    ) -> Tensor:
        """Return the loss of each sample, (batch,), over the steps that ``mask`` keeps.

        Args:
            mean_steps: the mean number of kept steps of a sample. The mean of the result is then
                the mean over all kept steps of the batch, each with the same weight.
        """
        return sum_of_kept(self.each_step(y_true, y_pred, mask), mask) / mean_steps

    def check_targets(self, y: Array, output: Shape, what: str, layer: str) -> Array:
        """Return targets as they are copied to the device.

        Args:
            output: the shape of the predictions.
            what: the name of the targets, for errors.
            layer: the layer that computes the predictions, for errors.

        Raises:
            ShapeError: the shape of a sample differs from that of a prediction.
            DataError: labels are out of range, not finite, or not whole numbers.
        """
        expected = tuple(output[1:])
        if y.shape[1:] != expected and int(np.prod(y.shape[1:])) == count_of(expected):
            y = y.reshape(len(y), *(1 if n is None else n for n in expected))
        if not fits(y.shape[1:], expected):
            raise ShapeError(
                f"{what} has samples of shape {shape_text(y.shape[1:])}, but the model's output "
                f"has {shape_text(expected)}.",
                hint=self._shape_hint(y, layer),
            )
        values = np.ascontiguousarray(y, self.target_dtype)
        if not np.isfinite(values).all():
            raise DataError(f"{what} contains NaN or infinity.")
        return values

    def _shape_hint(self, y: Array, layer: str) -> str:
        if y.ndim > 2:
            return f"The output is computed by the layer '{layer}'."
        count = y.shape[1] if y.ndim == 2 else 1
        hint = outputs_hint(layer, count, "pass targets of the other shape")
        classes = "; for labels that are class numbers use sparse_categorical_crossentropy."
        return hint if y.ndim == 2 else hint.removesuffix(".") + classes


class AlongAxis(Loss):
    """A loss of vectors along an axis of the predictions.

    Attributes:
        axis: the axis, not that of the batch.
    """

    axis: int = -1

    def set_axis(self, axis: int) -> None:
        """Set ``axis``. For use in the constructor."""
        self.axis = int(axis)

    def is_last(self, rank: int) -> bool:
        """Return whether the axis is the last of ``rank``.

        Raises:
            ShapeError: there is no such axis, or it is that of the batch.
        """
        if not -rank <= self.axis < rank or self.axis % rank == 0:
            raise ShapeError(
                f"{self.kind} along axis {self.axis} needs predictions that have this axis after "
                f"that of the batch, got {rank} dimension{'s' * (rank != 1)}."
            )
        return self.axis % rank == rank - 1

    def axis_last(self, y: Tensor) -> Tensor:
        """Return ``y`` with the axis as its last one."""
        return y if self.is_last(y.spec.rank) else moveaxis(y, self.axis, -1)

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        if y_pred.spec.rank > 1 and not self.is_last(y_pred.spec.rank):
            raise ShapeError(
                f"{self.kind} of predictions with a mask is along the last axis, not {self.axis}."
            )
        if self.axis == -1:
            return super().each_step(y_true, y_pred, mask)
        last = copy.copy(self)
        last.axis = -1
        return last.each_step(y_true, y_pred, mask)


class FromScores(AlongAxis):
    """A loss on probabilities, or with ``from_logits=True`` on scores before softmax."""

    def __init__(self, from_logits: bool = False) -> None:
        self.from_logits = from_logits

    def scores(self, y_pred: Tensor) -> Tensor | None:
        """Return the logits of ``y_pred``; None if only probabilities are available.

        Cross-entropy from logits is exact where probabilities are rounded to 0 or 1, so the input
        of a final softmax is used instead of its output.
        """
        if self.from_logits:
            return y_pred
        node = y_pred.node
        while node.op.name == "identity" or _joins_positions(node):
            node = node.inputs[0].node
        last = len(node.outputs[0].shape) - 1
        if node.op.name == "softmax" and node.attrs.get("axis", -1) in (-1, last):
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
        self, from_logits: bool = False, ignore_class: int | None = None, axis: int = -1
    ) -> None:
        super().__init__(from_logits)
        self.ignore_class = None if ignore_class is None else int(ignore_class)
        self.set_axis(axis)

    def kept_targets(self, y_true: Tensor) -> Tensor | None:
        return None if self.ignore_class is None else not_equal(y_true, self.ignore_class)

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        kept = self.kept_targets(y_true)
        if kept is None:
            return mean_of_sample(self._of_labels(y_true, y_pred))
        each = self._of_labels(where(kept, y_true, 0), y_pred)
        return mean_of_sample(where(kept, each, 0.0))

    def _of_labels(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the loss of each label, in the shape of the labels."""
        y_pred = self.axis_last(y_pred)
        logits = self.scores(y_pred)
        if logits is not None:
            each = sparse_softmax_cross_entropy(as_rows(logits), reshape(y_true, (-1,)))
            return each if y_true.spec.rank == 1 else reshape_like(each, y_true)
        chosen = one_hot(y_true, y_pred.spec.shape[-1] or 0)
        return reduce_sum(chosen * -log(maximum(y_pred, _EPSILON)), axis=-1)

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
            )
        if labels.dtype.kind == "f" and not (np.isfinite(labels) & (labels % 1 == 0)).all():
            raise DataError(f"{what} must hold whole class numbers.")
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
        self, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1
    ) -> None:
        super().__init__(from_logits)
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

    Where there is a prediction for each position of a sample, its loss is the mean over them.

    Args:
        from_logits: whether predictions are scores before softmax, rather than probabilities.
        label_smoothing: the fraction of each label that is spread evenly over all classes.
        axis: the axis of the classes.
    """

    kind = "categorical_crossentropy"

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        y_true, y_pred = self.axis_last(y_true), self.axis_last(y_pred)
        y_true = self.smoothed(y_true, y_pred.shape[-1] or 1)
        logits = self.scores(y_pred)
        if logits is not None:
            each = softmax_cross_entropy(as_rows(logits), as_rows(y_true))
            if logits.spec.rank > 2:
                each = reshape_like(each, reduce_sum(y_true, axis=-1))
            return mean_of_sample(each)
        return mean_of_sample(reduce_sum(y_true * -log(maximum(y_pred, _EPSILON)), axis=-1))

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

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
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
            )
        return values


class MeanSquaredError(Loss):
    """Mean squared error of each sample."""

    kind = "mean_squared_error"

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(squared_difference(y_pred, y_true))


class MeanAbsoluteError(Loss):
    """Mean absolute error of each sample."""

    kind = "mean_absolute_error"

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(absolute(y_pred - y_true))


class CustomLoss(Loss):
    """A loss from a function of (y_true, y_pred) that returns one number per sample."""

    kind = "custom"

    def __init__(self, function: Callable[[Tensor, Tensor], Tensor]) -> None:
        self.function = function

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(self._values(y_true, y_pred))

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        return mean_of_steps(self._values(y_true, y_pred), mask, self._name)

    @property
    def _name(self) -> str:
        return getattr(self.function, "__name__", "loss")

    def _values(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        values = self.function(y_true, y_pred)
        if not isinstance(values, Tensor) or not values.shape:
            raise ShapeError(
                f"the loss function {self._name!r} must return one number per sample, shape "
                "(batch,).",
                hint="Leave out the mean over the batch: training computes it.",
            )
        return values


_SHORT = {
    "bce": "binary_crossentropy",
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
    "mape": "mean_absolute_percentage_error",
    "msle": "mean_squared_logarithmic_error",
    "kld": "kl_divergence",
    "logcosh": "log_cosh",
}


def get(value: str | Loss | Callable[[Tensor, Tensor], Tensor]) -> Loss:
    """Return the loss called ``value``; a `Loss` is returned as is, a function becomes a loss.

    Names are those of Keras: "mean_squared_error", "MeanSquaredError", "mse" or "MSE".

    Raises:
        GraphError: there is no loss of that name.
    """
    if isinstance(value, Loss):
        return value
    if callable(value):
        return value() if isinstance(value, type) else CustomLoss(value)
    if not isinstance(value, str) or not is_loss(value):
        known = [kind for kind in _REGISTRY if kind != "custom"]
        raise GraphError(f"there is no loss {value!r}.", hint=f"Use one of: {', '.join(known)}.")
    return _REGISTRY[_kind_of(value)]()


def is_loss(name: str) -> bool:
    """Return whether there is a loss of this name."""
    return _kind_of(name) in _REGISTRY and _kind_of(name) != "custom"


def _kind_of(name: str) -> str:
    """Return the kind that a short form or the name of a class stands for."""
    by_class = {loss.__name__: kind for kind, loss in _REGISTRY.items()}
    return _SHORT.get(name.lower()) or by_class.get(name, name)


def as_rows(values: Tensor) -> Tensor:
    """Return ``values`` (..., n) as a matrix of rows of n."""
    return values if values.spec.rank == 2 else reshape(values, (-1, values.shape[-1]))


def mean_of_sample(values: Tensor) -> Tensor:
    """Return the mean of ``values`` (batch, ...) over all dimensions but the batch."""
    rank = len(values.shape)
    return values if rank == 1 else reduce_mean(values, axis=tuple(range(1, rank)))


def _joins_positions(node: Node) -> bool:
    """Return whether ``node`` makes a matrix of the predictions of all positions."""
    if node.op.name != "reshape":
        return False
    before, after = node.inputs[0].shape, node.outputs[0].shape
    return len(after) == 2 and len(before) > 2 and before[-1] == after[-1]
