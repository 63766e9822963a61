"""Reproducible arrays for the samples of op definitions."""

from __future__ import annotations

import numpy as np

from playgrad.graph.opdef import Array


def floats(*shape: int, seed: int = 0, low: float = -2.0, high: float = 2.0) -> Array:
    """Return float32 values, uniform in [low, high)."""
    return np.random.default_rng((seed, *shape)).uniform(low, high, shape).astype(np.float32)


def integers(*shape: int, seed: int = 0, low: int = 0, high: int = 9) -> Array:
    """Return int32 values in [low, high)."""
    return np.random.default_rng((seed, *shape)).integers(low, high, shape).astype(np.int32)


def distinct(*shape: int, seed: int = 0) -> Array:
    """Return float32 values at least 0.1 apart, so that finite differences change no maximum."""
    count = int(np.prod(shape, dtype=np.int64))
    order = np.random.default_rng((seed, *shape)).permutation(count)
    return ((order - count / 2) * 0.1).astype(np.float32).reshape(shape)


def distribution(*shape: int, seed: int = 0) -> Array:
    """Return float32 probabilities that sum to 1 along the last axis."""
    weights = floats(*shape, seed=seed, low=0.1, high=1.0)
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


def int8s(*shape: int, seed: int = 0, low: int = -128, high: int = 128) -> Array:
    """Return int8 values in [low, high)."""
    return np.random.default_rng((seed, *shape)).integers(low, high, shape).astype(np.int8)
