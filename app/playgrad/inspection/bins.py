"""Histograms whose bins fit into each other, so that histograms of different times can be compared.

The range of a histogram is from -2^e to 2^e, with the least e that holds all values, in `BINS` bins
of equal width. The edges are then exact, and two bins of a histogram are one bin of the histogram
with twice the range: all histograms of a series can be shown over the widest of their ranges, and
their counts equal ``np.histogram``'s with that range. Values that are NaN or infinite are
counted and not binned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
BINS = 64
LEAST_EXPONENT = -40
"""Values that are smaller than 2^-40 are counted as such, whatever their size."""


@dataclass(frozen=True)
class Binned:
    """The histogram of some values.

    Attributes:
        exponent: the range is from -2^exponent to 2^exponent; None if there are only zeros.
        counts: int64 (BINS,).
        strays: the number of values that are NaN or infinite.
        size: the mean magnitude of the others; None if there are none.
        spread: their standard deviation; None if there are none.
    """

    exponent: int | None
    counts: Array
    strays: int
    size: float | None
    spread: float | None

    def widened(self, exponent: int) -> Array:
        """Return the counts over a range that is at least as wide."""
        counts = self.counts
        steps = 0 if self.exponent is None else exponent - self.exponent
        for _ in range(min(steps, int(math.log2(BINS)))):
            merged = counts.reshape(-1, 2).sum(axis=1)
            counts = np.zeros_like(counts)
            counts[BINS // 4 : BINS // 4 + BINS // 2] = merged
        return counts


def binned(arrays: Sequence[Array]) -> Binned:
    """Return the histogram of all values of ``arrays``."""
    values = np.concatenate([np.asarray(array).ravel() for array in arrays])
    finite = np.isfinite(values)
    strays = int(values.size - np.count_nonzero(finite))
    values = (values if not strays else values[finite]).astype(np.float64)
    if not values.size:
        return Binned(None, np.zeros(BINS, np.int64), strays, None, None)
    sizes = np.abs(values)
    largest = float(sizes.max())
    exponent = max(math.frexp(largest)[1], LEAST_EXPONENT) if largest else None
    # Scaling by a power of two is exact, and so are then the places of the edges.
    places = np.floor(np.ldexp(values, -(exponent or 0)) * (BINS // 2)).astype(np.int64)
    counts = np.bincount(places + BINS // 2, minlength=BINS)
    return Binned(exponent, counts, strays, float(sizes.mean()), float(values.std()))


def common_exponent(histograms: Sequence[Binned]) -> int:
    """Return the exponent of the widest range of ``histograms``; 0 if all values are 0."""
    known = [each.exponent for each in histograms if each.exponent is not None]
    return max(known, default=0)
