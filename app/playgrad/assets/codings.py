"""Compressed copies of files, for clients that accept their content coding; stored archives."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

CODINGS = {".max.br": "br", ".br": "br", ".gz": "gzip"}
"""The content codings of compressed copies by the ending of their names, the smallest first."""
BROTLI = {".max.br": 11, ".br": 7}
"""Brotli's quality by ending. With 7 it is as quick as gzip, with 11 thirty times slower."""

_LARGEST_WINDOW = 24
_CHUNK = 1 << 18


class DamagedCopyError(Exception):
    """A compressed copy cannot be decompressed."""


def compressed(path: Path, ending: str = ".gz") -> Path:
    """Return the path of the compressed copy of ``path`` that has this ending."""
    return path.with_name(path.name + ending)


# Set-up imports this module before it installs the requirements, of which Brotli is one.
def brotli_compressed(portions: Iterable[bytes], quality: int) -> bytes:
    """Return the portions of a content together, compressed with a window of 16 MB.

    Other threads run meanwhile.
    """
    import brotli

    packer = brotli.Compressor(quality=quality, lgwin=_LARGEST_WINDOW)
    return b"".join([*(packer.process(portion) for portion in portions), packer.finish()])


def portions_of(path: Path) -> Iterator[bytes]:
    """Yield the content of a file in portions. Raises OSError if it cannot be read."""
    with open(path, "rb") as file:
        while portion := file.read(_CHUNK):
            yield portion


def unpacked(path: Path) -> Iterator[bytes]:
    """Yield the content of a compressed copy in portions.

    Raises:
        DamagedCopyError: it is damaged.
        OSError: it cannot be read.
    """
    return _unpacked_brotli(path) if path.suffix == ".br" else _unpacked_gzip(path)


def _unpacked_brotli(path: Path) -> Iterator[bytes]:
    import brotli

    unpacker = brotli.Decompressor()
    try:
        for portion in portions_of(path):
            yield unpacker.process(portion)
    except brotli.error as error:
        raise DamagedCopyError(str(error)) from None
    if not unpacker.is_finished():
        raise DamagedCopyError("it was cut")


def _unpacked_gzip(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) as file:
            while portion := file.read(_CHUNK):
                yield portion
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DamagedCopyError(str(error)) from None


def stored(archive: bytes, has: Callable[[str], bool] = lambda name: True) -> bytes:
    """Return a zip archive with the members of another one that ``has`` names, uncompressed.

    As a whole it compresses better than member by member.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w") as new:
        for member in old.infolist():
            if not has(member.filename):
                continue
            info = zipfile.ZipInfo(member.filename, member.date_time)
            info.create_system, info.external_attr = member.create_system, member.external_attr
            new.writestr(info, old.read(member), zipfile.ZIP_STORED)
    return buffer.getvalue()
