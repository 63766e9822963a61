"""The base classes of losses.

A loss maps targets and predictions to one number per sample, shape (batch,); training minimizes
their mean, which a call returns.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from playgrad.constructed import Constructed
from playgrad.errors import DataError, GraphError, ShapeError, shape_text
from playgrad.graph.eager import at_once
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.label_checks import count_of, fits, outputs_hint
from playgrad.nn.masked_steps import joined_steps, sum_of_kept
from playgrad.nn.target_shapes import in_shape_of
from playgrad.ops.arrays.axes import moveaxis
from playgrad.ops.arrays.shape import reshape, reshape_like
from playgrad.ops.core.build import as_tensor
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum

Array = np.ndarray[Any, Any]
BY_KIND: dict[str, type[Loss]] = {}
"""Every class of losses that has a ``kind``."""


MEAN, SUM, NONE = "sum_over_batch_size", "sum", "none"
_REDUCTIONS = {"mean": MEAN, "auto": MEAN, MEAN: MEAN, SUM: SUM, NONE: NONE, None: NONE}


class Loss(Constructed):
    """Base class of losses. A subclass sets ``kind``, the name by which `get` finds it.

    Args:
        reduction: the result of a call: the mean over the batch ("sum_over_batch_size" or "mean"),
            the "sum", or with "none" one number per sample. `Model.fit` takes the mean.
        name: for the program only.

    Attributes:
        target_dtype: the dtype of targets on the device.
        uses_mask: whether the call itself cares for the mask of the predictions.
        negated_as_metric: whether the metric of this name is the negative loss.
    """

    kind: ClassVar[str] = ""
    target_dtype: ClassVar[str] = "float32"
    uses_mask: ClassVar[bool] = False
    negated_as_metric: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            BY_KIND[cls.kind] = cls

    def __init__(self, reduction: str | None = MEAN, name: str | None = None) -> None:
        self.reduction = _checked_reduction(reduction)
        self.name = name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Tensor:
        """Return the loss of a batch: a scalar, or as ``reduction`` says.

        Args:
            sample_weight: the weight of each sample, (batch,); None for 1.

        Raises:
            ShapeError: the targets do not fit the predictions. If a size is unknown, a run raises
                it.
        """
        with at_once(y_true, y_pred):
            values = self.per_sample(y_true, as_tensor(y_pred))
            if sample_weight is not None:
                values = values * sample_weight
            reduction = getattr(self, "reduction", MEAN)
            if reduction == NONE:
                return values
            return reduce_sum(values) if reduction == SUM else reduce_mean(values)

    def per_sample(self, y_true: Any, y_pred: Tensor) -> Tensor:
        """Return the loss of each sample, shape (batch,).

        Raises:
            ShapeError: as for a call.
        """
        return self.call(self.aligned(y_true, y_pred), y_pred)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the loss of each sample, for targets that `aligned` returned. Override this."""
        raise NotImplementedError

    def aligned(self, y_true: Any, y_pred: Tensor) -> Tensor:
        """Return targets in the shape that ``call`` takes: that of the predictions."""
        return in_shape_of(y_true, y_pred, self.kind)

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        """Return the loss of each step of sequences (batch, steps, ...), of the shape of ``mask``.

        Steps are taken for samples.
        """
        each = self.per_sample(joined_steps(y_true, mask), joined_steps(y_pred, mask))
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
                code="targets-shape",
                values=self._shape_values(y, output, layer),
            )
        values = np.ascontiguousarray(y, self.target_dtype)
        if not np.isfinite(values).all():
            raise DataError(f"{what} contains NaN or infinity.")
        return values

    def _shape_values(self, y: Array, output: Shape, layer: str) -> dict[str, float | str]:
        """Return sizes of targets and predictions for which the page has sentences of its own.

        "targets" and "outputs" are how many numbers a sample has, or 0 if it has more than one
        dimension; "classes" is the number of classes if the targets may be class numbers, or 0.
        """
        is_whole = y.ndim == 1 and bool(np.isfinite(y).all() and (y % 1 == 0).all())
        return {
            "loss": self.kind,
            "layer": layer,
            "axes": len(output) - 1,
            "targets": 0 if y.ndim > 2 else int(y.size // len(y)),
            "outputs": 0 if len(output) > 2 else count_of(output[1:]),
            "classes": int(y.max()) + 1 if is_whole and y.min() >= 0 else 0,
        }

    def _shape_hint(self, y: Array, layer: str) -> str:
        if y.ndim > 2:
            return f"The output is computed by the layer '{layer}'."
        count = y.shape[1] if y.ndim == 2 else 1
        hint = outputs_hint(layer, count, "pass targets of the other shape")
        classes = "; for labels that are class numbers use sparse_categorical_crossentropy."
        return hint if y.ndim == 2 else hint.removesuffix(".") + classes


def _checked_reduction(reduction: Any) -> str:
    try:
        return _REDUCTIONS[reduction]
    except (KeyError, TypeError):
        raise GraphError(
            f"there is no reduction {reduction!r} of losses.",
            hint="Use 'sum_over_batch_size', 'sum' or 'none'.",
        ) from None


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


def as_rows(values: Tensor) -> Tensor:
    """Return ``values`` (..., n) as a matrix of rows of n."""
    return values if values.spec.rank == 2 else reshape(values, (-1, values.shape[-1]))


def mean_of_sample(values: Tensor) -> Tensor:
    """Return the mean of ``values`` (batch, ...) over all dimensions but the batch."""
    rank = len(values.shape)
    return values if rank == 1 else reduce_mean(values, axis=tuple(range(1, rank)))
