"""Parameters of sweeps: every test run tries a few of them, `make nightly` all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def slow(*cases: Any) -> list[Any]:
    """Return ``cases`` for the slow sweep only. A tuple is the values of several parameters."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for case in cases
    ]


def sweep(cases: Iterable[Any], often: Collection[Any]) -> list[Any]:
    """Return ``cases`` for the slow sweep, of which every test run tries those in ``often``."""
    return [case if case in often else slow(case)[0] for case in cases]
