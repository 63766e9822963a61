"""Arrays in a memory that NumPy and kernels share, as in a page."""

from __future__ import annotations

from typing import Any

import numpy as np


def address(array: np.ndarray[Any, Any]) -> int:
    """Return the place of the first element of ``array``."""
    place: int = array.__array_interface__["data"][0]
    return place
