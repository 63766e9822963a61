"""The area under the curve of a binary classifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.ratio_metrics import RatioMetric
from playgrad.nn.target_shapes import in_shape_of
from playgrad.ops.arrays.shape import expand_dims, reshape
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
    classifier, unless they are ``multi_label``.

    Args:
        num_thresholds: the number of thresholds, evenly spaced.
        curve: "ROC", the rate of true positives over that of false positives, or "PR", precision
            over recall.
        summation_method: "interpolation", between thresholds; "minoring" is a lower and "majoring"
            an upper bound of each interval.
        name: the name in logs.
        thresholds: values between 0 and 1, in place of ``num_thresholds``; below 0 and above 1 are
            added.
        multi_label: whether each of several outputs (batch, labels) is a classifier; the result is
            the mean of their areas.
        num_labels: the number of labels, if it is to be checked; needs ``multi_label``.
        label_weights: a weight of at least 0 for each label in the mean, or without ``multi_label``
            for each output in the counts; None for equal weights.
        from_logits: whether predictions are scores before the sigmoid.

    Raises:
        ValueError: there is no such curve or method, too few thresholds, or weights that cannot be.
    """

    kind = "auc"
    direction = "max"

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: str = "ROC",
        summation_method: str = "interpolation",
        name: str | None = None,
        thresholds: Sequence[float] | None = None,
        multi_label: bool = False,
        num_labels: int | None = None,
        label_weights: Sequence[float] | None = None,
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
        if num_labels is not None and not multi_label:
            raise ValueError("num_labels needs multi_label=True")
        self.multi_label, self.num_labels = multi_label, num_labels
        self.label_weights = None if label_weights is None else np.array(label_weights, np.float32)
        if self.label_weights is not None and not (
            self.label_weights.ndim == 1
            and (self.label_weights >= 0).all()
            and 0 < self.label_weights.sum() < np.inf
        ):
            raise ValueError(f"label_weights must be numbers of at least 0, got {label_weights}")

    def part_names(self, output: Shape) -> Sequence[str]:
        count = range(len(self.thresholds))
        labels = [f"/label {i}" for i in range(output[-1] or 0)] if self.multi_label else [""]
        return [
            *(f"hits/{i}{label}" for label in labels for i in count),
            *(f"above/{i}{label}" for label in labels for i in count),
            *(f"positive{label}" for label in labels),
        ]

    def _check_labels(self, y_pred: Tensor) -> None:
        labels = y_pred.shape[-1] if len(y_pred.shape) == 2 else None
        if (self.multi_label or self.label_weights is not None) and not labels:
            raise ShapeError(
                f"{self.name} of several labels needs an output of shape (batch, labels), not "
                f"{shape_text(y_pred.shape)}."
            )
        weights = None if self.label_weights is None else len(self.label_weights)
        for what, count in (("num_labels", self.num_labels), ("label_weights", weights)):
            if count not in (None, labels):
                raise ShapeError(
                    f"{self.name} has {what} for {count} labels, but the output has {labels}."
                )

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        self._check_labels(y_pred)
        true = cast(greater(in_shape_of(y_true, y_pred, self.name), 0.5), "float32")
        share = sigmoid(y_pred) if self.from_logits else y_pred
        axes = tuple(range(1, len(y_pred.shape)))
        above = cast(greater(expand_dims(share, -1), constant(self.thresholds)), "float32")
        hits = above * expand_dims(true, -1)
        if self.multi_label:
            columns = (y_pred.shape[-1] or 0) * len(self.thresholds)
            return reshape(hits, (-1, columns)), reshape(above, (-1, columns)), true
        if self.label_weights is not None:  # of mean 1, so that the sums are as for one label
            weights = constant(self.label_weights / self.label_weights.mean())
            beside = expand_dims(weights, -1)
            hits, above, true = hits * beside, above * beside, true * weights
        if axes:
            hits, above, true = (reduce_mean(value, axis=axes) for value in (hits, above, true))
        return hits, above, true

    def result(self, means: Sequence[float]) -> float:
        count = len(self.thresholds)
        labels = len(means) // (2 * count)
        hits, above = np.reshape(means[: 2 * count * labels], (2, labels, count))
        areas = [self._area(*each) for each in zip(hits, above, means[-labels:], strict=True)]
        weights = self.label_weights if self.multi_label else None
        return float(np.average(areas, weights=weights))

    def _area(self, hits: Array, above: Array, positive: float) -> float:
        count = len(self.thresholds)
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
