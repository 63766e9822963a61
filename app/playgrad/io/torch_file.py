"""Files of PyTorch's ``torch.save``, read without PyTorch. Files are validated before use."""

from __future__ import annotations

import io
import math
import zipfile
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io.npz import DAMAGE, check_places
from playgrad.io.tensor_entry import (
    MOST_DIMENSIONS,
    ByteOrder,
    TensorEntry,
    TensorFile,
    check_count,
    checked_entry,
    checked_name,
)
from playgrad.io.torch_pickle import LARGEST_PICKLE, StoredTensor, read_pickle

Array = np.ndarray[Any, Any]
_PICKLE = "/data.pkl"
_INSIDE = ("state_dict", "model_state_dict", "model")
"""The usual names of the state_dict of a network in a checkpoint with other things."""
_DIRECTORY_ENTRY = b"PK\x01\x02"


def is_torch_file(content: bytes) -> bool:
    """Return whether a zip file is one of PyTorch's: its first record is the pickle."""
    length = int.from_bytes(content[26:28], "little")
    return content[30 : 30 + length].endswith(_PICKLE.encode())


class TorchFile(TensorFile):
    """A file with a dictionary of tensors, whose values are not read yet.

    Args:
        content: the bytes of the file.

    Attributes:
        entries: the tensors by name, from a dictionary inside that has one of the usual names.

    Raises:
        CheckpointError: the file is damaged, or contains something other than tensors.
    """

    def __init__(self, content: bytes) -> None:
        check_count(content.count(_DIRECTORY_ENTRY))
        self.entries: dict[str, TensorEntry] = {}
        self._tensors: dict[str, StoredTensor] = {}
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            check_places(self._archive)
            first = self._archive.infolist()[0].filename
            self._root = first.removesuffix(_PICKLE)
            self._order: ByteOrder = (
                "<" if self._record("byteorder", 16) in (b"little", None) else ">"
            )
            pickle = self._record("data.pkl", LARGEST_PICKLE)
        except DAMAGE as error:
            raise _damaged(error) from None
        found = read_pickle(pickle or b"")
        if isinstance(found, dict):
            found = next((v for k in _INSIDE if isinstance(v := found.get(k), dict)), found)
        if not isinstance(found, dict):
            raise CheckpointError(
                "the PyTorch file is not a dictionary of tensors.",
                hint="Save the weights alone: torch.save(model.state_dict(), file).",
            )
        check_count(len(found))
        for name, tensor in found.items():
            self._add(name, tensor)

    def _record(self, name: str, most: int) -> bytes | None:
        """Return the bytes of a record, None if there is none."""
        try:
            member = self._archive.getinfo(f"{self._root}/{name}")
        except KeyError:
            return None
        if member.compress_type != zipfile.ZIP_STORED or member.file_size > most:
            raise CheckpointError(
                f"'{name[:80]}' in the PyTorch file is packed, or longer than {most:,} bytes."
            )
        return self._archive.read(member)

    def _add(self, name: Any, tensor: Any) -> None:
        if not isinstance(name, str) or not isinstance(tensor, StoredTensor):
            raise CheckpointError(
                f"'{str(name)[:80]}' in the PyTorch file is not a tensor.",
                hint="Save the weights alone: torch.save(model.state_dict(), file).",
            )
        _check_view(name, tensor)
        self._tensors[checked_name(name, self.entries)] = tensor
        code, shape = tensor.storage.code, tensor.shape
        self.entries[name] = checked_entry(
            name, TensorEntry.of_code(code, shape, 0, 0, self._order)
        )

    def read(self, name: str) -> Array:
        """Return the values of a tensor.

        Raises:
            CheckpointError: they are damaged.
        """
        entry, tensor = self.entries[name], self._tensors[name]
        stored_bytes = tensor.storage.length * entry.stored_itemsize
        try:
            record = self._record(f"data/{tensor.storage.key}", stored_bytes)
        except DAMAGE as error:
            raise _damaged(error) from None
        if record is None or len(record) != stored_bytes:
            raise CheckpointError(f"the values of '{name}' are missing or truncated.")
        stored = entry.values(name, record)
        # Without a second element the stride is not used, and may be any number.
        strides = [
            stride * entry.dtype.itemsize if size > 1 and 0 not in entry.shape else 0
            for size, stride in zip(entry.shape, tensor.strides, strict=True)
        ]
        # `_check_view` has made sure that the view stays within the storage.
        start = stored[tensor.offset :]
        view = np.lib.stride_tricks.as_strided(start, entry.shape, strides, writeable=False)
        return np.array(view, order="C")


def _check_view(name: str, tensor: StoredTensor) -> None:
    """Raise CheckpointError unless a tensor lies within its storage.

    It may repeat values as an expanded tensor does, along dimensions with stride 0; apart from
    those it must not be larger than its storage.
    """
    shape, strides, offset, count = (
        tensor.shape,
        tensor.strides,
        tensor.offset,
        tensor.storage.length,
    )
    if (
        type(shape) is not tuple
        or type(strides) is not tuple
        or not len(shape) == len(strides) <= MOST_DIMENSIONS
        or any(type(each) is not int or not 0 <= each < 1 << 62 for each in shape + strides)
        or type(offset) is not int
        or not 0 <= offset <= count < 1 << 62
    ):
        raise CheckpointError(f"the shape or place of '{name[:80]}' is not valid.")
    last = offset + sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    stored = math.prod(n for n, stride in zip(shape, strides, strict=True) if stride)
    if 0 not in shape and (stored > count or last >= count):
        raise CheckpointError(f"'{name[:80]}' reaches beyond its {count:,} stored values.")


def _damaged(error: Exception) -> CheckpointError:
    if isinstance(error, CheckpointError):
        return error
    return CheckpointError(f"a damaged PyTorch file: {str(error)[:200]}.")
