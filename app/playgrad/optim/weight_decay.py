"""Decoupled weight decay: the fraction of each weight that a step takes off."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import Variable


class WeightDecay:
    """Decoupled weight decay (Loshchilov and Hutter 2019).

    Args:
        factor: the decay per step and learning rate; None for none.

    Raises:
        ValueError: the factor is not a finite number of at least 0.
    """

    def __init__(self, factor: Any) -> None:
        value = float(factor) if isinstance(factor, Real) else math.nan
        if factor is not None and not (math.isfinite(value) and value >= 0):
            raise ValueError(f"weight_decay must be a number of at least 0, got {factor!r}")
        self.factor = None if factor is None else value
        self._names: frozenset[str] = frozenset()
        self._parts: frozenset[str] = frozenset()

    def exclude(self, names: Iterable[str], parts: Iterable[str]) -> None:
        """Leave out the variables with these names, or with one of these parts in their names."""
        self._names |= set(names)
        self._parts |= set(parts)

    @property
    def excluded(self) -> tuple[list[str], list[str]]:
        """The names and the parts of names that `exclude` was called with."""
        return sorted(self._names), sorted(self._parts)

    def of_step(self, rate: Tensor) -> Tensor | None:
        """Return the fraction to take off at this learning rate; None for nothing."""
        return rate * self.factor if self.factor else None

    def applies_to(self, variable: Variable) -> bool:
        """Return whether ``variable`` decays."""
        name = variable.variable_name
        return name not in self._names and not any(part in name for part in self._parts)
