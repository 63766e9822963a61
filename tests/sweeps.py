"""Parameters of sweeps, and the cases of random tests: every run tries a few, `make nightly` all.

Random tests rotate: their seed is the commit, so that each commit tries other cases, and
every run of a commit the same. A run in which tests failed prints the seed; ``PLAYGRAD_SEED``
repeats it elsewhere.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings


def slow(*cases: Any) -> list[Any]:
    """Return ``cases`` for the slow sweep only. A tuple is the values of several parameters."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for case in cases
    ]


def sweep(cases: Iterable[Any], often: Collection[Any]) -> list[Any]:
    """Return ``cases`` for the slow sweep, of which every test run tries the cases in ``often``."""
    return [case if case in often else slow(case)[0] for case in cases]


def _seed() -> int:
    """Return a number from the commit, or from the date outside of a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True)
    return int(commit.stdout or str(int(time.time()) // 86400), 16)


# In the environment, so that xdist's workers use the same.
SEED = int(os.environ.setdefault("PLAYGRAD_SEED", str(_seed())))
"""The seed of all random tests."""

_NIGHT = bool(os.environ.get("PLAYGRAD_NIGHT"))


def budget(cases: int, night: int) -> int:
    """Return the number of random cases to try: ``cases``, but ``night`` in `make nightly`."""
    return night if _NIGHT else cases


def examples(cases: int, night: int | None = None) -> settings:
    """Return settings of Hypothesis for a budget of cases; by night it is ten times as large."""
    return settings(max_examples=budget(cases, night or 10 * cases))


def dice(*key: object) -> random.Random:
    """Return a generator of random numbers that depend on the seed, and on ``key``."""
    return random.Random(f"{SEED} {key}")
