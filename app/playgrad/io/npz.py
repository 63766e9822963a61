"""NumPy's npz archives, without pickled objects. Files are validated before use."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io.npy_header import NpyHeader, read_header
from playgrad.io.tensor_entry import (
    TensorEntry,
    TensorFile,
    check_count,
    checked_name,
    count_text,
)

Array = np.ndarray[Any, Any]
_SUFFIX = ".npy"
# zipfile raises these for bytes that are not a zip file, or a truncated, changed or encrypted one.
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
    LookupError,
)
_LOCAL_HEADER = 30  # bytes of a member's header without its name
_DIRECTORY_ENTRY = b"PK\x01\x02"
_MOST_DEFLATED = 1032
"""Deflate makes data at most this many times smaller (https://zlib.net/zlib_tech.html)."""
_CHUNK = 1 << 20


def dump(tensors: Mapping[str, Array]) -> bytes:
    """Return ``tensors`` as the bytes of an npz file, which ``numpy.load`` reads by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in tensors.items():
            member = zipfile.ZipInfo(name + _SUFFIX, (1980, 1, 1, 0, 0, 0))
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array, order="C"), allow_pickle=False)
    return buffer.getvalue()


class NpzFile(TensorFile):
    """An npz file whose directory and headers are valid, and whose values are not read yet.

    Args:
        content: the bytes of the file.

    Attributes:
        entries: the arrays by name.

    Raises:
        CheckpointError: the file is truncated or damaged, is not an npz file, or contains something
            other than arrays of numbers.
    """

    def __init__(self, content: bytes) -> None:
        check_count(content.count(_DIRECTORY_ENTRY))  # each takes memory when the archive is opened
        self.entries: dict[str, TensorEntry] = {}
        self._headers: dict[str, NpyHeader] = {}
        self._members: dict[str, zipfile.ZipInfo] = {}
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            check_places(self._archive)
            for member in self._archive.infolist():
                self._add(member)
        except DAMAGE as error:
            raise _as_checkpoint_error(error) from None

    def _add(self, member: zipfile.ZipInfo) -> None:
        _check_member(member)
        name = checked_name(member.filename.removesuffix(_SUFFIX), self.entries)
        with self._archive.open(member) as file:
            header = read_header(file, member.filename, member.file_size)
        self._headers[name], self._members[name] = header, member
        self.entries[name] = header.entry

    def read(self, name: str) -> Array:
        """Return the values of an array.

        Raises:
            CheckpointError: they are damaged.
        """
        entry, fortran_order = self._headers[name]
        try:
            values = np.empty(entry.size, np.uint8)
            with self._archive.open(self._members[name]) as file:
                file.read(entry.begin)
                _read_into(file, values)
        except DAMAGE as error:
            raise _as_checkpoint_error(error) from None
        array = entry.values(name, values.data)
        shape = entry.shape[::-1] if fortran_order else entry.shape
        array = array.reshape(shape)
        return np.ascontiguousarray(array.T) if fortran_order else array


def parse(content: bytes) -> dict[str, Array]:
    """Return the arrays in the bytes of an npz file, by name.

    Raises:
        CheckpointError: the file is truncated or damaged, is not an npz file, or contains something
            other than arrays of numbers.
    """
    file = NpzFile(content)
    return {name: file.read(name) for name in file.entries}


def _as_checkpoint_error(error: Exception) -> CheckpointError:
    if isinstance(error, CheckpointError):
        return error
    return CheckpointError(f"not an npz file, or a damaged one: {str(error)[:200]}.")


def _read_into(file: IO[bytes], values: Array) -> None:
    """Fill ``values`` from ``file``, which must end there: the checksum is compared at the end."""
    position = 0
    while part := file.read(_CHUNK):
        values[position : position + len(part)] = np.frombuffer(part, np.uint8)
        position += len(part)
    if position != values.size:
        raise ValueError(f"it ends {values.size - position:,} bytes early")


def _check_member(member: zipfile.ZipInfo) -> None:
    name = member.filename
    if not name.endswith(_SUFFIX):
        raise CheckpointError(
            f"the npz file contains '{name[:80]}', which is not an array.",
            hint="Save the weights with numpy.savez, or with safetensors.",
        )
    if is_path(name):
        raise CheckpointError(f"'{name[:80]}' in the npz file is a path, not the name of a weight.")
    check_packing(member)


def is_path(name: str) -> bool:
    """Return whether the name of a member could lead out of the archive."""
    return name.startswith("/") or "\\" in name or ".." in name.split("/")


def check_packing(member: zipfile.ZipInfo) -> None:
    """Raise CheckpointError unless a member can be unpacked, to about the size it announces."""
    name = member.filename[:80]
    if member.flag_bits & 1:
        raise CheckpointError(f"'{name}' is encrypted.", hint="Save the weights without password.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise CheckpointError(f"'{name}' is compressed by a method that NumPy does not use.")
    factor = 1 if member.compress_type == zipfile.ZIP_STORED else _MOST_DEFLATED
    if member.file_size > factor * (member.compress_size + _LOCAL_HEADER):
        raise CheckpointError(
            f"'{name}' announces {count_text(member.file_size)} bytes, more than its "
            f"{member.compress_size:,} packed bytes can hold."
        )


def check_places(archive: zipfile.ZipFile) -> None:
    """Raise CheckpointError if members overlap, as in archives made to unpack without end."""
    end = 0
    for member in sorted(archive.infolist(), key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise CheckpointError(f"'{member.filename[:80]}' overlaps another array of the file.")
        end = member.header_offset + _LOCAL_HEADER + member.compress_size
    if end > archive.start_dir:
        raise CheckpointError("the file is damaged: its arrays reach into its directory.")
