"""Numbers of the HDF5 format that its reader and its writer share."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

SIGNATURE = b"\x89HDF\r\n\x1a\n"
UNDEFINED = 2**64 - 1
"""The address of nothing."""


class MessageKind(IntEnum):
    """Kinds of messages in the header of a group or of an array."""

    DATASPACE = 0x0001
    LINK_INFO = 0x0002
    DATATYPE = 0x0003
    FILL_VALUE = 0x0005
    LINK = 0x0006
    EXTERNAL_FILES = 0x0007
    LAYOUT = 0x0008
    FILTERS = 0x000B
    CONTINUATION = 0x0010
    SYMBOL_TABLE = 0x0011


FLOAT_FIELDS = {
    2: (15, 10, 5, 0, 10, 15),
    4: (31, 23, 8, 0, 23, 127),
    8: (63, 52, 11, 0, 52, 1023),
}
"""IEEE numbers by their size: place of the sign, place and size of the exponent and of the
mantissa, bias."""


def padded(block: bytes) -> bytes:
    """Return ``block`` with zeros up to a multiple of 8 bytes."""
    return block + bytes(-len(block) % 8)


def is_hdf5(file: str | Path | bytes) -> bool:
    """Return whether a path, or the bytes of a file, belongs to an HDF5 file."""
    if isinstance(file, bytes):
        return file[:8] == SIGNATURE
    return str(file).lower().endswith((".h5", ".hdf5"))
