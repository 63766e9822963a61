"""RMSprop (Tieleman and Hinton 2012)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable
from playgrad.ops.training.adaptive_updates import apply_rmsprop
from playgrad.optim.optimizer import Optimizer, OptimizerOptions
from playgrad.optim.schedules import Schedule
from playgrad.records import OptimizerRecord


class RMSprop(Optimizer):
    """RMSprop: the gradient divided by the root of a moving average of its square.

    ``v = rho * v + (1 - rho) * g²; w -= rate * g / sqrt(v + epsilon)``, as in Keras: epsilon is
    under the root (PyTorch adds it to the root).

    Args:
        learning_rate: a number, or a learning-rate schedule.
        rho: the fraction of the moving averages that is kept in each step.
        momentum: the fraction of the last update that is added to the next; 0 for none.
        epsilon: avoids division by zero.
        centered: whether to divide by an estimate of the standard deviation of the gradient
            (Graves 2013), with a moving average of the gradient.
        options: the options of every `Optimizer`: weight decay, clipping, moving averages,
            gradient accumulation.

    Raises:
        ValueError: an argument is out of range.
    """

    kind = "rmsprop"
    record = OptimizerRecord(
        about="Divides the step of each weight by the usual size of its gradient.",
        place=5,
        usual_rates=(3e-4, 0.05),
        is_adaptive=True,
        from_torch="-params lr>learning_rate alpha>rho eps>epsilon",
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not (0.0 <= rho <= 1.0 and 0.0 <= momentum <= 1.0):
            raise ValueError(f"rho and momentum must be between 0 and 1, got {rho}, {momentum}")
        self.rho = rho
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = bool(centered)

    @property
    def slots_per_weight(self) -> int:
        return 1 + self.centered + (self.momentum != 0.0)

    def _update(
        self,
        variable: Variable,
        grad: Tensor,
        factors: Sequence[Tensor],
        gate: Tensor | None,
        decay: Tensor | None,
    ) -> Tensor:
        (rate,) = factors
        return apply_rmsprop(
            variable,
            self.slot(variable, "velocity"),
            grad,
            rate,
            self.rho,
            self.momentum,
            self.epsilon,
            self.slot(variable, "average_gradient") if self.centered else None,
            self.slot(variable, "momentum") if self.momentum else None,
            gate,
            decay,
        )[0]
