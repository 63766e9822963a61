"""The IDX format of the MNIST files.

A file is two zero bytes, a type code, the number of dimensions, each dimension as a big-endian
uint32, and the elements, big endian (http://yann.lecun.com/exdb/mnist/).
"""

from __future__ import annotations

import gzip
import math
import zlib
from typing import Any

import numpy as np

from playgrad.errors import DataError

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_GZIP = b"\x1f\x8b"


def parse_idx(content: bytes | memoryview, what: str = "the data") -> np.ndarray[Any, Any]:
    """Return the array in an IDX file.

    Args:
        content: the bytes of the file, plain or gzip-compressed.
        what: a name for the file in error messages.

    Raises:
        DataError: the file is truncated or damaged, or is not an IDX file.
    """
    if content[:2] == _GZIP:
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{what} is a damaged gzip file: {error}.") from None
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] not in _TYPES:
        beginning = content[:4].hex() or "nothing"
        raise DataError(f"{what} is not an IDX file: it begins with {beginning}.")
    kind = np.dtype(_TYPES[content[2]])
    rank = content[3]
    start = 4 + 4 * rank
    if len(content) < start:
        raise DataError(f"{what} is truncated: its header needs {start} bytes.")
    shape = tuple(int(size) for size in np.frombuffer(content, ">u4", rank, 4))
    expected = start + math.prod(shape) * kind.itemsize
    if len(content) != expected:
        state = "truncated" if len(content) < expected else "longer than it says"
        raise DataError(
            f"{what} is {state}: {len(content):,} bytes where shape {shape} needs {expected:,}."
        )
    values = np.frombuffer(content, kind, offset=start).reshape(shape)
    # A writable buffer belongs to the caller and needs no copy.
    return values.astype(kind.newbyteorder("="), copy=not values.flags.writeable)
