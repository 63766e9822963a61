"""Metrics of sequences with a mask."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.errors import GraphError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.masked_steps import divided_steps, joined_steps, kept_steps, sum_of_kept
from playgrad.nn.masks import mask_of
from playgrad.nn.metrics import Metric
from playgrad.nn.ratio_metrics import RatioMetric


class MaskedMetric(RatioMetric):
    """A metric of the steps that the mask of the predictions keeps.

    Each step counts as a sample of the metric; the result is that of all kept steps of the data
    set, and 0 if there are none.

    Args:
        metric: the metric of single steps.
        rank: the number of dimensions of the mask.
    """

    def __init__(self, metric: Metric, rank: int) -> None:
        super().__init__(metric.name)
        self.metric = metric
        self.direction = metric.direction
        self.rank = rank

    def part_names(self, output: Shape) -> Sequence[str]:
        if isinstance(self.metric, RatioMetric):
            return (*self.metric.part_names((None, *output[self.rank :])), "kept")
        return ("value", "kept")

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        mask = mask_of(y_pred)
        if mask is None:
            raise GraphError(f"the predictions of '{self.name}' have lost their mask.")
        kept = kept_steps(mask)
        if not isinstance(self.metric, RatioMetric):
            return sum_of_kept(self.metric.each_step(y_true, y_pred, mask), mask), kept
        true, predicted = joined_steps(y_true, mask), joined_steps(y_pred, mask)
        parts = [
            sum_of_kept(divided_steps(part, mask), mask)
            for part in self.metric.part_values(true, predicted)
        ]
        return *parts, kept

    def result_of(self, means: Sequence[float], samples: int) -> float | list[float]:
        *parts, kept = means
        parts = [part / kept if kept else 0.0 for part in parts]
        samples = round(kept * samples)  # steps
        if isinstance(self.metric, RatioMetric):
            return self.metric.result_of(parts, samples)
        return parts[0]
