"""Constraints: changes to a weight after each update in training, such as a largest norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import clip, maximum, minimum, sqrt, square
from playgrad.ops.reductions.reduce import reduce_sum

_EPSILON = 1e-7
_REGISTRY: dict[str, type[Constraint]] = {}


def _plain_name(kind: str) -> str:
    """Return a name as which "max_norm" and "MaxNorm" are the same."""
    return kind.replace("_", "").lower()


@dataclass(frozen=True)
class Constraint:
    """Base class of constraints: frozen dataclasses that return the weight to use for a weight.

    A subclass sets ``kind``, the name by which `get` finds it.
    """

    kind: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.kind:
            _REGISTRY[_plain_name(cls.kind)] = cls

    def __call__(self, weight: Tensor) -> Tensor:
        """Return the constrained weight, a tensor of the same shape and dtype."""
        raise NotImplementedError

    def joins(self, axis: int, rank: int) -> bool:
        """Return whether elements at different positions along ``axis`` depend on each other.

        A weight can be divided among devices along the other axes only.

        Args:
            rank: the number of dimensions of the weight.
        """
        return True

    def of_shape(self, *shape: int) -> Constraint:
        """Return the constraint for a weight that is stored in another shape than ``shape``."""
        return _Reshaped(self, shape)

    def config(self) -> dict[str, Any]:
        """Return plain data from which `get` makes an equal constraint."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class NonNeg(Constraint):
    """Set negative weights to 0."""

    kind = "non_neg"

    def __call__(self, weight: Tensor) -> Tensor:
        return maximum(weight, 0.0)

    def joins(self, axis: int, rank: int) -> bool:
        return False


class _Norm(Constraint):
    """Base class of constraints of norms, which are computed along ``axis``."""

    axis: int | tuple[int, ...]

    def __post_init__(self) -> None:
        axes = self.axis if isinstance(self.axis, (list, tuple)) else (self.axis,)
        if not axes or not all(
            isinstance(axis, Integral) and not isinstance(axis, bool) for axis in axes
        ):
            raise ValueError(
                f"axis of {type(self).__name__} must be a whole number or several, "
                f"got {self.axis!r}"
            )
        numbers = tuple(int(axis) for axis in axes)
        object.__setattr__(self, "axis", numbers if len(numbers) > 1 else numbers[0])

    def desired(self, norms: Tensor) -> Tensor | float:
        """Return the norms that weights of these ``norms`` get."""
        raise NotImplementedError

    def __call__(self, weight: Tensor) -> Tensor:
        norms = sqrt(reduce_sum(square(weight), axis=self.axis, keepdims=True))
        return weight * (self.desired(norms) / (_EPSILON + norms))

    def joins(self, axis: int, rank: int) -> bool:
        axes = self.axis if isinstance(self.axis, tuple) else (self.axis,)
        return axis % rank in {each % rank for each in axes}

    def _check(self, name: str, most: float = math.inf) -> None:
        value = getattr(self, name)
        number = float(value) if isinstance(value, Real) else math.nan
        if not (math.isfinite(number) and 0 <= number <= most):
            limit = "of at least 0" if math.isinf(most) else f"from 0 to {most:g}"
            raise ValueError(
                f"{name} of {type(self).__name__} must be a number {limit}, got {value!r}"
            )


@dataclass(frozen=True)
class MaxNorm(_Norm):
    """Scale weights down whose norm along ``axis`` exceeds ``max_value`` (Srivastava et al. 2014).

    For a kernel of `Dense`, axis 0 means the weights of each unit; for a kernel of `Conv2D`,
    (0, 1, 2) means the weights of each filter.
    """

    kind = "max_norm"
    max_value: float = 2.0
    axis: int | tuple[int, ...] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("max_value")

    def desired(self, norms: Tensor) -> Tensor:
        return minimum(norms, self.max_value)


@dataclass(frozen=True)
class UnitNorm(_Norm):
    """Scale weights to the norm 1 along ``axis``, which means the same as in `MaxNorm`."""

    kind = "unit_norm"
    axis: int | tuple[int, ...] = 0

    def desired(self, norms: Tensor) -> float:
        return 1.0


@dataclass(frozen=True)
class MinMaxNorm(_Norm):
    """Scale weights whose norm along ``axis`` is below ``min_value`` or above ``max_value``.

    Args:
        rate: the fraction of the way to the nearest allowed norm that each step goes.
        axis: as in `MaxNorm`.

    Raises:
        ValueError: a number is out of range, or ``min_value`` is above ``max_value``.
    """

    kind = "min_max_norm"
    min_value: float = 0.0
    max_value: float = 1.0
    rate: float = 1.0
    axis: int | tuple[int, ...] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("min_value")
        self._check("max_value")
        self._check("rate", most=1.0)
        if self.min_value > self.max_value:
            raise ValueError(
                f"min_value of MinMaxNorm must be at most max_value={self.max_value:g}, "
                f"got {self.min_value:g}"
            )

    def desired(self, norms: Tensor) -> Tensor:
        clipped = clip(norms, self.min_value, self.max_value)
        if self.rate == 1.0:
            return clipped
        return self.rate * clipped + (1.0 - self.rate) * norms


@dataclass(frozen=True)
class _Reshaped(Constraint):
    """``constraint`` for weights that are stored in another shape than the one it means.

    Attributes:
        shape: the shape that it means; -1 for a size that follows from that of the weight.
    """

    constraint: Constraint
    shape: tuple[int, ...]

    def __call__(self, weight: Tensor) -> Tensor:
        return reshape(self.constraint(reshape(weight, self.shape)), weight.shape)

    def joins(self, axis: int, rank: int) -> bool:
        return self.constraint.joins(axis, len(self.shape))


@dataclass(frozen=True)
class _Function(Constraint):
    """A function of the user as a constraint."""

    function: Callable[[Tensor], Tensor]

    def __call__(self, weight: Tensor) -> Tensor:
        return self.function(weight)

    def config(self) -> dict[str, Any]:
        raise GraphError(
            f"the constraint {getattr(self.function, '__name__', self.function)!r} is a function, "
            "which cannot be saved in a configuration.",
            hint="Write a subclass of nn.Constraint.",
        )


def get(value: Any) -> Constraint | None:
    """Return the constraint that ``value`` names or describes; a constraint is returned as is.

    Args:
        value: a name such as "non_neg" or "MaxNorm", a result of `Constraint.config`, a function
            of a tensor, or None for none.

    Raises:
        GraphError: there is no constraint of that name.
    """
    if value is None or isinstance(value, Constraint):
        return value
    if isinstance(value, type) and issubclass(value, Constraint):
        return value()
    if callable(value):
        return _Function(value)
    config = dict(value) if isinstance(value, dict) else {"kind": value}
    kind = config.pop("kind", None)
    known = _REGISTRY.get(_plain_name(kind)) if isinstance(kind, str) else None
    if known is None:
        names = ", ".join(each.kind for each in _REGISTRY.values())
        raise GraphError(f"there is no constraint {kind!r}.", hint=f"Use one of: {names}.")
    return known(**config)
