"""Gradient clipping: by value, by the norm of each gradient, or by the norm of all together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import maximum, minimum, sqrt, square
from playgrad.ops.reductions.reduce import reduce_sum


@dataclass(frozen=True)
class Clipping:
    """The limits of the gradients; at most one is set.

    Attributes:
        clipnorm: the largest norm of the gradient of one variable.
        clipvalue: the largest absolute value of an element.
        global_clipnorm: the largest norm of all gradients together (Pascanu et al. 2013).

    Raises:
        ValueError: more than one limit is set, or one is not a positive number.
    """

    clipnorm: float | None = None
    clipvalue: float | None = None
    global_clipnorm: float | None = None

    def __post_init__(self) -> None:
        limits = {name: limit for name, limit in vars(self).items() if limit is not None}
        for name, limit in limits.items():
            _check_limit(name, limit)
        if len(limits) > 1:
            raise ValueError(
                f"only one of clipnorm, clipvalue and global_clipnorm can be set, "
                f"got {' and '.join(limits)}"
            )

    def clipped(self, gradients: Sequence[Tensor], parts: Sequence[Tensor]) -> list[Tensor]:
        """Return ``gradients`` within the limits.

        Args:
            parts: the gradients of the single elements. They differ from ``gradients`` where
                elements share a value, whose gradient is the sum of theirs and counts once.
        """
        if self.clipvalue is not None:
            limit = self.clipvalue
            return [minimum(maximum(grad, -limit), limit) for grad in gradients]
        if self.clipnorm is not None:
            return [
                grad * _scale(_squares(grad, part), self.clipnorm)
                for grad, part in zip(gradients, parts, strict=True)
            ]
        if self.global_clipnorm is not None:
            total = _squares(gradients[0], parts[0])
            for grad, part in zip(gradients[1:], parts[1:], strict=True):
                total = total + _squares(grad, part)
            scale = _scale(total, self.global_clipnorm)
            return [grad * scale for grad in gradients]
        return list(gradients)


def _squares(grad: Tensor, part: Tensor) -> Tensor:
    """Return the sum of the squares of the gradients of different values."""
    if grad is part:
        return reduce_sum(square(grad))
    # The parts of a sum times the sum add up to its square, but for rounding.
    return maximum(reduce_sum(grad * part), 0.0)


def _scale(squares: Tensor, limit: float) -> Tensor:
    """Return the factor for gradients with this sum of squares: 1 if they are short enough."""
    return limit / maximum(sqrt(squares), limit)


def _check_limit(name: str, limit: Any) -> None:
    if not isinstance(limit, Real) or not math.isfinite(limit) or limit <= 0:
        raise ValueError(f"{name} must be a positive number, got {limit!r}")
