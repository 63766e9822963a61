"""Adam (Kingma and Ba 2015), and AdamW (Loshchilov and Hutter 2019)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import exp, sqrt, where
from playgrad.ops.state import Variable
from playgrad.ops.training.optimizer_updates import apply_adam, apply_amsgrad
from playgrad.optim.optimizer import CommonOptions, Optimizer, OptimizerOptions
from playgrad.optim.schedules import Schedule
from playgrad.records import OptimizerRecord

FROM_TORCH = "-params lr>learning_rate betas>beta_1+beta_2 eps>epsilon weight_decay -foreach -fused"
"""Parameters of Adam and its variants in PyTorch."""


class Adam(Optimizer):
    """Adam: updates scaled by moving averages of the gradient and its square (Algorithm 1).

    ``w -= rate * m' / (sqrt(v') + epsilon)``, where m' and v' are the averages m and v
    corrected for their bias towards zero.

    Args:
        learning_rate: a number, or a learning-rate schedule.
        beta_1, beta_2: the fractions of the moving averages that are kept in each step.
        epsilon: avoids division by zero.
        amsgrad: whether to divide by the largest average of the square so far (Reddi, Kale and
            Kumar 2018).
        options: the options of every `Optimizer`: weight decay, clipping, moving averages,
            gradient accumulation.

    Raises:
        ValueError: an argument is out of range.
    """

    kind = "adam"
    record = OptimizerRecord(
        about="Finds a step of its own for each weight. A good first choice.",
        place=1,
        usual_rates=(3e-4, 0.05),
        is_adaptive=True,
        from_torch=FROM_TORCH,
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Unpack[OptimizerOptions],
    ) -> None:
        super().__init__(learning_rate, **options)
        if not (0.0 < beta_1 < 1.0 and 0.0 < beta_2 < 1.0):
            raise ValueError(f"beta_1 and beta_2 must be between 0 and 1, got {beta_1}, {beta_2}")
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.amsgrad = bool(amsgrad)

    def _factors(self, rate: Tensor, step: Tensor) -> tuple[Tensor, ...]:
        # With c = sqrt(1 - beta_2**t), sqrt(v') is sqrt(v) / c. Both factors are multiplied by c,
        # which saves a division per element.
        count = step + 1.0
        correction = sqrt(one_minus_power(self.beta_2, count))
        return rate * correction / one_minus_power(self.beta_1, count), self.epsilon * correction

    @property
    def slots_per_weight(self) -> int:
        return 3 if self.amsgrad else 2

    def _update(
        self,
        variable: Variable,
        grad: Tensor,
        factors: Sequence[Tensor],
        gate: Tensor | None,
        decay: Tensor | None,
    ) -> Tensor:
        rate, epsilon = factors
        m, v = self.slot(variable, "m"), self.slot(variable, "v")
        betas = self.beta_1, self.beta_2
        if self.amsgrad:
            states = m, v, self.slot(variable, "largest")
            return apply_amsgrad(variable, *states, grad, rate, epsilon, *betas, gate, decay)[0]
        return apply_adam(variable, m, v, grad, rate, epsilon, *betas, gate, decay)[0]


class AdamW(Adam):
    """Adam with decoupled weight decay, 0.004 by default (Loshchilov and Hutter 2019).

    Biases and the like decay too, as in Keras; `exclude_from_weight_decay` leaves them out.
    """

    kind = "adamw"
    record = OptimizerRecord(
        about="Adam with weight decay as it should be. Usual for transformers.",
        place=2,
        usual_rates=(3e-4, 0.05),
        is_adaptive=True,
        from_torch=FROM_TORCH,
    )

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        **options: Unpack[CommonOptions],
    ) -> None:
        super().__init__(
            learning_rate, beta_1, beta_2, epsilon, amsgrad, weight_decay=weight_decay, **options
        )


def one_minus_power(beta: float, count: Tensor) -> Tensor:
    """Return ``1 - beta ** count`` without the cancellation of float32 for beta near 1.

    With x = count * ln(beta): -(x + x²/2 + x³/6 + x⁴/24 + x⁵/120) near 0, else 1 - exp(x).
    """
    x = count * math.log(beta)
    series = x * (1.0 + x * (0.5 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120)))))
    return where(x > -0.1, -series, 1.0 - exp(x))
