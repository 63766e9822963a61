"""Checks of numbers that callers pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from playgrad.errors import GameError

MOST_SEED = 2**63 - 1


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """Return ``value`` as an int.

    Raises:
        GameError: it is not a whole number from ``least`` to ``most``.
    """
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or not least <= value <= most:
        raise GameError(f"{name} must be a whole number from {least} to {most:,}, got {value!r}.")
    return int(value)


def number(name: str, value: Any, least: float, most: float) -> float:
    """Return ``value`` as a float.

    Raises:
        GameError: it is not a number from ``least`` to ``most``.
    """
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not least <= value <= most:
        raise GameError(f"{name} must be a number from {least:g} to {most:g}, got {value!r}.")
    return float(value)


def seeded(seed: Any) -> np.random.Generator:
    """Return a generator of random numbers.

    Raises:
        GameError: the seed is not a whole number from 0 to 2^63 - 1.
    """
    return np.random.default_rng(whole_number("seed", seed, 0, MOST_SEED))
