"""Comparison of arrays, with a difference described in words and numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import shape_text
from playgrad.graph.opdef import Array


class BrokenRuleError(AssertionError):
    """An operation breaks a rule of the contract; the message says how, with numbers."""


def expect_close(what: str, actual: Array, expected: Array, rtol: float, atol: float) -> None:
    """Check that two arrays have equal dtypes, shapes, and values up to rounding.

    Args:
        what: names ``actual`` in the message.
        rtol, atol: as in ``numpy.allclose``. Integers and bools must be equal.

    Raises:
        BrokenRuleError: they differ.
    """
    if actual.dtype != expected.dtype:
        raise BrokenRuleError(f"{what}: is {actual.dtype}, expected {expected.dtype}.")
    if actual.shape != expected.shape:
        shapes = f"{shape_text(actual.shape)}, expected {shape_text(expected.shape)}"
        raise BrokenRuleError(f"{what}: has shape {shapes}.")
    if dtype(expected.dtype).floating:
        same = np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    else:
        same = actual == expected
    if not np.all(same):
        raise BrokenRuleError(f"{what}: {_difference(actual, expected, ~np.asarray(same))}")


def _difference(actual: Array, expected: Array, wrong: Array) -> str:
    """Return the number of wrong elements, and the place and values of the worst."""
    with np.errstate(all="ignore"):
        distance = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    distance = np.where(wrong, np.nan_to_num(distance, nan=np.inf), -1.0)
    place = np.unravel_index(int(np.argmax(distance)), distance.shape)
    where = f" at [{', '.join(str(int(i)) for i in place)}]" if place else ""
    values = f"{_number(actual[place])} instead of {_number(expected[place])}"
    if actual.size == 1:
        return f"{values}."
    return f"{int(wrong.sum())} of {actual.size} values differ, the worst{where}: {values}."


def _number(value: Any) -> str:
    return f"{value:.6g}" if dtype(np.asarray(value).dtype).floating else str(value)
