"""Adadelta (Zeiler 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable
from playgrad.ops.training.relative_updates import apply_adadelta
from playgrad.optim.optimizer import Optimizer, OptimizerOptions
from playgrad.optim.schedules import Schedule
from playgrad.records import OptimizerRecord


class Adadelta(Optimizer):
    """Adadelta: gradients divided by their size, and multiplied by that of earlier updates.

    ``w -= rate * g * sqrt(s + epsilon) / sqrt(a + epsilon)``, where a and s are moving averages of
    the squares of gradients and of updates.

    Args:
        learning_rate: a number, 1.0 as in the paper, or a learning-rate schedule.
        rho: the fraction of the moving averages that is kept in each step.
        epsilon: avoids division by zero, and sets the size of the first updates.
        options: the options of every `Optimizer`: weight decay, clipping, moving averages,
            gradient accumulation.

    Raises:
        ValueError: an argument is out of range.
    """

    kind = "adadelta"
    record = OptimizerRecord(
        usual_rates=(0.3, 30.0),
        is_adaptive=True,
        from_torch="-params lr>learning_rate",
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"rho must be between 0 and 1, got {rho}")
        self.rho = float(rho)
        self.epsilon = epsilon

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
        states = self.slot(variable, "squares"), self.slot(variable, "sizes")
        return apply_adadelta(variable, *states, grad, rate, self.rho, self.epsilon, gate, decay)[0]
