"""CSV files as data sets: the last column is the label, the others are features."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from playgrad.data.arrays_file import TEST, Pair, split
from playgrad.errors import ReadError

Array = np.ndarray[Any, Any]
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-"})
"""Cells without a value, in lower case."""
MOST_CATEGORIES = 50
"""A column of text with more different values is not a feature."""


def load_table(content: bytes | memoryview, name: str) -> tuple[Pair, Pair]:
    """Return ``(x_train, y_train), (x_test, y_test)`` from the content of a CSV file.

    Rows with missing values are left out. Of text, each category becomes a feature, 1 where it
    occurs. A label of text becomes the position of its category among all, sorted. A fifth of the
    rows, taken at random with seed 0, is test data. Nothing is normalized.

    Raises:
        ReadError: it is not a table of numbers and categories.
    """
    _, columns = _columns(content, name)
    x = np.stack([feature for column in columns[:-1] for feature in _features(column)], axis=1)
    label = columns[-1]
    y = label if isinstance(label, np.ndarray) else _codes(label)
    train, test = split(len(x), TEST, 0)
    return (x[train], y[train]), (x[test], y[test])


def table_class_names(content: bytes | memoryview, name: str) -> list[str]:
    """Return the categories of the last column; [] if it holds numbers."""
    label = _columns(content, name)[1][-1]
    return [] if isinstance(label, np.ndarray) else sorted(set(label))


def _columns(content: bytes | memoryview, name: str) -> tuple[list[str], list[Array | list[str]]]:
    """Return titles and columns: arrays of numbers, or lists of text."""
    titles, rows = _rows(content, name)
    if not rows:
        raise ReadError(f"{name} has a header but no rows.", file=name)
    whole = [row for row in rows if not any(_is_missing(cell) for cell in row)]
    if not whole:
        raise ReadError(f"{name} has no row without missing values.", file=name)
    columns: list[Array | list[str]] = []
    for index, cells in enumerate(zip(*whole, strict=True)):
        numbers = [_number(cell) for cell in cells]
        if None not in numbers:
            columns.append(_label_or_numbers(numbers, index == len(titles) - 1))
            continue
        texts = [cell.strip() for cell in cells]
        if index < len(titles) - 1 and len(set(texts)) > MOST_CATEGORIES:
            line = next(i for i, number in enumerate(numbers) if number is None)
            raise ReadError(
                f"{name} has {texts[line]!r} in column {titles[index]!r}, which holds "
                f"{len(set(texts))} different texts, neither numbers nor categories.",
                hint="Remove the column, or choose what it is in the page: Your data.",
                file=name,
            )
        columns.append(texts)
    return titles, columns


def _label_or_numbers(numbers: Sequence[Any], is_label: bool) -> Array:
    """Return numbers as float32; whole numbers of a label that are classes from 0 on as int32."""
    values = np.array(numbers, np.float64)
    classes = np.unique(values)
    if (
        is_label
        and len(classes) <= MOST_CATEGORIES
        and np.array_equal(classes, np.arange(len(classes)))
    ):
        return values.astype(np.int32)
    return values.astype(np.float32)


def _features(column: Array | list[str]) -> list[Array]:
    if isinstance(column, np.ndarray):
        return [column.astype(np.float32)]
    return [np.array([cell == each for cell in column], np.float32) for each in sorted(set(column))]


def _codes(texts: Sequence[str]) -> Array:
    numbers = {text: number for number, text in enumerate(sorted(set(texts)))}
    return np.array([numbers[text] for text in texts], np.int32)


def _rows(content: bytes | memoryview, name: str) -> tuple[list[str], list[list[str]]]:
    """Return the titles of the columns, and the rows."""
    try:
        text = bytes(content).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(f"{name} is not UTF-8 text.", file=name) from None
    delimiter = _delimiter(text)
    rows: list[list[str]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if rows and len(row) != len(rows[0]):
                raise ReadError(
                    f"{name}, line {reader.line_num} has {len(row)} cells instead of "
                    f"{len(rows[0])}.",
                    file=name,
                    record=reader.line_num,
                )
            rows.append(row)
    except csv.Error as error:
        raise ReadError(f"{name}, line {reader.line_num}: {error}.", file=name) from None
    if not rows:
        raise ReadError(f"{name} is empty.", file=name)
    if len(rows[0]) < 2:
        raise ReadError(f"{name} has a single column; a label and a feature are needed.", file=name)
    if _has_header(rows):
        return [cell.strip() for cell in rows[0]], rows[1:]
    return [f"column {number + 1}" for number in range(len(rows[0]))], rows


def _delimiter(text: str) -> str:
    """Return the delimiter with which most of the first lines have the same number of cells."""
    lines = [line for line in islice(text.splitlines(), 20) if line.strip()]

    def cells(delimiter: str) -> int:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter))
        [(width, count)] = widths.most_common(1) or [(0, 0)]
        return width * count if width > 1 else 0

    return max(",;\t|", key=cells)


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has no number, and no text that its column has again."""
    first, *others = rows
    if any(_number(cell) is not None for cell in first):
        return False
    return not any(
        cell and cell == title for row in others for cell, title in zip(row, first, strict=True)
    )


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def _number(cell: str) -> float | None:
    text = cell.strip()
    if "_" in text:  # Python reads 1_000
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
