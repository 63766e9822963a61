"""The tensors that a weights file announces, before their values are read."""

from __future__ import annotations

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError

MOST_TENSORS = 20_000
"""Maximum number of tensors of a file."""
MOST_DIMENSIONS = 32
LONGEST_NAME = 4096
"""Maximum number of bytes of a tensor's name."""


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """A tensor in a file.

    Attributes:
        dtype: as stored; the byte order may be foreign.
        shape: whole numbers of at least 0.
        begin, end: the bytes of its values; their meaning is the format's.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    begin: int
    end: int

    @property
    def size(self) -> int:
        """The number of bytes that shape and dtype need."""
        return math.prod(self.shape) * self.dtype.itemsize


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
        CheckpointError: it is not an array of numbers.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # lists of different lengths
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise CheckpointError(
            f"'{name}' must be an array of numbers, got {type(value).__name__} {value!r:.80}."
        )
    return array if dtype is None or hasattr(value, "dtype") else array.astype(dtype, copy=False)


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


def check_flags(name: str, array: np.ndarray[Any, Any]) -> None:
    """Raise CheckpointError if ``array`` is of booleans that are neither 0 nor 1."""
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise CheckpointError(f"'{name}' is of booleans, but has bytes other than 0 and 1.")


def count_text(count: int) -> str:
    """Return ``count`` with its digits in groups, unless there are too many to be read."""
    return f"{count:,}" if count < 10**18 else "more than 10^18"
