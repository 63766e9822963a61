"""F scores: precision and recall of each class in one number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.ratio_metrics import RatioMetric
from playgrad.nn.target_shapes import in_shape_of
from playgrad.ops.elementwise.definitions import (
    absolute,
    cast,
    greater,
    greater_equal,
    logical_and,
)
from playgrad.ops.reductions.reduce import reduce_max

Array = np.ndarray[Any, Any]
_AVERAGES = (None, "micro", "macro", "weighted")


class FBetaScore(RatioMetric):
    """Weighted harmonic mean of precision and recall, ``(1 + b²) p r / (b² p + r)``.

    Targets are one-hot, or 0 and 1 for each of several labels: (batch, classes).

    Args:
        average: "micro" counts all classes together, "macro" is the mean of the classes' scores,
            "weighted" their mean by the number of targets. None shows the score of each class,
            under the name followed by "_0", "_1" and so on.
        beta: the weight of recall, above 0.
        threshold: a prediction above it counts as 1; None takes the largest of each sample.
        name: the name in logs.

    Raises:
        ValueError: an argument is out of its range.
    """

    kind = "fbeta_score"
    direction = "max"

    def __init__(
        self,
        average: str | None = None,
        beta: float = 1.0,
        threshold: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        if average not in _AVERAGES:
            raise ValueError(f"average must be None, micro, macro or weighted, got {average!r}")
        if not beta > 0:
            raise ValueError(f"beta must be above 0, got {beta}")
        if threshold is not None and not 0.0 < threshold <= 1.0:
            raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
        self.average, self.beta, self.threshold = average, float(beta), threshold

    def part_names(self, output: Shape) -> Sequence[str]:
        if len(output) != 2 or output[1] is None:
            raise ShapeError(
                f"{self.name} needs an output of shape (batch, classes), not {shape_text(output)}."
            )
        parts = ("hits", "predicted", "actual")
        return [f"{part}/{i}" for part in parts for i in range(output[1])]

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        self.part_names(y_pred.shape)
        true = in_shape_of(y_true, y_pred, self.name)
        if self.threshold is None:
            largest = greater_equal(y_pred, reduce_max(y_pred, axis=-1, keepdims=True))
            # A sample whose predictions are all 0 has no largest one.
            chosen = logical_and(largest, greater(absolute(y_pred), 1e-9))
        else:
            chosen = greater(y_pred, self.threshold)
        predicted = cast(chosen, "float32")
        return true * predicted, predicted, true

    def result(self, means: Sequence[float]) -> float | list[float]:
        hits, predicted, actual = np.array(means).reshape(3, -1)
        if self.average == "micro":
            hits, predicted, actual = (
                value.sum(keepdims=True) for value in (hits, predicted, actual)
            )
        weight = self.beta**2
        scores = _quotient((1 + weight) * hits, predicted + weight * actual)
        if self.average is None:
            return [float(score) for score in scores]
        if self.average == "weighted":
            return float(np.sum(scores * actual) / actual.sum()) if actual.sum() > 0 else 0.0
        return float(scores.mean())


class F1Score(FBetaScore):
    """Harmonic mean of precision and recall; see `FBetaScore`.

    Args:
        average: None, "micro", "macro" or "weighted".
        threshold: a prediction above it counts as 1; None takes the largest of each sample.
        name: the name in logs.
    """

    kind = "f1_score"

    def __init__(
        self,
        average: str | None = None,
        threshold: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(average, 1.0, threshold, name)


def _quotient(a: Array, b: Array) -> Array:
    """Return ``a / b``, and 0 where ``b`` is 0."""
    return np.divide(a, b, out=np.zeros(len(a)), where=b > 0)
