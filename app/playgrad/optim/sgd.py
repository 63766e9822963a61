"""Stochastic gradient descent, plain and with momentum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable
from playgrad.ops.training.optimizer_updates import apply_momentum, apply_sgd
from playgrad.optim.optimizer import Optimizer, OptimizerOptions
from playgrad.optim.schedules import Schedule
from playgrad.records import OptimizerRecord


class SGD(Optimizer):
    """SGD: ``w -= rate * g``, or with momentum ``v = momentum * v + g; w -= rate * v``.

    Args:
        learning_rate: a number, or a learning-rate schedule.
        momentum: the fraction of the velocity that is kept in each step; 0 for plain SGD.
        nesterov: whether to use Nesterov momentum (Sutskever et al. 2013).
        options: the options of every `Optimizer`: weight decay, clipping, moving averages,
            gradient accumulation.

    Raises:
        ValueError: the momentum is not between 0 and 1.
    """

    kind = "sgd"
    record = OptimizerRecord(
        about="Goes straight down the gradient of the batch, by the learning rate.",
        place=3,
        usual_rates=(3e-3, 0.5),
        from_torch="-params lr>learning_rate momentum -dampening weight_decay nesterov",
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not 0.0 <= momentum <= 1.0:
            raise ValueError(f"momentum must be between 0 and 1, got {momentum}")
        self.momentum = momentum
        self.nesterov = nesterov

    @property
    def slots_per_weight(self) -> int:
        return int(self.momentum != 0.0)

    def _update(
        self,
        variable: Variable,
        grad: Tensor,
        factors: Sequence[Tensor],
        gate: Tensor | None,
        decay: Tensor | None,
    ) -> Tensor:
        (rate,) = factors
        if self.momentum == 0.0:
            return apply_sgd(variable, grad, rate, gate, decay)
        velocity = self.slot(variable, "velocity")
        return apply_momentum(
            variable, velocity, grad, rate, self.momentum, self.nesterov, gate, decay
        )[0]


class Momentum(SGD):
    """SGD with momentum, 0.9 by default."""

    kind = "momentum"
    record = OptimizerRecord(
        about="Like SGD, but keeps going in the direction of former steps, as a ball rolls.",
        place=4,
        usual_rates=(3e-4, 0.1),
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.01,
        momentum: float = 0.9,
        nesterov: bool = False,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(learning_rate, momentum, nesterov, **options)
