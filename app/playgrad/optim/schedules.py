"""Learning-rate schedules: functions of the step, computed on the device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from playgrad.constructed import Constructed
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import (
    cos,
    exp,
    floor_divide,
    maximum,
    minimum,
    pow,
    where,
)


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
            decays = floor_divide(step, float(self.decay_steps))
        return initial * exp(decays * math.log(self.decay_rate))


@dataclass(frozen=True)
class InverseTimeDecay:
    """Decay with the inverse of time: ``initial / (1 + decay_rate * step / decay_steps)``.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: steps after which the divisor has grown by ``decay_rate``.
        staircase: whether the rate changes only every ``decay_steps`` steps.
    """

    initial_learning_rate: float
    decay_steps: int
    decay_rate: float
    staircase: bool = False

    def __post_init__(self) -> None:
        if self.decay_steps <= 0 or self.decay_rate < 0:
            raise ValueError(
                "decay_steps of InverseTimeDecay must be positive, decay_rate at least 0"
            )

    def rate(self, initial: Tensor, step: Tensor) -> Tensor:
        decays = step * (1.0 / self.decay_steps)
        if self.staircase:
            decays = floor_divide(step, float(self.decay_steps))
        return initial / (1.0 + self.decay_rate * decays)


@dataclass(frozen=True)
class PolynomialDecay:
    """Decay from the initial rate to ``end_learning_rate`` along a polynomial; linear by default.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the step from which the rate is ``end_learning_rate``.
        power: the power of the fraction of steps that are left.
        cycle: whether the decay starts again, over a longer time, whenever it has ended.
    """

    initial_learning_rate: float
    decay_steps: int
    end_learning_rate: float = 0.0001
    power: float = 1.0
    cycle: bool = False

    def __post_init__(self) -> None:
        if self.decay_steps <= 0 or self.power <= 0 or self.end_learning_rate < 0:
            raise ValueError(
                "decay_steps and power of PolynomialDecay must be positive, "
                "end_learning_rate at least 0"
            )

    def rate(self, initial: Tensor, step: Tensor) -> Tensor:
        if self.cycle:
            cycles = maximum(-floor_divide(-step, float(self.decay_steps)), 1.0)
            fraction = step / (cycles * float(self.decay_steps))
        else:
            fraction = minimum(step * (1.0 / self.decay_steps), 1.0)
        left = maximum(1.0 - fraction, 0.0)
        powered = left if self.power == 1.0 else pow(left, self.power)
        return (initial - self.end_learning_rate) * powered + self.end_learning_rate


class PiecewiseConstantDecay(Constructed):
    """A rate that changes in steps: ``values[i]`` up to and including step ``boundaries[i]``.

    Args:
        boundaries: steps in increasing order.
        values: the rates, one more than boundaries. A rate that is assigned during training scales
            all of them.
    """

    def __init__(self, boundaries: Sequence[int], values: Sequence[float]) -> None:
        self.boundaries = tuple(int(step) for step in boundaries)
        self.values = tuple(float(value) for value in values)
        if len(self.values) != len(self.boundaries) + 1:
            raise ValueError(
                f"PiecewiseConstantDecay needs one value more than boundaries, got "
                f"{len(self.values)} values and {len(self.boundaries)} boundaries"
            )
        if sorted(set(self.boundaries)) != list(self.boundaries):
            raise ValueError(f"boundaries must increase, got {list(boundaries)}")
        if not all(math.isfinite(value) and value > 0 for value in self.values):
            raise ValueError(f"values must be positive numbers, got {list(values)}")

    @property
    def initial_learning_rate(self) -> float:
        return self.values[0]

    def rate(self, initial: Tensor, step: Tensor) -> Tensor:
        factor = _number(1.0)
        for boundary, value in zip(self.boundaries, self.values[1:], strict=True):
            factor = where(step > float(boundary), _number(value / self.values[0]), factor)
        return initial * factor


@dataclass(frozen=True)
class CosineDecay:
    """Cosine decay (Loshchilov and Hutter 2017), after a linear warm-up (Goyal et al. 2017).

    Without ``warmup_target`` the rate falls from ``initial_learning_rate`` to ``alpha`` times that.
    With it the rate first rises from ``initial_learning_rate`` to ``warmup_target`` in
    ``warmup_steps`` steps, and falls to ``alpha * warmup_target`` in the ``decay_steps`` after
    these; a rate that is assigned during training then changes only where the warm-up begins.

    Args:
        initial_learning_rate: the rate at step 0.
        decay_steps: the length of the decay.
        alpha: the fraction of the rate that is left at the end.
        warmup_target: the rate after the warm-up; None for no warm-up.
        warmup_steps: the length of the warm-up.
    """

    initial_learning_rate: float
    decay_steps: int
    alpha: float = 0.0
    warmup_target: float | None = None
    warmup_steps: int = 0

    def __post_init__(self) -> None:
        if self.decay_steps <= 0 or self.warmup_steps < 0:
            raise ValueError("decay_steps of CosineDecay must be positive, warmup_steps at least 0")
        if self.warmup_target is None and self.warmup_steps:
            raise ValueError("warmup_steps of CosineDecay need a warmup_target")

    def rate(self, initial: Tensor, step: Tensor) -> Tensor:
        if self.warmup_target is None or not self.warmup_steps:
            top = initial if self.warmup_target is None else _number(self.warmup_target)
            return top * self._decay(step)
        warm = initial + (self.warmup_target - initial) * (step * (1.0 / self.warmup_steps))
        decayed = self._decay(step - float(self.warmup_steps)) * self.warmup_target
        return where(step < float(self.warmup_steps), warm, decayed)

    def _decay(self, step: Tensor) -> Tensor:
        fraction = minimum(step * (1.0 / self.decay_steps), 1.0)
        return (1.0 - self.alpha) * _cosine(fraction) + self.alpha


@dataclass(frozen=True)
class OneCycle:
    """One cycle (Smith and Topin 2019): the rate rises to a maximum, then falls almost to 0.

    Both parts follow a cosine, as in PyTorch's ``OneCycleLR``. A rate that is assigned during
    training, the one at step 0, scales all others.

    Args:
        max_learning_rate: the highest rate.
        total_steps: the length of the cycle; the rate then stays at its lowest.
        pct_start: the fraction of the steps in which it rises.
        div_factor: the highest rate divided by the initial one.
        final_div_factor: the initial rate divided by the last one.
    """

    max_learning_rate: float
    total_steps: int
    pct_start: float = 0.3
    div_factor: float = 25.0
    final_div_factor: float = 1e4

    def __post_init__(self) -> None:
        if self.total_steps * self.pct_start <= 1 or not self.pct_start < 1:
            raise ValueError(
                "OneCycle needs total_steps * pct_start above 1, and pct_start below 1, got "
                f"{self.total_steps} and {self.pct_start}"
            )
        if not (self.div_factor > 0 and self.final_div_factor > 0):
            raise ValueError("div_factor and final_div_factor of OneCycle must be positive")

    @property
    def initial_learning_rate(self) -> float:
        return self.max_learning_rate / self.div_factor

    def rate(self, initial: Tensor, step: Tensor) -> Tensor:
        peak = self.pct_start * self.total_steps - 1.0
        length = self.total_steps - 1.0 - peak
        top, end = self.div_factor, 1.0 / self.final_div_factor
        rise = _cosine(step * (1.0 / peak))
        fall = _cosine(minimum((step - peak) * (1.0 / length), 1.0))
        factor = where(step < peak, top + (1.0 - top) * rise, end + (top - end) * fall)
        return initial * factor


def _cosine(fraction: Tensor) -> Tensor:
    """Return half a cosine wave: 1 at 0, 0 at 1."""
    return 0.5 + 0.5 * cos(fraction * math.pi)


def _number(value: float) -> Tensor:
    return constant(value, "float32")
