"""The safetensors format: arrays by name, without code. Files are validated before use.

Eight bytes, little endian, are the length of a JSON header, an object of
``name: {dtype, shape, data_offsets}``. The tensors follow, little endian, without gaps
(https://github.com/huggingface/safetensors).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError

Array = np.ndarray[Any, Any]
LARGEST_HEADER = 100_000_000
"""The limit of the format, in bytes."""

_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}


def dump(tensors: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return ``tensors`` as the bytes of a safetensors file, in their order.

    Raises:
        CheckpointError: the format does not have an array's dtype.
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
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


def parse(content: bytes) -> dict[str, Array]:
    """Return the arrays in the bytes of a safetensors file, by name.

    Raises:
        CheckpointError: the file is truncated or damaged, or is not a safetensors file.
    """
    header, data = _split(content)
    tensors: dict[str, Array] = {}
    spans: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        kind, shape, begin, end = _entry(name, entry)
        size = math.prod(shape) * kind.itemsize
        if end - begin != size:
            raise CheckpointError(
                f"'{name}' has {end - begin:,} bytes, but its shape {tuple(shape)} needs {size:,}."
            )
        if end > len(data):
            raise CheckpointError(
                f"the file is truncated: '{name}' ends at byte {end:,} of the data, "
                f"which has {len(data):,}."
            )
        spans.append((begin, end, name))
        values = np.frombuffer(data[begin:end], kind).reshape(shape)
        tensors[name] = values.astype(kind.newbyteorder("="))
    _check_cover(spans, len(data))
    return tensors


def metadata(content: bytes) -> dict[str, str]:
    """Return the metadata in the bytes of a safetensors file; empty if there are none.

    Raises:
        CheckpointError: the file is damaged, or is not a safetensors file.
    """
    entries = _split(content)[0].get("__metadata__", {})
    if not isinstance(entries, dict) or not all(isinstance(v, str) for v in entries.values()):
        raise CheckpointError("the metadata of the file are not texts by name.")
    return entries


def _split(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header, parsed, and the bytes after it."""
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
    try:
        header = json.loads(content[8 : 8 + length].decode(), object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(
            f"not a safetensors file: its header is not JSON ({error})."
        ) from None
    if not isinstance(header, dict):
        raise CheckpointError("not a safetensors file: its header is not a JSON object.")
    return header, content[8 + length :]


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        raise ValueError("a name occurs twice")
    return entries


def _entry(name: str, entry: Any) -> tuple[np.dtype[Any], list[int], int, int]:
    """Return the validated dtype, shape, begin and end of a tensor."""
    try:
        code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        begin, end = offsets
    except (TypeError, KeyError, ValueError):
        raise CheckpointError(
            f"'{name}' lacks a dtype, a shape or two data_offsets in the header."
        ) from None
    if not isinstance(code, str) or code not in _DTYPES:
        raise CheckpointError(f"'{name}' is of dtype {code!r}, which playgrad cannot read.")
    numbers = [begin, end, *(shape if isinstance(shape, list) else [None])]
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers):
        raise CheckpointError(f"the shape or data_offsets of '{name}' are not whole numbers.")
    if begin > end:
        raise CheckpointError(f"'{name}' begins at byte {begin:,}, after its end {end:,}.")
    return np.dtype(_DTYPES[code]), shape, begin, end


def _check_cover(spans: list[tuple[int, int, str]], size: int) -> None:
    """Raise CheckpointError unless the tensors cover all ``size`` bytes without gap or overlap."""
    position, before = 0, "the header"
    for begin, end, name in sorted(spans):
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
