"""Initializers: the first values of weights, the same on every host.

Random initializers draw from the graph's counter-based generator at counter 0, so equal seeds
give equal weights on every device.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.fill import fill
from playgrad.ops.core.build import constant
from playgrad.ops.random.distributions import random_normal, random_uniform, truncated_normal

# The standard deviation of a standard normal distribution truncated at ±2.
_TRUNCATED_STDDEV = 0.8796256610342398
_OTHER_NAMES = {"random_normal": "normal", "random_uniform": "uniform"}
_REGISTRY: dict[str, type[Initializer]] = {}


@dataclass(frozen=True)
class Initializer:
    """Base class of initializers: frozen dataclasses that create float32 tensors.

    A subclass sets ``kind``, the name by which `get` finds it.
    """

    kind: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.kind:
            _REGISTRY[cls.kind] = cls

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        """Return a tensor of ``shape``; ``seed`` comes from the variable's name."""
        raise NotImplementedError

    def config(self) -> dict[str, Any]:
        """Return plain data from which `get` makes an equal initializer."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class Constant(Initializer):
    """All elements ``value``."""

    kind = "constant"
    value: float = 0.0

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return fill(shape, self.value, "float32")


@dataclass(frozen=True)
class Zeros(Initializer):
    """All elements 0."""

    kind = "zeros"

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return fill(shape, 0.0, "float32")


@dataclass(frozen=True)
class Ones(Initializer):
    """All elements 1."""

    kind = "ones"

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return fill(shape, 1.0, "float32")


@dataclass(frozen=True)
class RandomNormal(Initializer):
    """A normal distribution; a ``seed`` of None is derived from the variable's name."""

    kind = "normal"
    mean: float = 0.0
    stddev: float = 0.05
    seed: int | None = None

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return random_normal(
            shape, self.mean, self.stddev, key_of(self.seed, seed), counter=first_counter()
        )


@dataclass(frozen=True)
class RandomUniform(Initializer):
    """A uniform distribution between ``minval`` and ``maxval``."""

    kind = "uniform"
    minval: float = -0.05
    maxval: float = 0.05
    seed: int | None = None

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return random_uniform(
            shape, self.minval, self.maxval, key_of(self.seed, seed), counter=first_counter()
        )


@dataclass(frozen=True)
class ScaledInitializer(Initializer):
    """Random numbers whose variance preserves the size of signals from layer to layer."""

    seed: int | None = None

    def _variance(self, fan_in: float, fan_out: float) -> float:
        raise NotImplementedError

    def _uniform(self, shape: tuple[int, ...], seed: int) -> Tensor:
        limit = math.sqrt(3.0 * self._variance(*fans(shape)))
        return random_uniform(
            shape, -limit, limit, key_of(self.seed, seed), counter=first_counter()
        )

    def _normal(self, shape: tuple[int, ...], seed: int) -> Tensor:
        stddev = math.sqrt(self._variance(*fans(shape))) / _TRUNCATED_STDDEV
        return truncated_normal(
            shape, 0.0, stddev, key_of(self.seed, seed), counter=first_counter()
        )


@dataclass(frozen=True)
class GlorotUniform(ScaledInitializer):
    """Glorot uniform (Glorot and Bengio 2010): variance 2 / (fan in + fan out)."""

    kind = "glorot_uniform"

    def _variance(self, fan_in: float, fan_out: float) -> float:
        return 2.0 / (fan_in + fan_out)

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return self._uniform(shape, seed)


@dataclass(frozen=True)
class GlorotNormal(GlorotUniform):
    """Glorot normal (Glorot and Bengio 2010): truncated at two standard deviations."""

    kind = "glorot_normal"

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return self._normal(shape, seed)


@dataclass(frozen=True)
class HeUniform(ScaledInitializer):
    """He uniform (He et al. 2015), for relu: variance 2 / fan in."""

    kind = "he_uniform"

    def _variance(self, fan_in: float, fan_out: float) -> float:
        return 2.0 / fan_in

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return self._uniform(shape, seed)


@dataclass(frozen=True)
class HeNormal(HeUniform):
    """He normal (He et al. 2015), for relu: truncated at two standard deviations."""

    kind = "he_normal"

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return self._normal(shape, seed)


def fans(shape: tuple[int, ...]) -> tuple[float, float]:
    """Return the fan in and the fan out of a kernel of ``shape``.

    A dense kernel is (in, out), a convolution's (height, width, in, out).
    """
    if len(shape) < 2:
        size = float(shape[0]) if shape else 1.0
        return size, size
    window = math.prod(shape[:-2])
    return float(window * shape[-2]), float(window * shape[-1])


def get(value: str | dict[str, Any] | Initializer) -> Initializer:
    """Return the initializer that ``value`` names or describes; an initializer is returned as is.

    Args:
        value: a name such as "zeros", or a result of `Initializer.config`.

    Raises:
        GraphError: there is no initializer of that name.
    """
    if isinstance(value, Initializer):
        return value
    config = dict(value) if isinstance(value, dict) else {"kind": value}
    kind = config.pop("kind", None)
    kind = _OTHER_NAMES.get(str(kind), kind)
    if not isinstance(kind, str) or kind not in _REGISTRY:
        raise GraphError(
            f"there is no initializer {kind!r}.", hint=f"Use one of: {', '.join(_REGISTRY)}."
        )
    return _REGISTRY[kind](**config)


def key_of(seed: int | None, default: int) -> int:
    """Return ``seed``, or ``default`` if it is None."""
    return default if seed is None else seed


def first_counter() -> Tensor:
    """Return the counter of initial values: 0."""
    return constant(0, "uint32")
