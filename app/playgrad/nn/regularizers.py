"""Regularizers: penalties on the size of weights, which training adds to the loss."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any, ClassVar

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import absolute, square
from playgrad.ops.reductions.reduce import reduce_sum

_REGISTRY: dict[str, type[Regularizer]] = {}


@dataclass(frozen=True)
class Regularizer:
    """Base class of regularizers: frozen dataclasses that return a scalar for a weight.

    A subclass sets ``kind``, the name by which `get` finds it. Its attributes are factors.

    Raises:
        ValueError: a factor is not a finite number of at least 0.
    """

    kind: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.kind:
            _REGISTRY[cls.kind] = cls

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            number = float(value) if isinstance(value, Real) else math.nan
            if not (math.isfinite(number) and number >= 0):
                raise ValueError(
                    f"{name} of {type(self).__name__} must be a number of at least 0, got {value!r}"
                )

    def __call__(self, weight: Tensor) -> Tensor:
        """Return the penalty, a scalar."""
        raise NotImplementedError

    def of_samples(self, values: Tensor) -> Tensor:
        """Return the penalty of each sample of ``values`` (batch, ...), of shape (batch,).

        Raises:
            GraphError: the class has no method of its own for it.
        """
        raise GraphError(
            f"{type(self).__name__} cannot be an activity_regularizer.",
            hint="Give it a method of_samples, which returns a penalty for each sample.",
        )

    def config(self) -> dict[str, Any]:
        """Return plain data from which `get` makes an equal regularizer."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class L1(Regularizer):
    """``l1`` times the sum of absolute values, which drives weights to 0 (lasso)."""

    kind = "l1"
    l1: float = 0.01

    def __call__(self, weight: Tensor) -> Tensor:
        return self.l1 * reduce_sum(absolute(weight))

    def of_samples(self, values: Tensor) -> Tensor:
        return self.l1 * _sum_of_sample(absolute(values))


@dataclass(frozen=True)
class L2(Regularizer):
    """``l2`` times the sum of squares (ridge)."""

    kind = "l2"
    l2: float = 0.01

    def __call__(self, weight: Tensor) -> Tensor:
        return self.l2 * reduce_sum(square(weight))

    def of_samples(self, values: Tensor) -> Tensor:
        return self.l2 * _sum_of_sample(square(values))


@dataclass(frozen=True)
class L1L2(Regularizer):
    """``l1`` times the sum of absolute values plus ``l2`` times that of squares (elastic net)."""

    kind = "l1_l2"
    l1: float = 0.0
    l2: float = 0.0

    def __call__(self, weight: Tensor) -> Tensor:
        return self.l1 * reduce_sum(absolute(weight)) + self.l2 * reduce_sum(square(weight))

    def of_samples(self, values: Tensor) -> Tensor:
        return self.l1 * _sum_of_sample(absolute(values)) + self.l2 * _sum_of_sample(square(values))


def _sum_of_sample(values: Tensor) -> Tensor:
    rank = values.spec.rank
    return values if rank == 1 else reduce_sum(values, axis=tuple(range(1, rank)))


def get(value: str | dict[str, Any] | Regularizer | None) -> Regularizer | None:
    """Return the regularizer that ``value`` names or describes; a regularizer is returned as is.

    Args:
        value: a name such as "l2", a result of `Regularizer.config`, or None for none.

    Raises:
        GraphError: there is no regularizer of that name.
    """
    if value is None or isinstance(value, Regularizer):
        return value
    config = dict(value) if isinstance(value, dict) else {"kind": value}
    kind = config.pop("kind", None)
    if not isinstance(kind, str) or kind not in _REGISTRY:
        raise GraphError(
            f"there is no regularizer {kind!r}.", hint=f"Use one of: {', '.join(_REGISTRY)}."
        )
    return _REGISTRY[kind](**config)
