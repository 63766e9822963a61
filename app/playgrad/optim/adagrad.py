"""Adagrad (Duchi, Hazan and Singer 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable
from playgrad.ops.training.adaptive_updates import apply_adagrad
from playgrad.optim.optimizer import Optimizer, OptimizerOptions
from playgrad.optim.schedules import Schedule
from playgrad.records import OptimizerRecord


class Adagrad(Optimizer):
    """Adagrad: the gradient divided by the root of the sum of all its squares.

    ``a += g²; w -= rate * g / sqrt(a + epsilon)``, as in Keras.

    Args:
        learning_rate: a number, or a learning-rate schedule.
        initial_accumulator_value: the sum ``a`` before the first step.
        epsilon: avoids division by zero.
        options: the options of every `Optimizer`: weight decay, clipping, moving averages,
            gradient accumulation.

    Raises:
        ValueError: an argument is out of range.
    """

    kind = "adagrad"
    record = OptimizerRecord(
        about="Like RMSprop, but steps only become smaller. Good for rare features.",
        place=6,
        usual_rates=(3e-3, 0.5),
        is_adaptive=True,
        from_torch="-params lr>learning_rate",
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not initial_accumulator_value >= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be at least 0, got {initial_accumulator_value}"
            )
        self.initial_accumulator_value = float(initial_accumulator_value)
        self.epsilon = epsilon

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
        accumulator = self.slot(variable, "accumulator", self.initial_accumulator_value)
        return apply_adagrad(variable, accumulator, grad, rate, self.epsilon, gate, decay)[0]
