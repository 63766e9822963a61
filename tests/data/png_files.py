"""An encoder of PNG files for tests: every colour type, bit depth and filter, and interlacing."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
          (1, 0, 2, 1))  # fmt: skip


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def header(width: int, height: int, depth: int = 8, colour: int = 0, interlaced: int = 0) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def png(
    values: Array,
    colour: int,
    depth: int = 8,
    filters: tuple[int, ...] = (0,),
    interlaced: bool = False,
    extra: bytes = b"",
) -> bytes:
    """Return a file with ``values`` (height, width, channels); rows use ``filters`` in turn."""
    height, width, channels = values.shape
    assert channels == CHANNELS[colour]
    content = b""
    for row, column, down, right in PASSES if interlaced else ((0, 0, 1, 1),):
        part = values[row::down, column::right]
        if part.size:
            content += filtered(rows_of(part, depth), max(1, channels * depth // 8), filters)
    return (
        b"\x89PNG\r\n\x1a\n"
        + header(width, height, depth, colour, interlaced)
        + extra
        + chunk(b"IDAT", zlib.compress(content))
        + chunk(b"IEND", b"")
    )


def rows_of(part: Array, depth: int) -> Array:
    flat = part.reshape(len(part), -1)
    if depth == 16:
        return flat.astype(">u2").view(np.uint8)
    if depth == 8:
        return flat.astype(np.uint8)
    bits = (flat[:, :, None] >> np.arange(depth)[::-1]) & 1
    return np.packbits(bits.reshape(len(part), -1).astype(np.uint8), axis=1)


def filtered(rows: Array, step: int, filters: tuple[int, ...]) -> bytes:
    """Byte by byte, as the specification writes it."""
    out = bytearray()
    for y, row in enumerate(rows):
        kind = filters[y % len(filters)]
        out.append(kind)
        for x, value in enumerate(row):
            a = int(row[x - step]) if x >= step else 0
            b = int(rows[y - 1][x]) if y else 0
            c = int(rows[y - 1][x - step]) if y and x >= step else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            out.append((int(value) - (0, a, b, (a + b) // 2, paeth)[kind]) % 256)
    return bytes(out)
