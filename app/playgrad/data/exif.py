"""The orientation of pictures, as cameras write it (https://www.cipa.jp/std/documents/e/DC-X008)."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_ORIENTATION = 0x0112
_SHORT = 3


def orientation_in(exif: bytes) -> int:
    """Return the orientation in EXIF data, from 1 to 8; 1 if there is none, or if it is damaged."""
    order = {b"II": "<", b"MM": ">"}.get(exif[:2])
    if order is None or len(exif) < 10:
        return 1
    (first,) = struct.unpack_from(f"{order}I", exif, 4)
    if not 8 <= first <= len(exif) - 2:
        return 1
    (count,) = struct.unpack_from(f"{order}H", exif, first)
    for start in range(first + 2, min(first + 2 + 12 * count, len(exif) - 11), 12):
        tag, kind, _, value = struct.unpack_from(f"{order}HHIH", exif, start)
        if tag == _ORIENTATION:
            return value if kind == _SHORT and 1 <= value <= 8 else 1
    return 1


def turned(pixels: Array, orientation: int) -> Array:
    """Return a picture, (height, width, channels), as it is to be seen.

    Args:
        orientation: from 1 to 8, as in EXIF: where the first row and the first column are.
    """
    if orientation >= 5:
        pixels = pixels.transpose(1, 0, 2)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)
