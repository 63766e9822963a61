"""Tables of text: CSV with any delimiter, quoted as in RFC 4180.

``static/js/own-data/csv.js`` reads the same tables; the tests compare both.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from playgrad.data.cell_numbers import MOST_ODD, SPACES, is_number
from playgrad.errors import ReadError

DELIMITERS = "\t;|,"
"""In this order where a file could have several: commas are also in numbers and in sentences."""
ENDINGS = (".csv", ".tsv", ".tab", ".txt")
"""Endings of the names of tables."""
_SAMPLE = 20
_FEW = 10
_WHOLE = re.compile("[0-9]{1,15}")
_NO_TEXT = "\0"
_WINDOWS_1252 = {
    byte: bytes([byte]).decode("cp1252")
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


@dataclass(frozen=True)
class TextTable:
    """A table of cells.

    Attributes:
        titles: the titles of the columns.
        rows: without their header, all of the same width.
        lines: the line in the file at which each row begins, from 1.
        ragged: the lines of rows of another width, which were left out.
        is_unicode: False if the text is in none of the Unicode encodings.
        seems_header: True if the first row is not a header, but its numbers could be titles.
    """

    titles: list[str]
    rows: list[list[str]]
    lines: list[int]
    delimiter: str
    has_header: bool
    ragged: list[int]
    is_unicode: bool = True
    seems_header: bool = False

    def column(self, index: int) -> list[str]:
        """Return the cells of a column, without spaces around them."""
        return [row[index].strip(SPACES) for row in self.rows]


def decode_text(content: bytes) -> tuple[str, bool]:
    """Return the text in a file, and whether it is in a Unicode encoding.

    That is UTF-8, or UTF-16 with its mark; or else Windows-1252, which spreadsheets save.
    """
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", errors="replace"), True
    try:
        return content.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        return content.decode("latin-1").translate(_WINDOWS_1252), False


def read_table(content: bytes, name: str, least_columns: int = 2) -> TextTable:
    """Return the table in a file.

    The delimiter is the one with which most of the first rows have the same number of cells. A
    first row is a header if it has no number, and no text that its column has again.

    Args:
        content: the bytes of the file.
        name: for errors.
        least_columns: a table with fewer is refused.

    Raises:
        ReadError: it is not a table of text, is empty, or a quotation mark is never closed.
    """
    text, is_unicode = decode_text(content)
    if _NO_TEXT in text:
        words = f"{name} is not a table of text. Save it as CSV first."
        raise ReadError(words, file=name, code="table-not-text", values={"file": name})
    delimiter = _delimiter(text)
    numbered = list(_rows(text, delimiter, name))
    if not numbered:
        raise ReadError(f"{name} is empty.", file=name, code="table-empty", values={"file": name})
    width = _common_width([row for _, row in numbered])
    if width < least_columns:
        raise ReadError(f"{name} has a single column; a label and a feature are needed.", file=name)
    whole = [(line, row) for line, row in numbered if len(row) == width]
    has_header = _is_header([row for _, row in whole])
    titles = [cell.strip(SPACES) if has_header else "" for cell in whole[0][1]]
    whole = whole[has_header:]
    if not whole:
        words = f"{name} has a header but no rows."
        raise ReadError(words, file=name, code="table-no-rows", values={"file": name})
    return TextTable(
        _unique(titles),
        [row for _, row in whole],
        [line for line, _ in whole],
        delimiter,
        has_header,
        [line for line, row in numbered if len(row) != width],
        is_unicode,
        not has_header and _seems_header([row for _, row in whole]),
    )


def _rows(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield rows of cells and the lines at which they begin; blank rows are skipped."""
    # Of a quotation mark that is never closed, the last line shows: it is not a row of its own.
    lines = chain(io.StringIO(text, newline=""), [_NO_TEXT])
    reader = csv.reader(lines, delimiter=delimiter)
    line = 1
    try:
        for row in reader:
            if row == [_NO_TEXT]:
                return
            if row and _NO_TEXT in row[-1]:
                raise ReadError(
                    f"{name}, line {line}: a quotation mark is never closed.",
                    file=name,
                    record=line,
                    code="table-open-quote",
                    values={"file": name, "line": line},
                )
            if "".join(row).strip(SPACES):
                yield line, row
            line = reader.line_num + 1
    except csv.Error:
        limit = csv.field_size_limit()
        raise ReadError(
            f"{name}, line {line}: a cell has more than {limit:,} characters.",
            hint="Is a quotation mark left open?",
            file=name,
            record=line,
            code="table-long-cell",
            values={"file": name, "line": line, "most": limit},
        ) from None


def _delimiter(text: str) -> str:
    """Return the delimiter with which most of the first rows have as many cells, at least two."""

    def alike(delimiter: str) -> int:
        try:
            rows = [row for _, row in islice(_rows(text, delimiter, ""), _SAMPLE)]
        except ReadError:
            return 0
        width = _common_width(rows)
        return 0 if width < 2 else sum(len(row) == width for row in rows)

    counts = {delimiter: alike(delimiter) for delimiter in DELIMITERS}
    return max(counts, key=counts.__getitem__) if any(counts.values()) else ","


def _common_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the width that most rows have."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def _is_header(rows: Sequence[Sequence[str]]) -> bool:
    first, *others = rows
    if any(is_number(cell.strip(SPACES)) for cell in first):
        return False
    return not any(
        title and title in [row[place] for row in others] for place, title in enumerate(first)
    )


def _seems_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the numbers in the first row are like 2019, 2020, 2021, and others are not.

    They are whole, grow by equal steps, and do not occur again in their columns. Two such numbers
    tell less than three: that no other row is like them says something in longer tables only.
    """
    first, *others = rows
    places = [i for i, cell in enumerate(first) if is_number(cell.strip(SPACES))]

    def is_series(row: Sequence[str]) -> bool:
        cells = [row[place].strip(SPACES) for place in places]
        if not all(map(_WHOLE.fullmatch, cells)):
            return False
        steps = {int(after) - int(before) for before, after in pairwise(cells)}
        return len(steps) == 1 and min(steps) > 0

    if not others or (len(places) < 3 and len(others) < _FEW) or not is_series(first):
        return False
    again = any(row[place] == first[place] for row in others for place in places)
    return not again and sum(map(is_series, others)) <= MOST_ODD * len(others)


def _unique(titles: Sequence[str]) -> list[str]:
    """Return titles that differ, and none empty."""
    taken: dict[str, None] = {}
    for index, title in enumerate(titles):
        base = name = title or f"column {index + 1}"
        number = 2
        while name in taken:
            name = f"{base} ({number})"
            number += 1
        taken[name] = None
    return list(taken)
