"""Gradient accumulation: an update from the mean gradient of several steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import cast, equal, logical_and, where
from playgrad.ops.state import Variable


@dataclass(frozen=True)
class AccumulationRound:
    """The round of steps that ends with an update.

    Attributes:
        count: the number of updates before, a scalar of the dtype of the counter of steps.
        ends: bool scalar, true in the step that makes the update; None if every step does.
        gate: bool scalar, false where nothing changes at all; None for never.
    """

    count: Tensor
    ends: Tensor | None
    gate: Tensor | None

    @property
    def update_gate(self) -> Tensor | None:
        """False where the weights do not change; None if they always do."""
        if self.ends is None or self.gate is None:
            return self.gate if self.ends is None else self.ends
        return logical_and(self.gate, self.ends)


class Accumulation:
    """Accumulation of gradients over ``steps`` steps.

    Args:
        steps: the number of steps; None for an update in each.

    Raises:
        ValueError: it is not a whole number of at least 2.
    """

    def __init__(self, steps: Any) -> None:
        whole = isinstance(steps, Integral) and not isinstance(steps, bool)
        if steps is not None and not (whole and steps >= 2):
            raise ValueError(
                f"gradient_accumulation_steps must be a whole number of at least 2, got {steps!r}"
            )
        self.steps = None if steps is None else int(steps)

    def round(self, step: Tensor, gate: Tensor | None) -> AccumulationRound:
        """Return the round that step number ``step`` is part of."""
        if self.steps is None:
            return AccumulationRound(step, None, gate)
        return AccumulationRound(step // self.steps, every(step, self.steps), gate)

    def mean(
        self, grad: Tensor, slot: Callable[[], Variable], current: AccumulationRound
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the mean gradient of the round so far, and the writes that continue it.

        Args:
            slot: returns the variable of the sum, which starts at 0.
        """
        if self.steps is None or current.ends is None:
            return grad, []
        sums = slot()
        with sums.graph.device(sums.device):
            total = sums + grad
            new = total * (1.0 - cast(current.ends, sums.dtype))
            kept = new if current.gate is None else where(current.gate, new, sums)
            return total * (1.0 / self.steps), [sums.assign(kept)]


def every(count: Tensor, steps: int) -> Tensor:
    """Return a bool scalar, true in each step whose number from 1 is a multiple of ``steps``.

    Args:
        count: the number of steps before.
    """
    return equal((count + 1) % steps, 0)
