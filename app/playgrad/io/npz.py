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
# What zipfile raises for bytes that are no zip, cut, changed or encrypted.
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
    """``tensors`` as the bytes of an npz file; ``numpy.load`` gives them back by name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in tensors.items():
            member = zipfile.ZipInfo(name + _SUFFIX, (1980, 1, 1, 0, 0, 0))
            with archive.open(member, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)
    return buffer.getvalue()


def parse(content: bytes) -> dict[str, Array]:
    """The arrays in the bytes of an npz file.

    Raises:
        CheckpointError: truncated, damaged, holding Python objects, too large to be unpacked here,
            or not such a file at all.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            return {name.removesuffix(_SUFFIX): _member(archive, name) for name in names}
    except CheckpointError:
        raise
    except _DAMAGE as error:
        raise CheckpointError(f"this is no npz file, or a damaged one: {error}.") from None


def _member(archive: zipfile.ZipFile, name: str) -> Array:
    if not name.endswith(_SUFFIX):
        raise CheckpointError(
            f"the npz file holds '{name}', which is no array.",
            hint="Save the weights with numpy.savez, or with safetensors.",
        )
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise CheckpointError(f"'{name}' is packed in a way that NumPy does not use.")
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
            f"'{name}' takes {size:,} bytes, for which there is no room here."
        ) from None
    return array


def _check_size(file: IO[bytes], name: str, size: int) -> None:
    """Raise CheckpointError unless the array's header announces what follows it: memory is taken
    by the header."""
    version = np.lib.format.read_magic(file)
    if version > (2, 0):
        return  # only for arrays of records
    if version == (1, 0):
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, kind = np.lib.format.read_array_header_2_0(file)
    wanted, held = math.prod(shape) * kind.itemsize, size - file.tell()
    if wanted != held and not kind.hasobject:
        raise CheckpointError(
            f"'{name}' has {held:,} bytes, but its shape {shape} needs {wanted:,}."
        )
