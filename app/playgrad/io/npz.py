"""NumPy's npz archives, without pickled objects."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from playgrad.errors import CheckpointError

Array = np.ndarray[Any, Any]
_SUFFIX = ".npy"
# zipfile raises these for bytes that are not a zip file, or a truncated, changed or encrypted one.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
)


def dump(tensors: Mapping[str, Array]) -> bytes:
    """Return ``tensors`` as the bytes of an npz file, which ``numpy.load`` reads by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in tensors.items():
            member = zipfile.ZipInfo(name + _SUFFIX, (1980, 1, 1, 0, 0, 0))
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def parse(content: bytes) -> dict[str, Array]:
    """Return the arrays in the bytes of an npz file, by name.

    Raises:
        CheckpointError: the file is truncated or damaged, is not an npz file, contains Python
            objects, or is too large to be unpacked in memory.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            return {name.removesuffix(_SUFFIX): _member(archive, name) for name in names}
    except CheckpointError:
        raise
    except _DAMAGE as error:
        raise CheckpointError(f"not an npz file, or a damaged one: {error}.") from None


def _member(archive: zipfile.ZipFile, name: str) -> Array:
    if not name.endswith(_SUFFIX):
        raise CheckpointError(
            f"the npz file contains '{name}', which is not an array.",
            hint="Save the weights with numpy.savez, or with safetensors.",
        )
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise CheckpointError(f"'{name}' is compressed by a method that NumPy does not use.")
    size = archive.getinfo(name).file_size
    try:
        with archive.open(name) as file:
            _check_size(file, name, size)
        with archive.open(name) as file:
            array: Array = np.lib.format.read_array(file, allow_pickle=False)
    except ValueError as error:
        raise CheckpointError(f"'{name}' cannot be read: {error}") from None
    except MemoryError:
        raise CheckpointError(
            f"'{name}' needs {size:,} bytes, more than the available memory."
        ) from None
    return array


def _check_size(file: IO[bytes], name: str, size: int) -> None:
    """Raise CheckpointError unless the array's header matches the size of the data.

    NumPy allocates as much memory as the header says.
    """
    version = np.lib.format.read_magic(file)
    if version > (2, 0):
        return  # a version for structured arrays only
    if version == (1, 0):
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, kind = np.lib.format.read_array_header_2_0(file)
    expected, actual = math.prod(shape) * kind.itemsize, size - file.tell()
    if expected != actual and not kind.hasobject:
        raise CheckpointError(
            f"'{name}' has {actual:,} bytes, but its shape {shape} needs {expected:,}."
        )
