"""Pictures as PNG files (W3C, Portable Network Graphics, second edition)."""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_COLOUR_TYPES = {3: 2, 4: 6}
_POSITIVE = np.array([178.0, 64.0, 20.0])
_NEGATIVE = np.array([36.0, 88.0, 184.0])
_GAP = 1
"""Pixels between the pictures of a grid."""


def png_of(figure: dict[str, Any]) -> bytes:
    """Return the pictures of a figure as one PNG file, in a grid."""
    pixels = coloured(figure)
    count, height, width, channels = pixels.shape
    columns = math.ceil(math.sqrt(count))
    rows = math.ceil(count / columns)
    gap = _GAP if count > 1 else 0
    shape = (rows * (height + gap) - gap, columns * (width + gap) - gap, channels)
    grid = np.full(shape, 255, np.uint8)
    for number, picture in enumerate(pixels):
        top, left = (number // columns) * (height + gap), (number % columns) * (width + gap)
        grid[top : top + height, left : left + width] = picture
    return _encoded(grid)


def coloured(figure: dict[str, Any]) -> Array:
    """Return pictures (N, H, W, 3 or 4) with the colours of the figure's scale."""
    shape = tuple(figure[name] for name in ("count", "height", "width", "channels"))
    values = np.frombuffer(figure["pixels"], np.uint8).reshape(shape)
    if figure["scale"] == "colour":
        return values
    if figure["scale"] == "grey":
        return np.repeat(values, 3, axis=3)
    part = (values.astype(np.float64) - 128) / 127
    end = np.where(part > 0, _POSITIVE, _NEGATIVE)
    return np.round(255 + (end - 255) * np.abs(part).clip(0, 1)).astype(np.uint8)


def _encoded(pixels: Array) -> bytes:
    height, width, channels = pixels.shape
    rows = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check
