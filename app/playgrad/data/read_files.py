"""Readers of files: CSV, IDX, NPZ and PNG, one record after the other.

They take the name of a file, its bytes, or an open file; `Dataset.interleave` and `Dataset.map`
call them in readers. Errors name file and record.
"""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from playgrad.data.cell_numbers import MARKS, cell_number, is_number, number_with
from playgrad.data.idx import IdxHeader
from playgrad.data.png import MOST_PIXELS, decode_png
from playgrad.errors import DataError, ReadError, shape_text

Array = np.ndarray[Any, Any]
MOST_BYTES = 1 << 30
"""An NPZ file that unpacks to more is refused."""
Converter = Callable[[str], float] | Mapping[str, float]


def read_png(file: Any, channels: int = 0, max_pixels: int = MOST_PIXELS) -> Array:
    """Return the image in a PNG file; see `decode_png`.

    Args:
        file: a name, bytes, or an open binary file.

    Raises:
        ReadError: the file is missing, damaged, or larger than ``max_pixels``.
    """
    with opened(file) as content:
        return decode_png(content.read(), channels, file_name(file), max_pixels)


def read_idx(file: Any) -> Iterator[Array]:
    """Yield the records of an IDX file, such as the images of MNIST, one at a time.

    Args:
        file: a name, bytes, or an open binary file; plain or gzip-compressed.

    Raises:
        ReadError: the file is missing, truncated or damaged, or is not an IDX file.
    """
    name = file_name(file)
    with opened(file) as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        content = gzip.GzipFile(fileobj=raw) if packed else raw
        record: int | None = None
        try:
            header = IdxHeader.read(content.read, name)
            if not header.shape:
                raise ReadError(f"{name} holds a single number, not records.", file=name)
            for record in range(header.shape[0]):
                values = content.read(header.record_bytes)
                if len(values) < header.record_bytes:
                    raise ReadError(
                        f"{name} is truncated: record {record} of {header.shape[0]} is not whole.",
                        file=name,
                    )
                yield header.record(values)
            if content.read(1):  # at the end of a gzip file its checksum is compared
                raise ReadError(f"{name} is longer than it says.", file=name)
        except (OSError, EOFError, zlib.error) as error:
            place = "" if record is None else f" at record {record}"
            raise ReadError(f"{name} is damaged{place}: {error}.", file=name) from None


def read_npz(file: Any, names: Sequence[str] | None = None, max_bytes: int = MOST_BYTES) -> Any:
    """Yield the rows of the arrays in an NPZ file: tuples of slices along axis 0.

    Args:
        file: a name, bytes, or an open binary file.
        names: the arrays to read, such as ``("x", "y")``; None for all, as in the file. The rows of
            a single array are not tuples.
        max_bytes: a file that unpacks to more is refused.

    Raises:
        ReadError: the file is missing or damaged, unpacks to too much, holds Python objects, has no
            such array, or arrays of different lengths.
    """
    name = file_name(file)
    with opened(file) as content:
        try:
            with zipfile.ZipFile(content) as members:
                size = sum(member.file_size for member in members.infolist())
            if size > max_bytes:
                raise ReadError(
                    f"{name} unpacks to {size:,} bytes, more than the {max_bytes:,} that max_bytes "
                    "allows.",
                    file=name,
                )
            content.seek(0)
            with np.load(content, allow_pickle=False) as archive:
                wanted = list(archive.files if names is None else names)
                absent = [each for each in wanted if each not in archive.files]
                if absent or not wanted:
                    listed = ", ".join(archive.files) or "nothing"
                    asked = ", ".join(map(repr, absent)) or "any array"
                    raise ReadError(f"{name} does not hold {asked}; it holds {listed}.", file=name)
                arrays = [archive[each] for each in wanted]
        except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError) as error:
            if isinstance(error, ReadError):
                raise
            raise ReadError(f"{name} is not a valid NPZ file: {error}.", file=name) from None
    shapes = dict(zip(wanted, (array.shape for array in arrays), strict=True))
    if len({shape[:1] for shape in shapes.values()}) > 1 or () in shapes.values():
        listed = ", ".join(f"{key} {shape_text(shape)}" for key, shape in shapes.items())
        raise ReadError(f"the arrays in {name} differ in length: {listed}.", file=name)
    for i in range(len(arrays[0])):
        yield arrays[0][i] if len(arrays) == 1 else tuple(array[i] for array in arrays)


class read_csv:  # noqa: N801 - called like a function; an iterator can continue after a bad line
    """An iterator over the lines of a CSV file: float32 (columns,), or a pair with the label.

    Text is UTF-8, or in ``encoding``; quotes are as in RFC 4180. Lines without text are left out.
    Thousands may be separated, and nothing is guessed.

    Args:
        file: a name, bytes, or an open binary file.
        label: the column of the label: its name, or its number from 0. Each element is then
            (columns, label), and the label a float32 scalar.
        columns: the other columns, by name or number, in this order; None for all.
        header: whether the first line names the columns.
        delimiter: the character between the columns.
        decimal: the decimal mark of the numbers, "." or ","; None for a point, where numbers such
            as 1,234, which could be either, are refused.
        encoding: the encoding of the text, such as "cp1252". Lines must end with the byte of a line
            feed, which excludes UTF-16.
        converters: for columns that hold text, by name or number: a function that returns a number,
            or a dictionary of numbers, such as ``{"fuel": {"petrol": 0, "diesel": 1}}``.

    Raises:
        ReadError: the file is missing, has no such column, or a line does not hold as many numbers
            as there are columns. The next line can be read after it: see ``on_error`` of
            `Dataset.interleave`.
    """

    def __init__(
        self,
        file: Any,
        label: str | int | None = None,
        columns: Sequence[str | int] | None = None,
        header: bool = True,
        delimiter: str = ",",
        decimal: str | None = None,
        encoding: str = "utf-8-sig",
        converters: Mapping[str | int, Converter] | None = None,
    ) -> None:
        if decimal not in (None, *MARKS):
            raise DataError(f"decimal must be '.' or ',', got {decimal!r}.")
        self._decimal, self._encoding = decimal, encoding
        self.name = file_name(file)
        self._content = opened(file)
        self._line = 0
        # Unlike a generator, a map can continue after an error.
        self._lines = csv.reader(map(self._decoded, self._content), delimiter=delimiter)
        self._label, self._columns, self._has_header = label, columns, header
        self._converters = dict(converters or {})
        self._titles: list[str] | None = None
        self._width = 0

    def __iter__(self) -> read_csv:
        return self

    def __next__(self) -> Any:
        try:
            row = self._row()
        except StopIteration:
            self.close()
            raise
        if self._width == 0:
            self._begin(row)
            if self._has_header:
                return next(self)
        if len(row) != self._width:
            count = f"{len(row)} column" + ("" if len(row) == 1 else "s")
            raise self._error(f"line {self._line}: {count} instead of {self._width}")
        values = np.array([self._number(row, i) for i in self._chosen], np.float32)
        if self._label_at is None:
            return values
        return values, np.float32(self._number(row, self._label_at))

    def close(self) -> None:
        """Close the file."""
        self._content.close()

    def _decoded(self, line: bytes) -> str:
        self._line += 1
        encoding = self._encoding
        return line.decode(encoding if self._line == 1 else encoding.removesuffix("-sig"))

    def _row(self) -> list[str]:
        try:
            while True:
                row = next(self._lines)
                if row and any(cell.strip() for cell in row):
                    return row
        except (csv.Error, UnicodeDecodeError) as error:
            problem = self._error(f"line {self._line}: {error}")
            if isinstance(error, UnicodeDecodeError):
                problem.hint = "Name its encoding, such as encoding='cp1252', or save it as UTF-8."
            raise problem from None

    def _begin(self, row: list[str]) -> None:
        self._width = len(row)
        if self._has_header:
            self._titles = [cell.strip() for cell in row]
        self._label_at = None if self._label is None else self._index(self._label)
        if self._columns is None:
            self._chosen = [i for i in range(self._width) if i != self._label_at]
        else:
            self._chosen = [self._index(column) for column in self._columns]
        self._functions = {self._index(key): value for key, value in self._converters.items()}

    def _index(self, column: str | int) -> int:
        titles = self._titles or []
        if isinstance(column, str) and column in titles:
            return titles.index(column)
        if not isinstance(column, str) and 0 <= column < self._width:
            return int(column)
        listed = ", ".join(titles) or f"numbers from 0 to {self._width - 1}"
        raise ReadError(f"{self.name} has no column {column!r}; it has {listed}.", file=self.name)

    def place(self, column: int) -> str:
        """Return the last line read and one of its columns, as errors name them.

        Args:
            column: its number from 0.
        """
        title = repr(self._titles[column]) if self._titles else f"{column + 1} of {self._width}"
        return f"line {self._line}, column {title}"

    def _number(self, row: Sequence[str], column: int) -> float:
        text, convert = row[column].strip(), self._functions.get(column)
        try:
            if isinstance(convert, Mapping):
                return float(convert[text])
            if convert is not None:
                return float(convert(text))
            return self._plain_number(text)
        except KeyError:
            place = self.place(column)
            raise self._error(f"{place}: its converter has no entry for {text!r}") from None
        except ValueError:
            wrong = f"{text!r} is not a number" if text else "the cell is empty"
            if is_number(text):
                wrong = f"{text!r} needs another decimal mark than decimal={self._decimal!r}"
            raise self._error(f"{self.place(column)}: {wrong}") from None

    def _plain_number(self, text: str) -> float:
        """Return a number with the decimal mark of the file."""
        number = number_with(text, self._decimal or ".")
        if self._decimal is None and "," in text and cell_number(text, None) is None:
            raise ValueError(text)
        return number

    def _error(self, words: str) -> ReadError:
        return ReadError(f"{self.name}, {words}.", file=self.name, record=self._line)


def file_name(file: Any) -> str:
    """Return the name of a file for errors."""
    if isinstance(file, (str, PathLike)):
        return fspath(file)
    return str(getattr(file, "name", "the file"))


def opened(file: Any) -> BinaryIO:
    """Open a file that is a name, bytes, or an open file.

    Raises:
        ReadError: it cannot be opened.
        DataError: it is none of these.
    """
    if isinstance(file, (bytes, bytearray, memoryview)):
        return io.BytesIO(file)
    if isinstance(file, (str, PathLike)):
        try:
            return Path(file).open("rb")
        except OSError as error:
            name = fspath(file)
            raise ReadError(f"cannot open {name}: {error.strerror}.", file=name) from None
    if not hasattr(file, "read"):
        raise DataError(f"a file is a name, bytes or an open file, got {type(file).__name__}.")
    result: BinaryIO = file
    return result
