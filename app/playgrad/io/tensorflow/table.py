"""Sorted tables of keys and values, the format of TensorFlow's indices and of LevelDB.

A table is blocks of entries. Each key shares its beginning with the key before it. The last block
has the places of the others, and the footer its own:
https://github.com/google/leveldb/blob/main/doc/table_format.md
"""

from __future__ import annotations

from collections.abc import Iterator

from playgrad.errors import CheckpointError
from playgrad.io.tensor_entry import LONGEST_NAME, check_count
from playgrad.io.tensorflow.checksum import masked_crc32c
from playgrad.io.tensorflow.fields import varint

_FOOTER = 48
_MAGIC = 0xDB4775248B80FB57
_TRAILER = 5
_DAMAGED = "the TensorFlow index is damaged"


def read_table(content: bytes) -> dict[bytes, bytes]:
    """Return the values of a table by their keys.

    Raises:
        CheckpointError: the table is damaged, or its blocks are compressed.
    """
    magic = int.from_bytes(content[-8:], "little")
    if len(content) < _FOOTER or magic != _MAGIC:
        raise CheckpointError("the file is not the index of a TensorFlow checkpoint, or truncated.")
    footer = content[-_FOOTER:]
    _, place = _handle(footer, 0)
    (start, size), _ = _handle(footer, place)
    found: dict[bytes, bytes] = {}
    left = 4 * len(content)  # prefixes of keys are shared: they may unpack to more than the file
    end = 0
    for _, value in _entries(_block(content, start, size)):
        (start, size), _ = _handle(value, 0)
        if start < end:
            raise CheckpointError(f"{_DAMAGED}: a block begins in the one before it.")
        end = start + size + _TRAILER
        for key, entry in _entries(_block(content, start, size)):
            left -= len(key) + len(entry)
            check_count(len(found) // 4)  # beside the tensors, there are those of the optimizer
            if left < 0 or key in found:
                raise CheckpointError(f"{_DAMAGED}: it has keys twice, or too many.")
            found[key] = entry
    return found


def _handle(data: bytes, place: int) -> tuple[tuple[int, int], int]:
    start, place = varint(data, place)
    size, place = varint(data, place)
    return (start, size), place


def _block(content: bytes, start: int, size: int) -> bytes:
    end = start + size
    if end + _TRAILER > len(content) - _FOOTER:
        raise CheckpointError(f"{_DAMAGED}: a block is truncated.")
    if content[end] != 0:
        raise CheckpointError(
            "the TensorFlow index is compressed (snappy), which is not read.",
            hint="TensorFlow 1.2 and later write it uncompressed: load and save the checkpoint.",
        )
    if masked_crc32c(content[start : end + 1]) != int.from_bytes(
        content[end + 1 : end + _TRAILER], "little"
    ):
        raise CheckpointError(f"{_DAMAGED}: a checksum differs.")
    return content[start:end]


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise CheckpointError(f"{_DAMAGED}: a block has no end.")
    key, place = b"", 0
    while place < end:
        shared, place = varint(block, place)
        own, place = varint(block, place)
        size, place = varint(block, place)
        if shared > len(key) or place + own + size > end or shared + own > LONGEST_NAME:
            raise CheckpointError(f"{_DAMAGED}: an entry is truncated, or its key is too long.")
        key = key[:shared] + block[place : place + own]
        yield key, block[place + own : place + own + size]
        place += own + size
