"""The settings that a sweep tries: every combination of a grid, with values drawn at random."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from playgrad.errors import DataError

Value: TypeAlias = bool | int | float | str | None
Settings: TypeAlias = dict[str, Value]

MOST_TRIALS = 10_000
_LARGEST = 2**53
"""The largest end of a range: beyond it, floating-point numbers skip whole ones."""


@dataclass(frozen=True)
class Between:
    """Numbers from ``low`` to ``high``; whole numbers, both ends included, if both are.

    Args:
        low, high: from -2^53 to 2^53, ``low`` not above ``high``.
        log: draw the logarithm evenly, so that 0.001 to 0.01 is as likely as 0.01 to 0.1.

    Raises:
        DataError: the range is empty, goes too far, or has no logarithm.
    """

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not -_LARGEST <= self.low <= self.high <= _LARGEST:  # nor if one is NaN
            raise DataError(
                f"a range goes from a number to a larger one, and not beyond 2^53, got {self}."
            )
        if self.log and self.low <= 0:
            raise DataError(f"a logarithmic range begins above 0, got {self}.")

    def __str__(self) -> str:
        return f"{self.low}..{self.high}"

    def draw(self, random: np.random.Generator) -> Value:
        """Return a number of the range."""
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        if whole and not self.log:
            return int(random.integers(int(self.low), int(self.high), endpoint=True))
        if self.log:
            number = math.exp(random.uniform(math.log(self.low), math.log(self.high)))
        else:
            number = float(random.uniform(self.low, self.high))
        number = round(number) if whole else float(f"{number:.4g}")
        return min(max(number, self.low), self.high)


def between(low: float, high: float, log: bool = False) -> Between:
    """Return a range for the ``random`` settings of `sweep`; see `Between`."""
    return Between(low, high, log)


def combinations(
    grid: Mapping[str, Sequence[Value]],
    random: Mapping[str, Between | Sequence[Value]],
    trials: int | None = None,
    seed: int = 0,
) -> list[Settings]:
    """Return the settings of each trial.

    The first trials are the same for any number of them, so that a sweep can be made longer.

    Args:
        grid: names with values, of which all combinations are tried in turn.
        random: names with ranges or values, from which each trial draws.
        trials: the number of trials; by default each combination of the grid once.
        seed: of what is drawn.

    Raises:
        DataError: there is nothing to try, a setting has no values or is in both, or the number of
            trials is missing or out of bounds.
    """
    grid = {name: checked(name, values) for name, values in grid.items()}
    random = {
        name: values if isinstance(values, Between) else checked(name, values)
        for name, values in random.items()
    }
    if seed < 0:
        raise DataError(f"the seed of a sweep is at least 0, got {seed}.")
    if both := grid.keys() & random.keys():
        raise DataError(f"the setting {min(both)!r} is both in grid and in random.")
    cells = math.prod(len(values) for values in grid.values()) if grid else 0
    if trials is None:
        if random:
            raise DataError("settings drawn at random need a number of trials.")
        trials = cells
    if not 1 <= trials <= MOST_TRIALS:
        raise DataError(f"a sweep has 1 to {MOST_TRIALS:,} trials, got {trials:,}.")
    if not random and trials > cells:
        raise DataError(f"the grid has {cells:,} combinations, fewer than {trials:,} trials.")
    every = itertools.cycle(itertools.product(*grid.values()))
    return [
        dict(zip(grid, cell, strict=True)) | _drawn(random, seed, number)
        for number, cell in enumerate(itertools.islice(every, trials))
    ]


def checked(name: str, values: Iterable[Any]) -> list[Value]:
    """Return the values of a setting as Python's own.

    Raises:
        DataError: there is none, or one is neither a finite number, nor a text, a flag, or None.
    """
    if isinstance(values, str):
        raise DataError(f"the setting {name!r} needs a list of values, got {values!r}.")
    own = [value.item() if isinstance(value, np.generic) else value for value in values]
    for value in own:
        number = isinstance(value, float) and not math.isfinite(value)
        if number or not (value is None or isinstance(value, bool | int | float | str)):
            raise DataError(
                f"the setting {name!r} cannot have the value {value!r:.80}: it is a finite number, "
                "a text, True, False or None."
            )
    if not own:
        raise DataError(f"the setting {name!r} has no values.")
    return own


def _drawn(random: Mapping[str, Between | Sequence[Value]], seed: int, number: int) -> Settings:
    dice = np.random.default_rng([seed, number])
    return {
        name: values.draw(dice)
        if isinstance(values, Between)
        else values[int(dice.integers(len(values)))]
        for name, values in random.items()
    }


def in_words(settings: Settings) -> str:
    """Return settings as text: ``lr=0.01 units=64``."""
    return " ".join(f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
                    for name, value in settings.items())  # fmt: skip
