"""The difference that a changed sample makes in each layer."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def relative_change(original: Array, changed: Array) -> float:
    """Return norm(changed - original) / norm(original), over all elements.

    Returns:
        0 if the two are equal, also if they are 0; infinity if only the original is 0.
    """
    before, after = (values.astype(np.float64) for values in (original, changed))
    difference = float(np.linalg.norm(after - before))
    if difference == 0:
        return 0.0
    size = float(np.linalg.norm(before))
    return difference / size if size else float("inf")
