"""Metrics. Each maps targets and predictions to one number per sample; logs show the means."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from playgrad.constructed import Constructed
from playgrad.errors import GraphError, ShapeError
from playgrad.graph.eager import at_once, is_building
from playgrad.graph.tensor import Tensor
from playgrad.nn import losses
from playgrad.nn.loss import mean_of_sample
from playgrad.nn.masked_steps import joined_steps, mean_of_steps
from playgrad.nn.metric_state import MetricState
from playgrad.nn.target_shapes import class_labels, in_shape_of
from playgrad.ops.arrays.one_hot import one_hot
from playgrad.ops.arrays.shape import reshape, reshape_like
from playgrad.ops.core.build import as_tensor
from playgrad.ops.elementwise.definitions import cast, equal
from playgrad.ops.reductions.argmax import argmax
from playgrad.ops.reductions.reduce import reduce_sum

BY_KIND: dict[str, type[Metric]] = {}
"""Every class of metrics that has a ``kind``."""


class Metric(Constructed):
    """Base class of metrics. A subclass sets ``kind``, the name by which `get` finds it.

    Args:
        name: the name in logs; ``kind`` if None.

    Attributes:
        direction: "max" or "min": whether larger or smaller values are better; None if unknown.
    """

    kind: ClassVar[str] = ""
    direction: str | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            BY_KIND[cls.kind] = cls

    def __init__(self, name: str | None = None) -> None:
        self.name = name or self.kind

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        """Return the metric of each sample, float32 (batch,)."""
        raise NotImplementedError

    # For training loops of one's own: the metric of all samples since reset_state

    @property
    def state(self) -> MetricState:
        """The sums over the samples that `update_state` has seen."""
        found: MetricState = vars(self).setdefault("_state", MetricState(self.name))
        return found

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Take in a batch.

        Args:
            y_true, y_pred: tensors or arrays.
            sample_weight: the weight of each sample, (batch,); None for 1.
        """
        with at_once(y_true, y_pred) if _has_tensor(y_true, y_pred) else at_once():
            y_pred = as_tensor(y_pred)
            y_true = as_tensor(y_true, y_pred.graph)
            self.state.add(self._parts(y_true, y_pred), sample_weight)

    def _parts(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        return [self(y_true, y_pred)]

    def result(self, *args: Any, **kwargs: Any) -> Any:
        """Return the metric of the samples since `reset_state`: a number; within a function of
        ``pg.function`` a tensor."""
        if is_building():
            return self.state.mean_tensor()
        means, _ = self.state.means()
        return np.float32(means[0] if means else 0.0)

    def reset_state(self) -> None:
        """Forget all samples."""
        self.state.reset()

    reset_states = reset_state

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        """Return the metric of each step of sequences (batch, steps, ...), in the mask's shape.

        Steps are taken for samples.
        """
        each = self(joined_steps(y_true, mask), joined_steps(y_pred, mask))
        return reshape_like(each, mask)


class Mean(Metric):
    """The mean of numbers, such as losses, in a training loop of one's own.

    ``mean(loss)`` and ``mean.update_state(loss)`` take in a number or several, ``mean.result()``
    is the mean of all of them since ``reset_state``.
    """

    def __init__(self, name: str = "mean") -> None:
        super().__init__(name)

    def update_state(self, values: Any, sample_weight: Any = None, *_: Any) -> None:  # type: ignore[override]
        """Take in numbers.

        Args:
            values: a tensor or an array of any shape.
            sample_weight: the weight of each number; None for 1.
        """
        with at_once(values) if _has_tensor(values) else at_once():
            each = reshape(cast(as_tensor(values), "float32"), (-1,))
            self.state.add([each], sample_weight)

    def __call__(self, values: Any, sample_weight: Any = None) -> Any:
        """Take in numbers, and return the mean so far."""
        self.update_state(values, sample_weight)
        return self.result()


class Accuracy(Metric):
    """Accuracy: the fraction of samples classified correctly.

    Labels are class numbers (batch, ...) or one-hot (batch, ..., classes). With a single output
    they are 0 or 1, and a prediction above ``threshold`` counts as 1.
    """

    kind = "accuracy"
    direction = "max"

    def __init__(self, name: str | None = None, threshold: float = 0.5) -> None:
        super().__init__(name)
        self.threshold = threshold

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        if len(y_pred.shape) == 1 or y_pred.shape[-1] == 1:
            true = in_shape_of(y_true, y_pred, self.name)
            above = y_pred > self.threshold
            return mean_of_sample(cast(equal(above, true > 0.5), "float32"))
        hits = equal(argmax(y_pred, axis=-1), class_labels(y_true, y_pred, self.name))
        return mean_of_sample(cast(hits, "float32"))


class TopKAccuracy(Metric):
    """The fraction of samples whose class is among the ``k`` with the highest scores."""

    kind = "top_k_accuracy"
    direction = "max"

    def __init__(self, k: int = 5, name: str | None = None) -> None:
        super().__init__(name or f"top_{k}_accuracy")
        self.k = k

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        if len(y_pred.shape) != 2:
            raise ShapeError(f"{self.name} needs an output of shape (batch, classes).")
        if len(y_true.shape) == 2 and y_true.shape[-1] != 1:
            labels = in_shape_of(y_true, y_pred, self.name)
        else:
            labels = one_hot(class_labels(y_true, y_pred, self.name), y_pred.shape[-1] or 0)
        score = reduce_sum(labels * y_pred, axis=-1, keepdims=True)
        above = reduce_sum(cast(y_pred > score, "float32"), axis=-1)
        return cast(above < float(self.k), "float32")


class MeanSquaredError(Metric):
    """The loss of this name as a metric."""

    kind = losses.MeanSquaredError.kind
    direction = "min"

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return losses.MeanSquaredError().per_sample(y_true, y_pred)


class MeanAbsoluteError(Metric):
    """The loss of this name as a metric."""

    kind = losses.MeanAbsoluteError.kind
    direction = "min"

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return losses.MeanAbsoluteError().per_sample(y_true, y_pred)


class LossMetric(Metric):
    """A loss, of the whole data set or a batch, as a metric.

    Args:
        loss: the loss.
        name: the name in logs; that of the loss if None.
    """

    def __init__(self, loss: losses.Loss, name: str | None = None) -> None:
        super().__init__(name or loss.kind)
        self.loss = loss
        self.direction = "max" if loss.negated_as_metric else "min"

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        values = self.loss.per_sample(y_true, y_pred)
        return -values if self.loss.negated_as_metric else values

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        values = self.loss.each_step(y_true, y_pred, mask)
        return -values if self.loss.negated_as_metric else values


class CustomMetric(Metric):
    """A metric from a function of (y_true, y_pred) that returns one number per sample."""

    kind = "custom"

    def __init__(self, function: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__(getattr(function, "__name__", "metric"))
        self.function = function

    def __call__(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(cast(self.function(y_true, y_pred), "float32"))

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        return mean_of_steps(cast(self.function(y_true, y_pred), "float32"), mask, self.name)


def _has_tensor(*values: Any) -> bool:
    return any(isinstance(value, Tensor) for value in values)


_OTHER_NAMES = {
    "acc": "accuracy",
    "f_beta_score": "fbeta_score",
    "rmse": "root_mean_squared_error",
    "mse": "mean_squared_error",
    "mae": "mean_absolute_error",
}


def get(value: Any) -> Metric:
    """Return the metric called ``value``, with that name in logs.

    A `Metric` is returned as is, a `Loss` or a function becomes a metric. Losses can also be
    named, and metrics by their class, such as "AUC"; logs then have the name in lower case, "auc".

    Raises:
        GraphError: there is no metric of that name.
    """
    if isinstance(value, Metric):
        return value
    if isinstance(value, losses.Loss):
        return LossMetric(value)
    if callable(value):
        return value() if isinstance(value, type) else CustomMetric(value)
    name = _in_lower_case(value) if isinstance(value, str) else "custom"
    kind = _OTHER_NAMES.get(name, name)
    if kind not in BY_KIND and losses.is_loss(kind):
        return LossMetric(losses.get(kind), name)
    if kind not in BY_KIND or kind == "custom":
        known = [name for name in BY_KIND if name != "custom"]
        raise GraphError(f"there is no metric {value!r}.", hint=f"Use one of: {', '.join(known)}.")
    return BY_KIND[kind](name=None if name == "acc" else name)


def _in_lower_case(name: str) -> str:
    """Return the name of a class, or "MSE", as logs have it: "TopKAccuracy" is "top_k_accuracy"."""
    by_class = {metric.__name__: kind for kind, metric in BY_KIND.items()}
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return by_class.get(name, words.lower())
