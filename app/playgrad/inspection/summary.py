"""Summaries of arrays: statistics, a histogram, and a grid of values that is never large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np

Array = np.ndarray[Any, Any]
BLOCK = 1 << 18
"""Values that are converted at a time: an array may be as large as the memory allows."""
BINS = 32
MOST_BINNED = 1 << 18
SIDE = 48
"""The most rows and columns of the grid."""


class Histogram(TypedDict):
    """Of the finite values; `sampled`: not all of them are counted."""

    low: float
    high: float
    counts: list[int]
    sampled: bool


class ValueGrid(TypedDict):
    """float32, least byte first, row by row; `rows` and `columns`: the numbers of the shown."""

    values: bytes
    rows: list[int]
    columns: list[int]
    total_rows: int
    total_columns: int


class Summary(TypedDict):
    """Of an array."""

    shape: list[int]
    dtype: str
    count: int
    statistics: dict[str, float | None]
    histogram: Histogram | None
    grid: ValueGrid


def statistics(array: Array) -> dict[str, float | None]:
    """Return numbers about an array.

    Returns:
        ``min`` and ``max``, not counting NaN; ``|max|``, the largest absolute value; ``mean`` and
        ``std`` of the finite values; ``zeros``, a share; ``nan`` and ``inf``, counts. A number that
        there is not, as the mean of nothing, is None.
    """
    low, high = np.inf, -np.inf
    zeros = nan = inf = finite = 0
    total = 0.0
    for values in _blocks(array):
        known = values[~np.isnan(values)]
        nan += values.size - known.size
        inf += int(np.isinf(known).sum())
        zeros += int((known == 0).sum())
        if known.size:
            low, high = min(low, float(known.min())), max(high, float(known.max()))
        ends = known[np.isfinite(known)]
        finite += ends.size
        total += float(ends.sum())
    mean = total / finite if finite else None
    squares = 0.0
    for values in _blocks(array) if mean is not None else ():
        with np.errstate(over="ignore"):
            squares += float(((values[np.isfinite(values)] - mean) ** 2).sum())
    known_any = array.size > nan
    return {
        "min": low if known_any else None,
        "max": high if known_any else None,
        "|max|": max(abs(low), abs(high)) if known_any else None,
        "mean": mean,
        "std": None if mean is None else (squares / finite) ** 0.5,
        "zeros": zeros / array.size if array.size else None,
        "nan": float(nan),
        "inf": float(inf),
    }


def summary(array: Array) -> Summary:
    """Return the summary of an array for the page."""
    return {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "count": int(array.size),
        "statistics": statistics(array),
        "histogram": histogram(array),
        "grid": grid(array),
    }


def histogram(array: Array) -> Histogram | None:
    """Return counts of the finite values in bins of equal width; None if there are none.

    Of a large array, values evenly spread over it are counted.
    """
    flat = array.reshape(-1)
    binned = _evenly(flat.size, MOST_BINNED)
    values = flat[binned].astype(np.float64)
    values = values[np.isfinite(values)]
    if not values.size:
        return None
    low, high = float(values.min()), float(values.max())
    if not np.isfinite(high - low) or high - low <= abs(high) * 1e-12:
        return {
            "low": low,
            "high": high,
            "counts": [int(values.size)],
            "sampled": _is_part(binned, flat),
        }
    counts, _ = np.histogram(values, BINS, (low, high))
    return {"low": low, "high": high, "counts": counts.tolist(), "sampled": _is_part(binned, flat)}


def _is_part(rows: Array, flat: Array) -> bool:
    return bool(rows.size < flat.size)


def grid(array: Array) -> ValueGrid:
    """Return values as rows and columns: the last axis is the columns, all others the rows.

    Of many rows or columns, some are taken, evenly spread.

    Returns:
        ``values`` as bytes of float32; ``rows`` and ``columns``, the numbers of the ones
        shown; ``total_rows`` and ``total_columns``.
    """
    columns = array.shape[-1] if array.ndim else 1
    rows = array.size // columns if columns else 0
    table = array.reshape(rows, columns)
    down, across = _evenly(rows, SIDE), _evenly(columns if rows else 0, SIDE)
    with np.errstate(over="ignore"):
        values = table[np.ix_(down, across)].astype("<f4")
    return {
        "values": values.tobytes(),
        "rows": down.tolist(),
        "columns": across.tolist(),
        "total_rows": rows,
        "total_columns": columns,
    }


def _evenly(count: int, most: int) -> Array:
    return np.arange(min(count, most)) * count // max(1, min(count, most))


def _blocks(array: Array) -> Iterator[Array]:
    flat = array.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        yield flat[start : start + BLOCK].astype(np.float64)
