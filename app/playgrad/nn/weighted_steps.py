"""Losses of sequences whose steps have weights."""

from __future__ import annotations

from playgrad.graph.tensor import Tensor
from playgrad.nn.loss import Loss, mean_of_sample


class OfWeightedSteps(Loss):
    """A loss whose value at each step is multiplied by a weight.

    Args:
        loss: the loss of single steps.
        weight: (batch, steps), or of more dimensions.
    """

    def __init__(self, loss: Loss, weight: Tensor) -> None:
        super().__init__()
        self.loss = loss
        self.weight = weight

    def per_sample(self, y_true: Tensor, y_pred: Tensor) -> Tensor:
        return mean_of_sample(self.each_step(y_true, y_pred, self.weight))

    def each_step(self, y_true: Tensor, y_pred: Tensor, mask: Tensor) -> Tensor:
        return self.loss.each_step(y_true, y_pred, mask) * self.weight

    def kept_targets(self, y_true: Tensor) -> Tensor | None:
        return self.loss.kept_targets(y_true)
