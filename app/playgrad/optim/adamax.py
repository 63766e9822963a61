"""Adamax (Kingma and Ba 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable
from playgrad.ops.training.relative_updates import apply_adamax
from playgrad.optim.adam import FROM_TORCH, one_minus_power
from playgrad.optim.optimizer import Optimizer, OptimizerOptions
from playgrad.optim.schedules import Schedule
from playgrad.records import OptimizerRecord


class Adamax(Optimizer):
    """Adamax: Adam with the largest absolute gradient, which decays, in place of a mean square.

    ``w -= rate * m' / (u + epsilon)``, where m' is the moving average of gradients corrected for
    its bias towards zero (section 7.1).

    Args:
        learning_rate: a number, or a learning-rate schedule.
        beta_1, beta_2: the fractions of the average and of the maximum that are kept in each step.
        epsilon: avoids division by zero.
        options: the options of every `Optimizer`: weight decay, clipping, moving averages,
            gradient accumulation.

    Raises:
        ValueError: an argument is out of range.
    """

    kind = "adamax"
    record = OptimizerRecord(
        usual_rates=(3e-4, 0.1),
        is_adaptive=True,
        from_torch=FROM_TORCH,
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not (0.0 < beta_1 < 1.0 and 0.0 < beta_2 < 1.0):
            raise ValueError(f"beta_1 and beta_2 must be between 0 and 1, got {beta_1}, {beta_2}")
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon = epsilon

    def _factors(self, rate: Tensor, step: Tensor) -> tuple[Tensor, ...]:
        return (rate / one_minus_power(self.beta_1, step + 1.0),)

    @property
    def slots_per_weight(self) -> int:
        return 2

    def _update(
        self,
        variable: Variable,
        grad: Tensor,
        factors: Sequence[Tensor],
        gate: Tensor | None,
        decay: Tensor | None,
    ) -> Tensor:
        (rate,) = factors
        states = self.slot(variable, "m"), self.slot(variable, "u")
        settings = self.beta_1, self.beta_2, self.epsilon
        return apply_adamax(variable, *states, grad, rate, *settings, gate, decay)[0]
