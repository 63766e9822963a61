"""Checks of the settings of optimizers."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from playgrad.graph.source import warn_user


def checked_rate(value: Any) -> float:
    """Return ``value`` as a learning rate.

    Raises:
        ValueError: it is not a finite number of at least 0.
    """
    rate = float(value) if isinstance(value, Real) else math.nan
    if not math.isfinite(rate) or rate < 0:
        raise ValueError(f"the learning rate must be a number of at least 0, got {value!r}")
    return rate


def checked_frequency(value: Any, use_ema: bool) -> int | None:
    """Return ``value`` as the number of updates between two overwrites of the weights."""
    if value is None:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"ema_overwrite_frequency must be a whole number of at least 1, got {value!r}"
        )
    if not use_ema:
        warn_user(f"ema_overwrite_frequency={value} does nothing without use_ema=True.")
    return int(value)


def checked_scale(value: Any) -> float | None:
    """Return ``value`` as the factor of a loss."""
    if value is None:
        return None
    number = float(value) if isinstance(value, Real) else math.nan
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"loss_scale_factor must be a positive number, got {value!r}")
    return number
