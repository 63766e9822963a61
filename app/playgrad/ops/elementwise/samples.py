"""Samples shared by the elementwise operations."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import InvalidSample, Sample

_random = np.random.default_rng(7)


def random_floats(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray[Any, Any]:
    """Return float32 values, uniform in [low, high), other ones at each call."""
    return _random.uniform(low, high, shape).astype(np.float32)


def away_from_zero(*shape: int) -> np.ndarray[Any, Any]:
    """Return floats so far from 0 that finite differences stay on one side of a kink there."""
    values = random_floats(*shape)
    return np.where(np.abs(values) < 0.1, np.float32(0.5), values)


def random_integers(*shape: int) -> np.ndarray[Any, Any]:
    """Return int32 values from 1 to 8."""
    return _random.integers(1, 9, shape).astype(np.int32)


def unary(*arrays: np.ndarray[Any, Any]) -> tuple[Sample, ...]:
    """Return a sample for each array, by default two arrays of random floats."""
    return tuple(Sample((array,)) for array in arrays or (random_floats(37), random_floats(3, 5)))


BOOLS = np.array([[True, False], [True, True]])
PAIRS = (
    Sample((random_floats(3, 5), away_from_zero(3, 5))),
    Sample((random_floats(2, 3, 4), away_from_zero(4))),
    Sample((random_floats(3, 1), away_from_zero(1, 4))),
    Sample((random_floats(), away_from_zero(2, 2))),
)
INT_PAIR = Sample((random_integers(4, 3), random_integers(3)))
NUMERIC_PAIRS = (*PAIRS, INT_PAIR)
BOOL_PAIR = (Sample((BOOLS, BOOLS.T.copy())),)
BAD_PAIRS = (
    InvalidSample((random_floats(2, 3), random_floats(4)), {}, ShapeError, "do not broadcast"),
    InvalidSample((random_floats(2), random_integers(2)), {}, DTypeError, "element types differ"),
)
KINKED = unary(away_from_zero(41), away_from_zero(4, 3))
POSITIVE = unary(random_floats(23, low=0.1, high=4.0))
NOT_FLOATING = (InvalidSample((random_integers(3),), {}, DTypeError, "does not take int32"),)
FAR = Sample((np.array([-95.0, 0.0, 95.0], np.float32),), differentiable=())
SPECIAL = (Sample((np.array([1.0, np.nan, np.inf, -np.inf, 0.0], np.float32),)),)
