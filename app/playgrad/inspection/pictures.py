"""Samples that are pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
LEAST_SIDE, LARGEST_SIDE = 8, 256
"""Of images, in pixels."""
PIXELS_IN_A_ROW = 784
"""The only number of features that is taken for an image."""


def image_size(shape: Sequence[int | None]) -> tuple[int, int, Literal[1, 3]] | None:
    """Return height, width and channels of samples of ``shape``; None if it is not of images."""
    if tuple(shape) == (PIXELS_IN_A_ROW,):
        side = round(PIXELS_IN_A_ROW**0.5)
        return side, side, 1
    if len(shape) == 2 and shape[0] == shape[1]:
        shape = (*shape, 1)
    if len(shape) != 3 or shape[2] not in (1, 3):
        return None
    height, width = (size or 0 for size in shape[:2])
    fits = all(LEAST_SIDE <= size <= LARGEST_SIDE for size in (height, width))
    return (height, width, 1 if shape[2] == 1 else 3) if fits else None


def shown_range(all_x: Array) -> tuple[float, float]:
    """Return the values that are black and white in pictures of the data."""
    if all_x.dtype == np.uint8:
        return 0.0, 255.0
    finite = all_x[np.isfinite(all_x)]
    return (min(0.0, float(finite.min())), float(finite.max())) if finite.size else (0.0, 1.0)


def pixels(x: Array, all_x: Array) -> bytes:
    """Return images as bytes, black to white over the range of the data."""
    if x.dtype == np.uint8:
        return x.tobytes()
    low, high = shown_range(all_x)
    scaled = np.nan_to_num((x.astype(np.float32) - low) / max(high - low, 1e-9))
    return np.round(255 * np.clip(scaled, 0, 1)).astype(np.uint8).tobytes()
