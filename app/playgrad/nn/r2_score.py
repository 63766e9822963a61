"""The coefficient of determination."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.source import warn_user
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.ratio_metrics import RatioMetric
from playgrad.nn.target_shapes import in_shape_of
from playgrad.ops.elementwise.definitions import square, squared_difference

_AGGREGATIONS = (None, "uniform_average", "variance_weighted_average")


class R2Score(RatioMetric):
    """Coefficient of determination: the fraction of the variance that is explained.

    Targets and predictions are (batch, outputs).

    Args:
        class_aggregation: "uniform_average" for the mean of the scores of all outputs,
            "variance_weighted_average" to weight them by the variance of their targets, None for
            the score of each output.
        num_regressors: the number of independent variables, for the adjusted score; 0 for the
            score itself.
        name: the name in logs.

    Raises:
        ValueError: there is no such aggregation, or ``num_regressors`` is negative.
    """

    kind = "r2_score"
    direction = "max"

    def __init__(
        self,
        class_aggregation: str | None = "uniform_average",
        num_regressors: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        if class_aggregation not in _AGGREGATIONS:
            raise ValueError(
                f"class_aggregation must be one of {', '.join(map(repr, _AGGREGATIONS))}, got "
                f"{class_aggregation!r}"
            )
        if num_regressors < 0:
            raise ValueError(f"num_regressors must be at least 0, got {num_regressors}")
        self.class_aggregation, self.num_regressors = class_aggregation, num_regressors

    def part_names(self, output: Shape) -> Sequence[str]:
        outputs = range(output[-1] or 0) if len(output) == 2 else ()
        return [f"{part}/{i}" for part in ("residual", "square", "target") for i in outputs]

    def part_values(self, y_true: Tensor, y_pred: Tensor) -> Sequence[Tensor]:
        if len(y_pred.shape) != 2 or not y_pred.shape[-1]:
            raise ShapeError(
                f"{self.name} needs an output of shape (batch, outputs), not "
                f"{shape_text(y_pred.shape)}."
            )
        true = in_shape_of(y_true, y_pred, self.name)
        return squared_difference(y_pred, true), square(true), true

    def result(self, means: Sequence[float]) -> float | list[float]:
        residuals, squares, targets = np.reshape(means, (3, -1))
        variances = squares - targets * targets
        explained = np.divide(residuals, variances, out=np.ones(len(squares)), where=variances > 0)
        scores = 1.0 - explained
        if self.class_aggregation is None:
            return [float(score) for score in scores]
        if self.class_aggregation == "uniform_average":
            return float(scores.mean())
        total = variances.sum()
        return float((scores * variances).sum() / total) if total > 0 else 0.0

    def result_of(self, means: Sequence[float], samples: int) -> float | list[float]:
        score = self.result(means)
        if not self.num_regressors:
            return score
        numbers = samples * len(means) // 3  # Keras counts the targets of all outputs
        left = numbers - self.num_regressors - 1
        if left <= 0:
            warn_user(
                f"{self.name} of {numbers} targets cannot be adjusted for {self.num_regressors} "
                "regressors; it is the score itself."
            )
            return score
        scale = (numbers - 1) / left
        if isinstance(score, list):
            return [1.0 - (1.0 - each) * scale for each in score]
        return 1.0 - (1.0 - score) * scale
