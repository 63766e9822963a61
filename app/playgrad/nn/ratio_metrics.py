"""Metrics of a whole data set that are computed from several means: precision, recall, R2."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.eager import is_building
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.loss import mean_of_sample
from playgrad.nn.metrics import Metric
from playgrad.nn.target_shapes import in_shape_of
from playgrad.ops.arrays.one_hot import one_hot
from playgrad.ops.arrays.sort import top_k as largest
from playgrad.ops.elementwise.definitions import cast, equal, squared_difference
from playgrad.ops.reductions.reduce import reduce_sum


@dataclass(frozen=True)
class ResultOfBatches:
    """The result of a `RatioMetric` in a ``train_step``, for the logs: it is computed from the
    means over all batches.

    Attributes:
        means: the means of the batch, (n,), in the order of ``names``.
    """

    metric: RatioMetric
    names: Sequence[str]
    means: Tensor


class RatioMetric(Metric):
    """Base class of metrics that are computed from the means of several numbers per sample.

    The device computes the means; the logs of an epoch, and of an evaluation, show the result for
    all of its samples, not the mean of the results of batches.

    Attributes:
        parts: the names of the numbers.
    """

    parts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "result" in cls.__dict__:
            cls.result = _also_of_state(cls.__dict__["result"])  # type: ignore[method-assign]

    def _parts(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        self._output = y_pred.shape
        return self.part_values(y_true, y_pred)

    def of_batch(self) -> Any:
        """Return `ResultOfBatches` in a step that has updated the metric; else a tensor."""
        means = self.state.means_of_batch()
        if means is None:
            return self.state.mean_tensor()
        return ResultOfBatches(self, self.part_names(self._output), means)

    def part_names(self, output: Shape) -> Sequence[str]:
        """Return the names of the numbers for predictions of the shape ``output``: ``parts``."""
        return self.parts

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        """Return the numbers of each sample, in the order of `part_names`.

        Each tensor is float32, with one number for each sample (batch,), or n of them (batch, n).
        """
        raise NotImplementedError

    def result(self, means: Sequence[float]) -> float | list[float]:
        """Return the metric, from the means of the numbers; a list has an entry each in logs.

        ``means`` defaults to the means of the samples passed to `update_state` since `reset_state`.
        """
        raise NotImplementedError

    def result_of(self, means: Sequence[float], samples: int) -> float | list[float]:
        """Return the metric of ``samples`` samples; the default ignores ``samples``."""
        return self.result(means)


def _also_of_state(result: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``result`` of a subclass: without means, it takes the means of the metric's state."""

    @functools.wraps(result)
    def of(self: RatioMetric, means: Sequence[float] | None = None) -> Any:
        if means is not None:
            return result(self, means)
        if is_building():
            return self.of_batch()
        own, count = self.state.means()
        return self.result_of(own, round(count)) if own else 0.0

    return of


class _Threshold(RatioMetric):
    """Args:
    thresholds: a prediction above it counts as 1; None for 0.5, or with ``top_k`` for no threshold.
    top_k: how many of the largest predictions of a sample can count as 1; None for all.
    class_id: the only class that counts; None for all.
    name: the name in logs.

    Raises:
        ValueError: an argument is out of its range.
    """

    def __init__(
        self,
        thresholds: float | None = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        default = 0.5 if top_k is None else None
        self.threshold = default if thresholds is None else float(thresholds)
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise ValueError(f"thresholds must be a number between 0 and 1, got {thresholds}")
        for what, value, least in (("top_k", top_k, 1), ("class_id", class_id, 0)):
            if value is not None and not (isinstance(value, int) and value >= least):
                raise ValueError(f"{what} must be a whole number of at least {least}, got {value}")
        self.top_k, self.class_id = top_k, class_id

    def result(self, means: Sequence[float]) -> float:
        hits, total = means
        return hits / total if total else 0.0

    def _true_and_predicted(self, y_true: Tensor, y_pred: Tensor) -> tuple[Tensor, Tensor]:
        true = cast(in_shape_of(y_true, y_pred, self.name) > 0.5, "float32")
        classes = y_pred.shape[-1] if len(y_pred.shape) > 1 else None
        for what, least in (("top_k", self.top_k), ("class_id", self.class_id)):
            if least is not None and (classes is None or classes < least + (what == "class_id")):
                raise ShapeError(
                    f"{self.name} with {what}={least} needs more classes than an output of shape "
                    f"{shape_text(y_pred.shape)} has."
                )
        predicted: Any = 1.0 if self.threshold is None else cast(y_pred > self.threshold, "float32")
        if self.top_k is not None and classes is not None:
            chosen = one_hot(largest(y_pred, self.top_k)[1], classes)
            predicted = reduce_sum(chosen, axis=-2) * predicted
        if self.class_id is not None:
            kept = slice(self.class_id, self.class_id + 1)
            true, predicted = true[..., kept], predicted[..., kept]
        return true, predicted


class Precision(_Threshold):
    """The fraction of predicted ones that are ones: 0 if there are none.

    Targets and predictions have one shape: binary, one for each of several labels, or one-hot.

    Args:
        thresholds: a prediction above it counts as 1; None for 0.5, or with ``top_k`` for no
            threshold.
        top_k: how many of the largest predictions of a sample can count as 1; None for all.
        class_id: the only class that counts; None for all.
        name: the name in logs.
    """

    kind = "precision"
    direction = "max"
    parts = ("hits", "predicted")

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        true, predicted = self._true_and_predicted(y_true, y_pred)
        return mean_of_sample(true * predicted), mean_of_sample(predicted)


class Recall(_Threshold):
    """The fraction of ones that are predicted: 0 if there are none.

    Targets and predictions have one shape: binary, one for each of several labels, or one-hot.

    Args:
        thresholds: a prediction above it counts as 1; None for 0.5, or with ``top_k`` for no
            threshold.
        top_k: how many of the largest predictions of a sample can count as 1; None for all.
        class_id: the only class that counts; None for all.
        name: the name in logs.
    """

    kind = "recall"
    direction = "max"
    parts = ("hits", "actual")

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        true, predicted = self._true_and_predicted(y_true, y_pred)
        return mean_of_sample(true * predicted), mean_of_sample(true)


class RootMeanSquaredError(RatioMetric):
    """Root of the mean squared error."""

    kind = "root_mean_squared_error"
    direction = "min"
    parts = ("squares",)

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        true = in_shape_of(y_true, y_pred, self.name)
        return (mean_of_sample(squared_difference(y_pred, true)),)

    def result(self, means: Sequence[float]) -> float:
        return math.sqrt(max(means[0], 0.0))


class BinaryAccuracy(Metric):
    """The fraction of yes/no outputs that are right.

    Args:
        name: the name in logs.
        threshold: a prediction above it counts as 1.
    """

    kind = "binary_accuracy"
    direction = "max"

    def __init__(self, name: str | None = None, threshold: float = 0.5) -> None:
        super().__init__(name)
        self.threshold = threshold

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        true = in_shape_of(y_true, y_pred, self.name)
        return mean_of_sample(cast(equal(y_pred > self.threshold, true > 0.5), "float32"))
