"""Losses of classes and counts other than cross-entropy: margins, divergence, Poisson."""

from __future__ import annotations

from playgrad.graph.tensor import Tensor
from playgrad.nn.loss import Loss, mean_of_sample
from playgrad.ops.elementwise.definitions import (
    equal,
    log,
    logical_or,
    maximum,
    minimum,
    square,
    where,
)
from playgrad.ops.reductions.reduce import reduce_max, reduce_sum
from playgrad.ops.reductions.truth import reduce_all

_EPSILON = 1e-7


class KLDivergence(Loss):
    """Kullback-Leibler divergence of the prediction from the target: ``sum(y * log(y / p))``.

    Both are probabilities along the last axis, clipped to at least 1e-7.
    """

    kind = "kl_divergence"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        y, p = (minimum(maximum(value, _EPSILON), 1.0) for value in (y_true, y_pred))
        return mean_of_sample(reduce_sum(y * (log(y) - log(p)), axis=-1))


class Poisson(Loss):
    """Negative log-likelihood of counts under predicted Poisson rates, without its constant."""

    kind = "poisson"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(y_pred - y_true * log(y_pred + _EPSILON))


class Hinge(Loss):
    """Hinge loss ``max(1 - y * p, 0)`` of scores, with targets -1 and 1.

    Targets that are all 0 or 1 are taken as -1 and 1.
    """

    kind = "hinge"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        are_bits = reduce_all(logical_or(equal(y_true, 0.0), equal(y_true, 1.0)))
        signs = where(are_bits, 2.0 * y_true - 1.0, y_true)
        return mean_of_sample(self.margin(signs, y_pred))

    def margin(self, signs: Tensor, y_pred: Tensor) -> Tensor:
        """Return by how much each score fails to reach its margin."""
        missing: Tensor = maximum(1.0 - signs * y_pred, 0.0)
        return missing


class SquaredHinge(Hinge):
    """Square of the hinge loss ``max(1 - y * p, 0)``; see `Hinge`."""

    kind = "squared_hinge"

    def margin(self, signs: Tensor, y_pred: Tensor) -> Tensor:
        missing: Tensor = square(super().margin(signs, y_pred))
        return missing


class CategoricalHinge(Loss):
    """Hinge loss of the true class against the best other class, with one-hot targets."""

    kind = "categorical_hinge"

    def call(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        score = reduce_sum(y_true * y_pred, axis=-1)
        best_other = reduce_max((1.0 - y_true) * y_pred, axis=-1)
        return mean_of_sample(maximum(best_other - score + 1.0, 0.0))
