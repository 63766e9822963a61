"""The area under the curve of a binary classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.ratio_metrics import RatioMetric, in_shape_of
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.activations import sigmoid
from playgrad.ops.elementwise.definitions import cast, greater
from playgrad.ops.reductions.reduce import reduce_mean

Array = np.ndarray[Any, Any]
_EPSILON = 1e-7
"""The first threshold is this far below 0 and the last above 1, so that all and none are above."""


class AUC(RatioMetric):
    """Area under the curve of a binary classifier, from counts at a number of thresholds.

    Targets are 0 or 1 and predictions between 0 and 1, of one shape. Several outputs count as one
    classifier.

    Args:
        num_thresholds: the number of thresholds, evenly spaced.
        curve: "ROC", the rate of true positives over that of false positives, or "PR", precision
            over recall.
        summation_method: "interpolation", between thresholds; "minoring" is a lower and "majoring"
            an upper bound of each interval.
        name: the name in logs.
        thresholds: values between 0 and 1, in place of ``num_thresholds``; below 0 and above 1 are
            added.
        from_logits: whether predictions are scores before the sigmoid.

    Raises:
        ValueError: there is no such curve or method, or too few thresholds.
    """

    kind = "auc"

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        thresholds: Sequence[float] | None = None,
        from_logits: bool = False,
    ) -> None:
        super().__init__(name)
        for what, value, known in (
            ("curve", curve, ("ROC", "PR")),
            ("summation_method", summation_method, ("interpolation", "minoring", "majoring")),
        ):
            if value not in known:
                raise ValueError(f"{what} must be one of {', '.join(known)}, got {value!r}")
        if thresholds is None and num_thresholds < 2:
            raise ValueError(f"num_thresholds must be at least 2, got {num_thresholds}")
        if thresholds is None:
            inner = np.arange(1, num_thresholds - 1) / (num_thresholds - 1)
        else:
            inner = np.sort(np.asarray(thresholds, np.float64).reshape(-1))
            if inner.size and not (inner[0] >= 0.0 and inner[-1] <= 1.0):
                raise ValueError(f"thresholds must lie between 0 and 1, got {list(thresholds)}")
        self.curve, self.summation_method = curve, summation_method
        self.thresholds = np.array([-_EPSILON, *inner, 1.0 + _EPSILON], np.float32)
        self.from_logits = from_logits

    def part_names(self, output: Shape) -> Sequence[str]:
        count = range(len(self.thresholds))
        return [*(f"hits/{i}" for i in count), *(f"above/{i}" for i in count), "positive"]

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        true = cast(greater(in_shape_of(y_true, y_pred, self.name), 0.5), "float32")
        share = sigmoid(y_pred) if self.from_logits else y_pred
        axes = tuple(range(1, len(y_pred.shape)))
        above = cast(greater(expand_dims(share, -1), constant(self.thresholds)), "float32")
        hits = above * expand_dims(true, -1)
        if axes:
            hits, above, true = (reduce_mean(value, axis=axes) for value in (hits, above, true))
        return hits, above, true

    def result(self, means: Sequence[float]) -> float:
        count = len(self.thresholds)
        hits, above = np.array(means[:count]), np.array(means[count:-1])
        positive = means[-1]
        misses = above - hits
        if self.curve == "PR" and self.summation_method == "interpolation":
            return _interpolated_precision(hits, above, positive)
        recall = hits / positive if positive > 0 else np.zeros(count)
        if self.curve == "ROC":
            x = misses / (1.0 - positive) if positive < 1 else np.zeros(count)
            y = recall
        else:
            x, y = recall, np.divide(hits, above, out=np.zeros(count), where=above > 0)
        heights = {
            "interpolation": (y[:-1] + y[1:]) / 2,
            "minoring": np.minimum(y[:-1], y[1:]),
            "majoring": np.maximum(y[:-1], y[1:]),
        }[self.summation_method]
        return float(np.sum((x[:-1] - x[1:]) * heights))


def _interpolated_precision(hits: Array, above: Array, positive: float) -> float:
    """Return the area under precision over recall (Davis and Goadrich 2006, section 4).

    Between two thresholds, hits grow linearly with the number of predictions above; precision, the
    quotient, does not.
    """
    if positive <= 0:
        return 0.0
    gained, passed = hits[:-1] - hits[1:], above[:-1] - above[1:]
    slope = np.divide(gained, passed, out=np.zeros(len(gained)), where=passed > 0)
    offset = hits[1:] - slope * above[1:]
    both = (above[:-1] > 0) & (above[1:] > 0)
    ratio = np.divide(above[:-1], above[1:], out=np.ones(len(gained)), where=both)
    return float(np.sum(slope * (gained + offset * np.log(ratio))) / positive)
