"""Lion (Chen et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable
from playgrad.ops.training.adaptive_updates import apply_lion
from playgrad.optim.optimizer import Optimizer, OptimizerOptions
from playgrad.optim.schedules import Schedule
from playgrad.records import OptimizerRecord


class Lion(Optimizer):
    """Lion: steps of one size, in the direction of the sign of an averaged gradient.

    ``w -= rate * sign(beta_1 * m + (1 - beta_1) * g)``, then ``m = beta_2 * m + (1 - beta_2) * g``.
    Its learning rate should be 3 to 10 times smaller than Adam's, its weight decay as much larger.

    Args:
        learning_rate: a number, or a learning-rate schedule.
        beta_1: the weight of the moving average in the direction of a step.
        beta_2: the fraction of the moving average that is kept in each step.
        options: the options of every `Optimizer`: weight decay, clipping, moving averages,
            gradient accumulation.

    Raises:
        ValueError: an argument is out of range.
    """

    kind = "lion"
    record = OptimizerRecord(
        about="Uses only the sign of the gradient. Needs a learning rate about ten "
        "times smaller than Adam's.",
        place=7,
        usual_rates=(3e-5, 0.01),
        is_adaptive=True,
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not (0.0 < beta_1 <= 1.0 and 0.0 < beta_2 < 1.0):
            raise ValueError(f"beta_1 and beta_2 must be between 0 and 1, got {beta_1}, {beta_2}")
        self.beta_1 = beta_1
        self.beta_2 = beta_2

    @property
    def slots_per_weight(self) -> int:
        return 1

    def _update(
        self,
        variable: Variable,
        grad: Tensor,
        factors: Sequence[Tensor],
        gate: Tensor | None,
        decay: Tensor | None,
    ) -> Tensor:
        (rate,) = factors
        m = self.slot(variable, "m")
        return apply_lion(variable, m, grad, rate, self.beta_1, self.beta_2, gate, decay)[0]
