"""The safetensors format: arrays by name, without code. Files are validated before use.

Eight bytes, little endian, are the length of a JSON header, an object of
``name: {dtype, shape, data_offsets}``. The tensors follow, little endian, without gaps
(https://github.com/huggingface/safetensors).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io.safetensors_header import DTYPES, METADATA, HeaderReader
from playgrad.io.tensor_entry import (
    TensorEntry,
    TensorFile,
    checked_entry,
    count_text,
)

Array = np.ndarray[Any, Any]
LARGEST_HEADER = 100_000_000
"""The limit of the format, in bytes."""

_NAMES = {np.dtype(code): name for name, code in DTYPES.items()}


def dump(tensors: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return ``tensors`` as the bytes of a safetensors file, in their order.

    Raises:
        CheckpointError: the format does not have an array's dtype.
    """
    header: dict[str, Any] = {METADATA: dict(metadata)} if metadata else {}
    parts: list[memoryview] = []
    position = 0
    for name, array in tensors.items():
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        if little.dtype not in _NAMES:
            raise CheckpointError(f"'{name}' is {array.dtype}, which safetensors cannot hold.")
        header[name] = {
            "dtype": _NAMES[little.dtype],
            "shape": list(array.shape),
            "data_offsets": [position, position + little.nbytes],
        }
        parts.append(little.reshape(-1).view(np.uint8).data)  # copied only once, by `join`
        position += little.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the tensors begin at a multiple of 8
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


class SafetensorsFile(TensorFile):
    """A safetensors file whose header is valid, and whose values are not read yet.

    Args:
        content: the bytes of the file.

    Attributes:
        entries: the tensors by name.
        metadata: texts by name.

    Raises:
        CheckpointError: the file is truncated or damaged, or is not a safetensors file.
    """

    def __init__(self, content: bytes) -> None:
        header, self._data = _split(memoryview(content))
        reader = HeaderReader(header)
        reader.read()
        self.entries = reader.entries
        self.metadata = reader.metadata
        self.sorted_by = {name: name for name in self.entries}
        for name, entry in self.entries.items():
            _check_entry(name, entry, len(self._data))
            checked_entry(name, entry)
        _check_cover(self.entries, len(self._data))

    def read(self, name: str) -> Array:
        """Return a copy of the values of a tensor.

        Raises:
            CheckpointError: the values are not of its dtype.
        """
        entry = self.entries[name]
        values = entry.values(name, self._data[entry.begin : entry.end])
        return np.array(values).reshape(entry.shape)


def metadata(content: bytes) -> dict[str, str]:
    """Return the metadata in the bytes of a safetensors file; empty if there are none.

    Raises:
        CheckpointError: the file is damaged, or is not a safetensors file.
    """
    return SafetensorsFile(content).metadata


def parse(content: bytes) -> dict[str, Array]:
    """Return the arrays in the bytes of a safetensors file, by name.

    They take no more memory than ``content``, or twice as much if they are bfloat16.

    Raises:
        CheckpointError: the file is truncated or damaged, or is not a safetensors file.
    """
    file = SafetensorsFile(content)
    return {name: file.read(name) for name in file.entries}


def _split(content: memoryview) -> tuple[memoryview, memoryview]:
    """Return the header and the bytes after it."""
    if len(content) < 8:
        raise CheckpointError(
            f"not a safetensors file: it has {len(content)} bytes, fewer than the 8 of the "
            "header's length."
        )
    length = int.from_bytes(content[:8], "little")
    if length > LARGEST_HEADER:
        raise CheckpointError(
            f"not a safetensors file: its header would be {length:,} bytes long, but "
            f"{LARGEST_HEADER:,} are allowed."
        )
    if 8 + length > len(content):
        raise CheckpointError(
            f"the file is truncated, or not a safetensors file: expected a header of {length:,} "
            f"bytes, but only {len(content) - 8:,} follow."
        )
    return content[8 : 8 + length], content[8 + length :]


def _check_entry(name: str, entry: TensorEntry, available: int) -> None:
    if entry.end - entry.begin != entry.stored_size:
        raise CheckpointError(
            f"'{name}' has {entry.end - entry.begin:,} bytes, but its shape {entry.shape} needs "
            f"{count_text(entry.stored_size)}."
        )
    if entry.end > available:
        raise CheckpointError(
            f"the file is truncated: '{name}' ends at byte {entry.end:,} of the data, "
            f"which has {available:,}."
        )


def _check_cover(entries: Mapping[str, TensorEntry], size: int) -> None:
    """Raise CheckpointError unless the tensors cover all ``size`` bytes without gap or overlap."""
    position, before = 0, "the header"
    for begin, end, name in sorted((e.begin, e.end, name) for name, e in entries.items()):
        if begin < position:
            raise CheckpointError(f"the data of '{before}' and '{name}' overlap.")
        if begin > position:
            raise CheckpointError(
                f"{begin - position:,} bytes before '{name}' belong to no tensor."
            )
        position, before = end, name
    if position != size:
        raise CheckpointError(
            f"{size - position:,} bytes after the last tensor belong to no tensor."
        )
