"""Learning-rate schedules: expressions of the step, computed on the device."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import exp, floor


@runtime_checkable
class Schedule(Protocol):
    """A rate that changes with the step."""

    @property
    def initial_learning_rate(self) -> float:
        """The rate at step 0."""
        ...

    def rate(self, initial: Tensor, step: Tensor) -> Tensor:
        """The rate at ``step`` (float32 scalar), where ``initial`` holds that of step 0."""
        ...


@dataclass(frozen=True)
class ExponentialDecay:
    """``initial * decay_rate ** (step / decay_steps)``; with ``staircase`` in whole steps of it."""

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
            # Half a step more: 2 * (1 / 3) * 3 must not round to a stair below.
            decays = floor((step + 0.5) * (1.0 / self.decay_steps))
        return initial * exp(decays * math.log(self.decay_rate))
