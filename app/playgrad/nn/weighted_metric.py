"""Metrics in which samples count by their weights."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.masked_metric import MaskedMetric
from playgrad.nn.masked_steps import divided_steps, joined_steps, sum_of_steps
from playgrad.nn.masks import mask_of
from playgrad.nn.metrics import Metric
from playgrad.nn.ratio_metrics import RatioMetric
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.elementwise.definitions import where


class WeightedMetric(RatioMetric):
    """A metric as its weighted mean over the samples of the data set, 0 if no sample has a weight.

    A metric that is computed from means, such as a precision, is computed from weighted means.

    Args:
        metric: the metric of samples that all count the same.
        name: the name in logs.
    """

    def __init__(self, metric: Metric, name: str) -> None:
        super().__init__(name)
        self.metric = metric
        self.direction = metric.direction

    def part_names(self, output: Shape) -> Sequence[str]:
        if isinstance(self.metric, RatioMetric):
            return (*self.metric.part_names(output), "weight")
        return ("value", "weight")

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        return self.weighted_parts(y_true, y_pred, None)

    def weighted_parts(
        self, y_true: Tensor, y_pred: Tensor, weight: Tensor | None
    ) -> Sequence[Tensor]:
        """Return `part_values` for the weights of the samples, (batch,), or of their steps,
        (batch, steps); None if all weigh 1."""
        if weight is not None and weight.spec.rank > 1:
            return _parts_of_steps(self.metric, y_true, y_pred, weight)
        if isinstance(self.metric, RatioMetric):
            parts = list(self.metric.part_values(y_true, y_pred))
        else:
            parts = [self.metric(y_true, y_pred)]
        if weight is None:
            return *parts, ones_like(parts[0] if parts[0].spec.rank == 1 else parts[0][:, 0])
        beside = expand_dims(weight, 1)
        return *(part * (weight if part.spec.rank == 1 else beside) for part in parts), weight

    def result_of(self, means: Sequence[float], samples: int) -> float | list[float]:
        *parts, weight = means
        parts = [part / weight if weight else 0.0 for part in parts]
        if isinstance(self.metric, RatioMetric):
            return self.metric.result_of(parts, samples)
        return parts[0]


def _parts_of_steps(
    metric: Metric, y_true: Tensor, y_pred: Tensor, weight: Tensor
) -> Sequence[Tensor]:
    """Return the parts of a metric of steps that have weights, and the sum of the weights."""
    mask = mask_of(y_pred)
    if mask is not None:
        weight = where(mask, weight, 0.0)
    single = metric.metric if isinstance(metric, MaskedMetric) else metric
    if isinstance(single, RatioMetric):
        joined = joined_steps(y_true, weight), joined_steps(y_pred, weight)
        each = [divided_steps(part, weight) for part in single.part_values(*joined)]
    else:
        each = [single.each_step(y_true, y_pred, weight)]
    beside = expand_dims(weight, -1)
    parts = [
        sum_of_steps(part * (weight if part.spec.rank == weight.spec.rank else beside), weight)
        for part in each
    ]
    total = sum_of_steps(weight, weight)
    return (*parts, total, total) if isinstance(metric, MaskedMetric) else (*parts, total)
