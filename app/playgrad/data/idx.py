"""The IDX format of the MNIST files.

A file is two zero bytes, a type code, the number of dimensions, each dimension as a big-endian
uint32, and the elements, big endian (http://yann.lecun.com/exdb/mnist/).
"""

from __future__ import annotations

import gzip
import io
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import ReadError

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class IdxHeader:
    """The beginning of an IDX file.

    Attributes:
        kind: the dtype of its elements.
        shape: its shape; the first dimension counts records.
    """

    kind: np.dtype[Any]
    shape: tuple[int, ...]

    @classmethod
    def read(cls, read: Callable[[int], bytes], what: str) -> IdxHeader:
        """Return the header that ``read(bytes)`` reads.

        Raises:
            ReadError: it is not the header of an IDX file.
        """
        head = read(4)
        if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in _TYPES:
            beginning = head.hex() or "nothing"
            raise ReadError(f"{what} is not an IDX file: it begins with {beginning}.", file=what)
        rank = head[3]
        sizes = read(4 * rank)
        if len(sizes) < 4 * rank:
            raise ReadError(
                f"{what} is truncated: its header needs {4 + 4 * rank} bytes.", file=what
            )
        shape = tuple(int(size) for size in np.frombuffer(sizes, ">u4"))
        return cls(np.dtype(_TYPES[head[2]]), shape)

    @property
    def record_bytes(self) -> int:
        """The bytes of a record."""
        return math.prod(self.shape[1:]) * self.kind.itemsize

    def record(self, values: bytes) -> np.ndarray[Any, Any]:
        """Return a record from its bytes."""
        array = np.frombuffer(values, self.kind).reshape(self.shape[1:])
        return array.astype(self.kind.newbyteorder("="))


def parse_idx(content: bytes | memoryview, what: str = "the data") -> np.ndarray[Any, Any]:
    """Return the array in an IDX file.

    Args:
        content: the bytes of the file, plain or gzip-compressed.
        what: a name for the file in error messages.

    Raises:
        ReadError: the file is truncated or damaged, or is not an IDX file.
    """
    if content[:2] == _GZIP:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ReadError(f"{what} is a damaged gzip file: {error}.", file=what) from None
    # The longest header has 255 dimensions. The elements are not copied.
    header = IdxHeader.read(io.BytesIO(content[: 4 + 4 * 255]).read, what)
    start = 4 + 4 * len(header.shape)
    expected = start + math.prod(header.shape) * header.kind.itemsize
    if len(content) != expected:
        state = "truncated" if len(content) < expected else "longer than it says"
        raise ReadError(
            f"{what} is {state}: {len(content):,} bytes where shape {header.shape} needs "
            f"{expected:,}.",
            file=what,
        )
    values = np.frombuffer(content, header.kind, offset=start).reshape(header.shape)
    # A writable buffer belongs to the caller and needs no copy.
    return values.astype(header.kind.newbyteorder("="), copy=not values.flags.writeable)
