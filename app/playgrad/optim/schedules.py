"""Learning-rate schedules: functions of the step, computed on the device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import exp, floor


@runtime_checkable
class Schedule(Protocol):
    """A learning rate that changes with the step."""

    @property
    def initial_learning_rate(self) -> float:
        """The rate at step 0."""
        ...

    def rate(self, initial: Tensor, step: Tensor) -> Tensor:
        """Return the rate at ``step`` (float32 scalar).

        Args:
            initial: the rate at step 0 (float32 scalar).
        """
        ...


@dataclass(frozen=True)
class ExponentialDecay:
    """Exponential decay: ``initial * decay_rate ** (step / decay_steps)``.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: steps after which the rate has been multiplied by ``decay_rate``.
        staircase: whether the rate changes only every ``decay_steps`` steps.
    """

    initial_learning_rate: float
    decay_steps: int
    decay_rate: float
    staircase: bool = False

    def __post_init__(self) -> None:
        if self.decay_steps <= 0 or self.decay_rate <= 0:
            raise ValueError("decay_steps and decay_rate of ExponentialDecay must be positive")

    def rate(self, initial: Tensor, step: Tensor) -> Tensor:
        decays = step * (1.0 / self.decay_steps)
        if self.staircase:
            # Half a step is added, so that rounding never gives the stair below.
            decays = floor((step + 0.5) * (1.0 / self.decay_steps))
        return initial * exp(decays * math.log(self.decay_rate))
