"""The tensors that a weights file announces, before their values are read."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from playgrad.errors import CheckpointError

MOST_TENSORS = 20_000
"""Maximum number of tensors of a file."""
MOST_DIMENSIONS = 32
ByteOrder = Literal["<", ">"]
BFLOAT16 = "bfloat16"
"""The code of a dtype that NumPy does not have: the upper 16 bits of a float32."""
LONGEST_NAME = 4096
"""Maximum number of bytes of a tensor's name."""


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """A tensor in a file.

    Attributes:
        dtype: of the values; the byte order is the file's, and may be foreign.
        shape: whole numbers of at least 0.
        begin, end: the bytes of its values; their meaning is the format's.
        is_bfloat16: whether the file has the upper halves of the values, which are float32.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int
    is_bfloat16: bool = False

    @classmethod
    def of_code(
        cls, code: str, shape: tuple[int, ...], begin: int, end: int, order: ByteOrder = "<"
    ) -> TensorEntry:
        """Return the entry of a tensor of the dtype with NumPy's ``code``, or `BFLOAT16`.

        Args:
            order: "<" or ">", the file's byte order.
        """
        if code == BFLOAT16:
            return cls(np.dtype(order + "f4"), shape, begin, end, is_bfloat16=True)
        return cls(np.dtype(code).newbyteorder(order), shape, begin, end)

    @property
    def size(self) -> int:
        """The number of bytes of the values, once they are read."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def stored_itemsize(self) -> int:
        """The number of bytes of a value in the file."""
        return 2 if self.is_bfloat16 else self.dtype.itemsize

    @property
    def stored_size(self) -> int:
        """The number of bytes that shape and dtype need in the file."""
        return math.prod(self.shape) * self.stored_itemsize

    def values(self, name: str, stored: bytes | memoryview) -> np.ndarray[Any, Any]:
        """Return the values in ``stored``, in one dimension and the machine's byte order.

        They may be a view of ``stored``.

        Raises:
            CheckpointError: booleans are neither 0 nor 1.
        """
        if self.is_bfloat16:
            halves = np.frombuffer(stored, f"{self.dtype.str[0]}u2")
            return (halves.astype(np.uint32) << 16).view(np.float32)
        values = np.frombuffer(stored, self.dtype)
        if values.dtype == np.bool_ and values.size and values.view(np.uint8).max() > 1:
            raise CheckpointError(f"'{name}' is of booleans, but has bytes other than 0 and 1.")
        return values.astype(self.dtype.newbyteorder("="), copy=False)


class TensorFile(ABC):
    """A weights file whose header is valid, and whose values are not read yet.

    Attributes:
        entries: the tensors by name.
        sorted_by: the texts by which the file sorts its tensors, by their names; None if it keeps
            the order in which they were written.
    """

    entries: dict[str, TensorEntry]
    sorted_by: Mapping[str, str] | None = None

    @property
    def unpacked(self) -> int:
        """The number of bytes that all tensors need."""
        return sum(entry.size for entry in self.entries.values())

    @abstractmethod
    def read(self, name: str) -> np.ndarray[Any, Any]:
        """Return a copy of the values of a tensor.

        Raises:
            CheckpointError: they are damaged.
        """


def is_possible(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Return whether NumPy has arrays of ``shape``. It refuses large ones without elements, too."""
    return math.prod(size or 1 for size in shape) * dtype.itemsize <= sys.maxsize


def checked_entry(name: str, entry: TensorEntry) -> TensorEntry:
    """Return ``entry`` if its shape is possible.

    Raises:
        CheckpointError: the shape is too large.
    """
    if not is_possible(entry.shape, entry.dtype):
        raise CheckpointError(f"'{name[:80]}' is too large: its shape is {entry.shape}.")
    return entry


def as_numbers(name: str, value: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """Return ``value`` as an array.

    Args:
        dtype: for a list of numbers, which has none.

    Raises:
        CheckpointError: it is not an array of numbers, or ``dtype`` cannot hold one.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # lists of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise CheckpointError(
            f"'{name}' must be an array of numbers, got {type(value).__name__} {value!r:.80}."
        )
    return array if dtype is None or hasattr(value, "dtype") else converted(name, array, dtype)


def converted(name: str, values: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """Return ``values`` in ``dtype``; digits that it does not have are rounded away.

    Raises:
        CheckpointError: a value would become another number, infinite or a boolean.
    """
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):  # found below
        result = values.astype(dtype)
        if result.dtype.kind == "f":
            changed = np.isinf(result) & ~np.isinf(values)
        else:
            changed = result.astype(np.longdouble) != values
    if changed.any():
        raise CheckpointError(
            f"'{name}' has the value {values[changed].flat[0]}, which {result.dtype} cannot hold."
        )
    return result


def check_count(count: int) -> None:
    """Raise CheckpointError if a file has too many tensors."""
    if count > MOST_TENSORS:
        raise CheckpointError(
            f"the file has more than {MOST_TENSORS:,} tensors, the most that playgrad reads."
        )


def checked_name(name: str, known: Mapping[str, Any]) -> str:
    """Return ``name`` if it can name one more tensor of a file.

    Raises:
        CheckpointError: it is in ``known`` already, too long, or not valid Unicode.
    """
    if not isinstance(name, str):
        raise CheckpointError(f"the name {name!r:.60} of a tensor is not a text.")
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        raise CheckpointError(f"the name {name!r:.60} of a tensor is not valid Unicode.") from None
    if length > LONGEST_NAME:
        raise CheckpointError(
            f"the name '{name[:40]}…' of a tensor has {length:,} bytes, but at most "
            f"{LONGEST_NAME:,} are allowed."
        )
    if name in known:
        raise CheckpointError(f"the name '{name}' occurs twice in the file.")
    return name


def count_text(count: int) -> str:
    """Return ``count`` with its digits in groups, unless there are too many to be read."""
    return f"{count:,}" if count < 10**18 else "more than 10^18"
