"""Losses of numbers: robust ones, relative ones, and the cosine of the angle."""

from __future__ import annotations

import math
from numbers import Real

from playgrad.graph.tensor import Tensor
from playgrad.nn.loss import MEAN, AlongAxis, Loss, mean_of_sample
from playgrad.ops.elementwise.activations import softplus
from playgrad.ops.elementwise.definitions import (
    absolute,
    log,
    maximum,
    minimum,
    squared_difference,
)
from playgrad.ops.reductions.reduce import reduce_sum
from playgrad.ops.reductions.statistics import unit_vectors

_EPSILON = 1e-7
_LEAST_SQUARE = 1e-12


class Huber(Loss):
    """Huber loss: half the square of errors up to ``delta``, linear beyond (Huber 1964)."""

    kind = "huber"

    def __init__(self, delta: float = 1.0, reduction: str | None = MEAN) -> None:
        super().__init__(reduction)
        number = float(delta) if isinstance(delta, Real) else math.nan
        if not (math.isfinite(number) and number > 0):
            raise ValueError(f"delta of Huber must be a positive number, got {delta!r}")
        self.delta = number

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        error = absolute(y_pred - y_true)
        # Without a condition: s is the part of the error up to delta.
        small = minimum(error, self.delta)
        return mean_of_sample(small * (error - 0.5 * small))


class LogCosh(Loss):
    """Logarithm of the hyperbolic cosine of the error: like its square if small, else linear."""

    kind = "log_cosh"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        error = absolute(y_pred - y_true)
        return mean_of_sample(error + softplus(error * -2.0) - math.log(2.0))


class MeanAbsolutePercentageError(Loss):
    """Mean absolute error in percent of the target."""

    kind = "mean_absolute_percentage_error"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        relative = absolute(y_true - y_pred) / maximum(absolute(y_true), _EPSILON)
        return mean_of_sample(relative) * 100.0


class MeanSquaredLogarithmicError(Loss):
    """Mean squared difference of ``log(1 + y)``; negative numbers count as 0."""

    kind = "mean_squared_logarithmic_error"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(squared_difference(_log_of(y_pred), _log_of(y_true)))


class CosineSimilarity(AlongAxis):
    """Negative cosine of the angle between target and prediction: -1 if they agree, 1 if opposite.

    Vectors shorter than 1e-6 are divided by 1e-6 instead of their length, so that the similarity to
    a vector of zeros is 0, with a finite derivative. As a metric it is the cosine itself, as in
    Keras.

    Args:
        axis: the axis of the vectors.
    """

    kind = "cosine_similarity"
    negated_as_metric = True

    def __init__(self, axis: int = -1, reduction: str | None = MEAN) -> None:
        super().__init__(reduction)
        self.set_axis(axis)

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        y_true, y_pred = self.axis_last(y_true), self.axis_last(y_pred)
        true, predicted = (unit_vectors(y, -1, _LEAST_SQUARE) for y in (y_true, y_pred))
        products = reduce_sum(true * predicted, axis=-1)
        return mean_of_sample(-products)


def _log_of(y: Tensor) -> Tensor:
    return log(maximum(y, _EPSILON) + 1.0)
