"""The median, without what NumPy's own one imports."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def median(values: ArrayLike) -> Any:
    """Return the median along the first axis, NaN where one of the values is NaN.

    `numpy.median` gives the same, and imports `numpy.ma`, which takes a page a third of a second in
    the middle of its first training.
    """
    ordered = np.sort(values, axis=0)
    count = len(ordered)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return np.where(np.isnan(ordered[-1]), np.nan, middle)
