"""Safetensors files of packed weights: parts of tensors under names of their own, and a record.

A packed tensor ``kernel`` has the tensors ``kernel:values``, ``kernel:mask`` and so on, and an
entry in the JSON of the metadata `KEY`, which `playgrad.io.packing` explains. An int32 tensor whose
values fit in int8 or int16 is stored as that, and its entry is "int32".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io.packing import Packed, pack, unpack
from playgrad.io.safetensors import SafetensorsFile
from playgrad.io.tensor_entry import TensorEntry, TensorFile, checked_entry
from playgrad.json_text import parse_json

Array = np.ndarray[Any, Any]
KEY = "playgrad.packed"
_PARTS = ("values", "codebook", "scale", "mask")
_NARROW = (np.dtype(np.int8), np.dtype(np.int16))


def stored_form(name: str, array: Array) -> tuple[Any, dict[str, Array]]:
    """Return the record of a tensor, None for one that is stored as it is, and its parts in a file
    by their names."""
    if array.dtype == np.int32:
        for dtype in _NARROW:
            limits = np.iinfo(dtype)
            if array.size and limits.min <= array.min() and array.max() <= limits.max:
                return "int32", {name: array.astype(dtype)}
    packed = pack(array)
    if packed is None:
        return None, {name: array}
    return packed.record(), {f"{name}:{part}": value for part, value in packed.parts.items()}


def packed_tensors(tensors: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, str]]:
    """Return tensors in which each that has a smaller form is replaced by its parts, and metadata.

    Raises:
        CheckpointError: two tensors would have the same name.
    """
    written: dict[str, Array] = {}
    records: dict[str, Any] = {}
    for name, array in tensors.items():
        record, parts = stored_form(name, array)
        if record is not None:
            records[name] = record
        if written.keys() & parts.keys():
            raise CheckpointError(f"the name of a part of '{name}' is taken.")
        written |= parts
    return written, {KEY: json.dumps(records, separators=(",", ":"))} if records else {}


class PackedFile(TensorFile):
    """A file of packed weights, as if it had the weights themselves.

    Args:
        file: its metadata has `KEY`.

    Raises:
        CheckpointError: the record is damaged.
    """

    def __init__(self, file: SafetensorsFile) -> None:
        self._file = file
        self.metadata = file.metadata
        try:
            records = parse_json(file.metadata[KEY])
            self._wide = {
                name: _wide_entry(name, file) for name, data in records.items() if data == "int32"
            }
            self._packed = {
                name: _PackedEntry(name, data, file)
                for name, data in records.items()
                if name not in self._wide
            }
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise CheckpointError(f"the record of packed weights is damaged: {error}.") from None
        parts = {part for record in self._packed.values() for part in record.parts.values()}
        plain = {name: entry for name, entry in file.entries.items() if name not in parts}
        if clash := plain.keys() & self._packed.keys():
            raise CheckpointError(f"'{min(clash):.80}' is in the file twice.")
        packed = {name: record.entry for name, record in self._packed.items()}
        self.entries = {**plain, **packed, **self._wide}

    def read(self, name: str) -> Array:
        if name in self._wide:
            return self._file.read(name).astype(np.int32)
        record = self._packed.get(name)
        if record is None:
            return self._file.read(name)
        parts = {part: self._file.read(stored) for part, stored in record.parts.items()}
        try:
            return unpack(record.packed(parts))
        except CheckpointError as error:
            error.message = f"'{name:.80}': {error.message}"
            raise


def _wide_entry(name: str, file: SafetensorsFile) -> TensorEntry:
    """Return the entry of an int32 tensor that is stored in fewer bits."""
    entry = file.entries[name]
    if entry.dtype not in _NARROW:
        raise ValueError(f"'{name:.80}' is {entry.dtype}, not int8 or int16")
    return checked_entry(name, TensorEntry(np.dtype(np.int32), entry.shape, 0, 0))


class _PackedEntry:
    """The record of a packed tensor.

    Attributes:
        parts: the names of its parts in the file.
    """

    def __init__(self, name: str, data: Any, file: SafetensorsFile) -> None:
        self._form, self._bits, self._axis = data["form"], data["bits"], data["axis"]
        self._dtype = data.get("dtype", "float32")
        if self._dtype not in ("float32", "int8"):
            raise ValueError(f"'{name:.80}' cannot be {self._dtype!r:.40}")
        shape = data["shape"]
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"the shape {shape!r:.60} of '{name:.80}' is not one")
        if type(self._bits) is not int or type(self._axis) is not int:
            raise ValueError(f"the form of '{name:.80}' is not one")
        self.parts = {
            part: stored for part in _PARTS if (stored := f"{name}:{part}") in file.entries
        }
        self.entry = checked_entry(name, TensorEntry(np.dtype(self._dtype), tuple(shape), 0, 0))

    def packed(self, parts: Mapping[str, Array]) -> Packed:
        return Packed(self._form, self.entry.shape, parts, self._bits, self._axis, self._dtype)
