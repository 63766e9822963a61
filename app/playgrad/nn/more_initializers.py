"""Initializers by variance, and orthogonal and identity matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.tensor import Tensor
from playgrad.nn.initializers import Initializer, ScaledInitializer, fans, first_counter, key_of
from playgrad.ops.core import counter_random
from playgrad.ops.core.build import constant
from playgrad.ops.random.distributions import random_normal, truncated_normal


@dataclass(frozen=True)
class TruncatedNormal(Initializer):
    """A normal distribution whose values beyond two standard deviations are drawn again."""

    kind = "truncated_normal"
    mean: float = 0.0
    stddev: float = 0.05
    seed: int | None = None

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return truncated_normal(
            shape, self.mean, self.stddev, key_of(self.seed, seed), counter=first_counter()
        )


@dataclass(frozen=True)
class LecunUniform(ScaledInitializer):
    """LeCun uniform (LeCun et al. 1998), for selu: variance 1 / fan in."""

    kind = "lecun_uniform"

    def _variance(self, fan_in: float, fan_out: float) -> float:
        return 1.0 / fan_in

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return self._uniform(shape, seed)


@dataclass(frozen=True)
class LecunNormal(LecunUniform):
    """LeCun normal (LeCun et al. 1998), for selu: truncated at two standard deviations."""

    kind = "lecun_normal"

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        return self._normal(shape, seed)


@dataclass(frozen=True)
class VarianceScaling(Initializer):
    """Random numbers of the variance ``scale / n``.

    Args:
        scale: a positive number.
        mode: ``n`` is "fan_in", "fan_out", or their mean, "fan_avg".
        distribution: "truncated_normal", "untruncated_normal" or "uniform".
        seed: None derives it from the variable's name.

    Raises:
        ValueError: an argument is not one of these.
    """

    kind = "variance_scaling"
    scale: float = 1.0
    mode: str = "fan_in"
    distribution: str = "truncated_normal"
    seed: int | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"scale of VarianceScaling must be positive, got {self.scale}")
        for name, value, known in (
            ("mode", self.mode, ("fan_in", "fan_out", "fan_avg")),
            (
                "distribution",
                self.distribution,
                ("truncated_normal", "untruncated_normal", "uniform"),
            ),
        ):
            if value not in known:
                raise ValueError(
                    f"{name} of VarianceScaling must be one of {', '.join(known)}, got {value!r}"
                )

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        fan_in, fan_out = fans(shape)
        sizes = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}
        variance = self.scale / max(1.0, sizes[self.mode])
        scaled = _OfVariance(self.seed, variance)
        if self.distribution == "uniform":
            return scaled._uniform(shape, seed)
        if self.distribution == "truncated_normal":
            return scaled._normal(shape, seed)
        deviation = math.sqrt(variance)
        return random_normal(
            shape, 0.0, deviation, key_of(self.seed, seed), counter=first_counter()
        )


@dataclass(frozen=True)
class _OfVariance(ScaledInitializer):
    variance: float = 1.0

    def _variance(self, fan_in: float, fan_out: float) -> float:
        return self.variance


@dataclass(frozen=True)
class Orthogonal(Initializer):
    """A random orthogonal matrix, ``gain`` times (Saxe et al. 2014).

    Of a kernel (..., out), the matrix is (all others, out): its columns are orthonormal, or its
    rows if there are fewer of them.
    """

    kind = "orthogonal"
    gain: float = 1.0
    seed: int | None = None

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        if len(shape) < 2:
            raise ShapeError(
                f"an orthogonal matrix needs two dimensions, not {shape_text(shape)}.",
                hint="Use it for kernels, not for biases.",
            )
        rows, columns = math.prod(shape[:-1]), shape[-1]
        key = (key_of(self.seed, seed), 0x0A7B)
        size = (max(rows, columns), min(rows, columns))
        q, r = np.linalg.qr(counter_random.normal(key, 0, size).astype(np.float64))
        # With positive diagonals of r, the factors are unique: every host finds the same ones.
        q *= np.where(np.diag(r) < 0, -1.0, 1.0)
        matrix = q.T if rows < columns else q
        return constant((self.gain * matrix).reshape(shape).astype(np.float32))


@dataclass(frozen=True)
class Identity(Initializer):
    """The identity matrix, ``gain`` times; for weights of two dimensions."""

    kind = "identity"
    gain: float = 1.0

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        if len(shape) != 2:
            raise ShapeError(f"an identity matrix has two dimensions, not {shape_text(shape)}.")
        return constant((self.gain * np.eye(*shape)).astype(np.float32))
