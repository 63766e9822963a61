"""A decoder of PNG images (https://www.w3.org/TR/png-3/), with zlib from the standard library.

All colour types and bit depths, palettes, transparency and interlacing. Python in a page has no
image library, and the same bytes give the same image on every host.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.data.exif import orientation_in, turned
from playgrad.data.png_filters import unfiltered
from playgrad.errors import DataError, ReadError

Array = np.ndarray[Any, Any]
MOST_PIXELS = 1 << 26
"""Larger images are refused before their pixels are unpacked."""
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_ADAM7 = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
          (1, 0, 2, 1))  # fmt: skip
"""First row, first column, and the steps between rows and columns, of each interlacing pass."""


@dataclass
class _Image:
    """The chunks of a file that matter."""

    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool
    palette: Array | None = None
    transparency: bytes = b""
    data: list[bytes] = field(default_factory=list)
    orientation: int = 1

    @property
    def channels(self) -> int:
        """The values of a pixel in the file."""
        return _CHANNELS[self.colour]

    def row_bytes(self, width: int) -> int:
        """Return the bytes of a row, without the one that names its filter."""
        return (width * self.channels * self.depth + 7) // 8

    def parts(self) -> list[tuple[int, int, int, int]]:
        """Return the passes that have pixels, as rows of `_ADAM7`."""
        passes = _ADAM7 if self.interlaced else ((0, 0, 1, 1),)
        return [each for each in passes if each[0] < self.height and each[1] < self.width]

    def size_of(self, part: tuple[int, int, int, int]) -> tuple[int, int]:
        """Return the height and width of a pass."""
        row, column, down, right = part
        return -(-(self.height - row) // down), -(-(self.width - column) // right)


def decode_png(
    contents: bytes | memoryview,
    channels: int = 0,
    what: str = "the image",
    max_pixels: int = MOST_PIXELS,
) -> Array:
    """Return the image in a PNG file.

    Args:
        contents: the bytes of the file.
        channels: 1 for grey, 2 for grey and alpha, 3 for RGB, 4 for RGBA; 0 for the file's own.
            Colours become grey as 0.299 R + 0.587 G + 0.114 B. Without an alpha channel, the image
            is shown on white.
        what: a name for the file in errors.
        max_pixels: larger images are refused, as small files can hold very large images.

    Returns:
        uint8 of shape (height, width, channels), turned as the EXIF orientation says. Values of 16
        bits are rounded to 8.

    Raises:
        ReadError: the file is damaged, too large, or is not a PNG file.
        DataError: ``channels`` is not from 0 to 4.
    """
    if channels not in range(5):
        raise DataError(f"channels must be from 0 to 4, got {channels!r}.")
    try:
        image = _chunks(bytes(contents), max_pixels)
        pixels = _pixels(image)
    except _DamageError as damage:
        raise ReadError(f"{what} {damage}.", file=what) from None
    return with_channels(turned(pixels, image.orientation), channels or pixels.shape[2])


class _DamageError(Exception):
    """Says in words why a file is not a valid image."""


def _chunks(contents: bytes, max_pixels: int) -> _Image:
    if contents[:8] != _SIGNATURE:
        raise _DamageError(f"is not a PNG file: it begins with {contents[:4].hex() or 'nothing'}")
    image: _Image | None = None
    position = 8
    while True:
        if len(contents) < position + 12:
            raise _DamageError("is truncated: it has no IEND chunk")
        length, kind = struct.unpack_from(">I4s", contents, position)
        body = contents[position + 8 : position + 8 + length]
        position += 12 + length
        if len(contents) < position:
            raise _DamageError(f"is truncated in the middle of a {kind!r} chunk")
        if zlib.crc32(kind + body) != int.from_bytes(contents[position - 4 : position], "big"):
            raise _DamageError(f"is damaged: the checksum of its {kind!r} chunk is wrong")
        if image is None:
            image = _header(kind, body, max_pixels)
        elif kind == b"PLTE":
            if length % 3 or not 3 <= length <= 768:
                raise _DamageError(f"is damaged: its palette has {length} bytes")
            image.palette = np.frombuffer(body, np.uint8).reshape(-1, 3)
        elif kind == b"tRNS":
            image.transparency = body
        elif kind == b"eXIf":
            image.orientation = orientation_in(body)
        elif kind == b"IDAT":
            image.data.append(body)
        elif kind == b"IEND":
            return image
        elif kind[0] < 0x60:  # a capital letter: a chunk that must be understood
            raise _DamageError(f"has a {kind!r} chunk, which is not known")


def _header(kind: bytes, body: bytes, max_pixels: int) -> _Image:
    if kind != b"IHDR" or len(body) != 13:
        raise _DamageError("is damaged: it does not begin with a header")
    width, height, depth, colour, compression, filtering, interlace = struct.unpack(
        ">IIBBBBB", body
    )
    if depth not in _DEPTHS.get(colour, ()) or compression or filtering or interlace > 1:
        raise _DamageError(f"has a header that is not valid: {body.hex()}")
    if not (width and height):
        raise _DamageError(f"is damaged: its size is {width} x {height}")
    if width * height > max_pixels:
        raise _DamageError(
            f"has {width} x {height} pixels, more than the {max_pixels:,} that max_pixels allows"
        )
    return _Image(width, height, depth, colour, bool(interlace))


def _pixels(image: _Image) -> Array:
    """Return uint8 (height, width, channels), with the palette and transparency applied."""
    parts = [(part, *image.size_of(part)) for part in image.parts()]
    expected = sum(height * (1 + image.row_bytes(width)) for _, height, width in parts)
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(b"".join(image.data), expected + 1)
    except zlib.error as error:
        raise _DamageError(f"is damaged: {error}") from None
    if len(content) != expected:
        state = "fewer" if len(content) < expected else "more"
        raise _DamageError(f"is damaged: it has {state} bytes than its size needs")
    raw = np.empty((image.height, image.width, image.channels), np.uint16)
    start = 0
    for (row, column, down, right), height, width in parts:
        size = image.row_bytes(width)
        lines = np.frombuffer(content, np.uint8, height * (1 + size), start)
        start += lines.size
        lines = lines.reshape(height, 1 + size)
        if lines[:, 0].max() > 4:
            raise _DamageError(f"is damaged: there is no filter {lines[:, 0].max()}")
        step = max(1, image.channels * image.depth // 8)
        values = _unpacked(unfiltered(lines[:, 1:], lines[:, 0], step), image.depth)
        values = values[:, : width * image.channels]
        raw[row::down, column::right] = values.reshape(height, width, image.channels)
    return _coloured(raw, image)


def _unpacked(rows: Array, depth: int) -> Array:
    """Return the values of ``depth`` bits in rows of bytes."""
    if depth == 8:
        return rows
    if depth == 16:
        return rows.reshape(len(rows), -1, 2).astype(np.uint16) @ np.array([256, 1], np.uint16)
    bits = np.unpackbits(rows, axis=1).reshape(len(rows), -1, depth)
    return bits @ (1 << np.arange(depth)[::-1]).astype(np.uint8)


def _coloured(raw: Array, image: _Image) -> Array:
    alpha: Array | None = None
    if image.colour == 3:
        if image.palette is None:
            raise _DamageError("is damaged: its palette is missing")
        if raw.max() >= len(image.palette):
            raise _DamageError(f"is damaged: colour {raw.max()} is not in its palette")
        index = raw[:, :, 0]
        if image.transparency:
            opacity = np.full(256, 255, np.uint8)
            known = np.frombuffer(image.transparency, np.uint8)[:256]
            opacity[: len(known)] = known
            alpha = opacity[index]
        colours = image.palette[index]
    else:
        if image.transparency and image.colour in (0, 2):
            if len(image.transparency) < 2 * image.channels:
                raise _DamageError("is damaged: its transparent colour is truncated")
            key = np.frombuffer(image.transparency, ">u2", image.channels)
            alpha = np.where((raw == key).all(axis=2), 0, 255).astype(np.uint8)
        largest = (1 << image.depth) - 1
        colours = ((raw.astype(np.uint32) * 255 + largest // 2) // largest).astype(np.uint8)
    return colours if alpha is None else np.dstack([colours, alpha])


def with_channels(pixels: Array, channels: int) -> Array:
    """Return an image, (height, width, 1 to 4), with other channels, as `decode_png` does."""
    height, width, present = pixels.shape
    if channels == present:
        return pixels
    has_alpha = present in (2, 4)
    colours = pixels[:, :, : present - has_alpha]
    if has_alpha and channels in (1, 3):
        opacity = pixels[:, :, -1:].astype(np.uint32)
        colours = ((colours * opacity + 255 * (255 - opacity) + 127) // 255).astype(np.uint8)
    if channels <= 2 and colours.shape[2] == 3:
        grey = colours @ np.array([299, 587, 114], np.uint32)
        colours = ((grey + 500) // 1000).astype(np.uint8)[:, :, None]
    elif channels >= 3 and colours.shape[2] == 1:
        colours = np.repeat(colours, 3, axis=2)
    if channels in (1, 3):
        return np.ascontiguousarray(colours)
    alpha = pixels[:, :, -1:] if has_alpha else np.full((height, width, 1), 255, np.uint8)
    return np.dstack([colours, alpha])
