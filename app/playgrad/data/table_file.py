"""CSV files as data sets: one column is the label, the others are features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from playgrad.data.arrays_file import TEST, Pair, split
from playgrad.data.table_columns import Column, columns_of, is_missing, label_of
from playgrad.data.table_facts import TableFacts, remember
from playgrad.data.text_table import TextTable, read_table
from playgrad.errors import ReadError
from playgrad.graph.source import warn_user

Array = np.ndarray[Any, Any]
_MOST_COLUMNS = 2000
_MOST_CLASSES = 1000
_LISTED = 8


def load_table(content: bytes | memoryview, name: str) -> tuple[Pair, Pair]:
    """Return ``(x_train, y_train), (x_test, y_test)`` from the content of a CSV file.

    Columns and label are the page's initial choice. Rows with missing values are left out. A fifth
    of the rows, taken at random with seed 0, is test data. Nothing is normalized. If the file can
    be read in more than one way, a warning says how it was read.

    Raises:
        ReadError: it is not a table of numbers and categories.
    """
    table = read_table(bytes(content), name)
    if len(table.titles) > _MOST_COLUMNS:
        raise ReadError(
            f"{name} has {len(table.titles):,} columns; a table can have {_MOST_COLUMNS:,}.",
            hint="Save the data as .npz.",
            file=name,
        )
    columns = columns_of(table)
    at = label_of(columns)
    for remark in [*remarks(table, columns), *_choices(columns, at)]:
        warn_user(f"{name}: {remark}")
    y = _label(columns[at], name)
    named = _features([column for index, column in enumerate(columns) if index != at], name)
    x = np.stack([values for _, values in named], axis=1)
    used = ~(np.isnan(x).any(axis=1) | np.isnan(y))
    left_out = IncompleteRows.of(columns, at)
    if not used.any():
        most = f"; {left_out.column.title!r} has {left_out.holes:,}" if left_out else ""
        raise ReadError(f"{name} has no row without missing values{most}.", file=name)
    if left_out:
        warn_user(f"{name}: {left_out.in_words(table)}")
    is_class = columns[at].label_type == "category"
    x, y = x[used].astype(np.float32), y[used].astype(np.int32 if is_class else np.float32)
    train, test = split(len(x), TEST, 0)
    x_train, x_test = x[train], x[test]
    for part in (x_train, x_test):
        remember(part, TableFacts(tuple(feature for feature, _ in named)))
    return (x_train, y[train]), (x_test, y[test])


def table_class_names(content: bytes | memoryview, name: str) -> list[str]:
    """Return the classes of the label; [] if it is a number."""
    columns = columns_of(read_table(bytes(content), name))
    label = columns[label_of(columns)]
    return label.categories if label.label_type == "category" else []


class IncompleteRows(NamedTuple):
    """The rows that are left out for missing values, and the column that costs most of them."""

    rows: int
    column: Column
    holes: int

    @classmethod
    def of(cls, columns: Sequence[Column], label: int) -> IncompleteRows | None:
        """Return them for the columns that are used; None if all rows are whole."""
        used = [each for i, each in enumerate(columns) if i == label or each.type != "text"]
        rows = np.any([column.holes for column in used], axis=0)
        most = max(used, key=lambda column: column.holes.sum())
        return cls(int(rows.sum()), most, int(most.holes.sum())) if rows.any() else None

    def in_words(self, table: TextTable) -> str:
        """Return a sentence for the reader of the file."""
        line = table.lines[int(self.column.holes.argmax())]
        return (
            f"Rows with missing values are left out: {self.rows:,} of {len(table.rows):,}, "
            f"most because of {self.column.title!r}: {self.holes:,}, the first in line {line}."
        )


def remarks(table: TextTable, columns: Sequence[Column]) -> list[str]:
    """Return sentences on how a file is read, where that is not plain."""
    found = []
    if not table.is_unicode:
        found.append("The text is not UTF-8, and is read as Windows-1252.")
    if table.seems_header:
        found.append(
            f"Line {table.lines[0]} is read as data. If its numbers are the names of the columns, "
            "put a letter before each."
        )
    if table.ragged:
        listed = ", ".join(map(str, table.ragged[:_LISTED]))
        more = ", ..." if len(table.ragged) > _LISTED else ""
        found.append(f"Lines with another number of cells are left out: {listed}{more}.")
    for column in columns:
        if odd := column.odd:
            line, cell = table.lines[odd[0]], column.cells[odd[0]]
            found.append(
                f"In {column.title!r}, cells that are not a {column.type} count as missing: "
                f"{len(odd)}, such as {cell!r} in line {line}."
            )
        if column.example is not None:
            found.append(column.example.in_words(column.title))
    return found


def _choices(columns: Sequence[Column], label: int) -> list[str]:
    """Return sentences on the columns that are not used as they usually are."""
    found = []
    if label != len(columns) - 1:
        found.append(f"The label is {columns[label].title!r}.")
    for index, column in enumerate(columns):
        if index == label or column.type != "text":
            continue
        text = next((cell for cell in column.cells if not is_missing(cell)), None)
        found.append(
            f"{column.title!r} is left out: "
            + ("it is empty." if text is None else f"{text!r} and others are only text.")
        )
    return found


def _label(column: Column, name: str) -> Array:
    """Return the numbers or the classes of a label, NaN for a missing one."""
    if column.label_type == "number":
        return column.numbers
    classes = column.categories
    if not 2 <= len(classes) <= _MOST_CLASSES:
        count = f"only one class, {classes[0]!r}" if classes else "no values"
        words = f"{len(classes)} classes" if len(classes) > 1 else count
        raise ReadError(
            f"the label {column.title!r} of {name} has {words}.",
            hint="Choose another column as the label in the page: Your data.",
            file=name,
        )
    return column.codes


def _features(columns: Sequence[Column], name: str) -> list[tuple[str, Array]]:
    """Return features with their names: of a category, each value is one, 1 where it occurs."""
    features: list[tuple[str, Array]] = []
    for column in columns:
        if column.type in ("number", "date"):
            features.append((column.title, column.numbers))
        elif column.type == "category":
            missing = np.where(np.isnan(column.codes), np.nan, 0)
            for code, category in enumerate(column.categories):
                features.append((f"{column.title}={category}", (column.codes == code) + missing))
    if not features:
        raise ReadError(
            f"{name} has no column of numbers or categories beside the label.", file=name
        )
    return features
