"""NumPy's npz archives, without pickled objects."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

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
        CheckpointError: truncated, damaged, holding Python objects, or not such a file at all.
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
        raise CheckpointError(f"the npz file holds '{name}', which is no array.")
    if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise CheckpointError(f"'{name}' is packed in a way that NumPy does not use.")
    with archive.open(name) as file:
        try:
            array: Array = np.lib.format.read_array(file, allow_pickle=False)
        except ValueError as error:
            raise CheckpointError(f"'{name}' cannot be read: {error}") from None
    return array
