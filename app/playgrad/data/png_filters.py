"""The filters of PNG rows, undone.

A byte was stored as its difference from a prediction, made of the byte of the pixel to the left
(a), above (b) and above to the left (c). Pixels on a diagonal do not depend on each other, so a
whole diagonal is computed at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4


def unfiltered(rows: Array, filters: Array, step: int) -> Array:
    """Return the bytes of an image.

    Args:
        rows: uint8 (height, bytes), filtered.
        filters: uint8 (height,), the filter of each row, from 0 to 4.
        step: the bytes from a pixel to the next one.
    """
    if (filters <= _UP).all():
        return _by_rows(rows, filters, step)
    height, width = len(rows), rows.shape[1] // step
    # A border of zeros above and to the left stands for the pixels outside.
    image = np.zeros((height + 1, width + 1, step), np.int16)
    image[1:, 1:] = rows.reshape(height, width, step)
    kinds = filters[:, None]
    for diagonal in range(height + width - 1):
        y = np.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        x = diagonal - y
        a, b, c = image[y + 1, x], image[y, x + 1], image[y, x]
        kind = kinds[y]
        to_a, to_b, to_c = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
        paeth = np.where((to_a <= to_b) & (to_a <= to_c), a, np.where(to_b <= to_c, b, c))
        prediction = np.where(kind == _PAETH, paeth, (a + b) >> 1)
        prediction = np.where(kind == _UP, b, np.where(kind == _SUB, a, prediction))
        image[y + 1, x + 1] += np.where(kind == 0, 0, prediction)
        image[y + 1, x + 1] &= 255
    return image[1:, 1:].reshape(height, width * step).astype(np.uint8)


def _by_rows(rows: Array, filters: Array, step: int) -> Array:
    """Return the bytes of an image whose rows predict from the left, from above or not at all."""
    result = rows.copy()
    for y, kind in enumerate(filters):
        if kind == _SUB:
            pixels = result[y].reshape(-1, step)
            np.cumsum(pixels, axis=0, dtype=np.uint8, out=pixels)
        elif kind == _UP and y:
            result[y] += result[y - 1]
    return result
