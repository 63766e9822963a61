"""The columns of a table: their types, and their cells as numbers.

``static/js/own-data/columns.js`` reads the same columns; the tests compare both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from playgrad.data.cell_numbers import (
    MOST_ODD,
    Example,
    Style,
    Tally,
    cell_number,
    example_of,
    styles_of,
    sure_numbers,
)
from playgrad.data.text_table import TextTable

Array = np.ndarray[Any, Any]
ColumnType = Literal["number", "category", "date", "text"]
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-"})
"""Cells without a value, in lower case."""
MOST_CATEGORIES = 50
"""A column of text with more different values is not a category."""
_MOST_CLASSES = 10
"""A label of whole numbers with more different values is a number."""
_MOST_COUNTED = 1001
_DATE = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]+)?)?(?:Z|([+-])([0-9]{2}):?([0-9]{2}))?)?"
)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        cells: without spaces around them.
        type: "text" is left out.
        missing: the number of cells without a value.
        distinct: the number of different values, counted up to 1001.
        style: the decimal mark of its numbers.
    """

    title: str
    cells: list[str]
    type: ColumnType
    missing: int
    distinct: int
    style: Style

    @classmethod
    def of(cls, title: str, cells: list[str], style: Style | None = None) -> Column:
        """Return a column with its type."""
        style = style or Style()
        present = [cell for cell in cells if not is_missing(cell)]
        distinct = min(len(set(present)), _MOST_COUNTED)
        column = cls(title, cells, "number", len(cells) - len(present), distinct, style)
        for each in (column, replace(column, type="date")):
            if _is_mostly(int((~np.isnan(each.numbers)).sum()), present):
                return each
        is_category = 0 < distinct <= MOST_CATEGORIES and (distinct <= 2 or distinct < len(present))
        return replace(column, type="category" if is_category else "text")

    @cached_property
    def numbers(self) -> Array:
        """Return the cells as float64, NaN for a missing one; dates are days since 1970."""
        if self.type != "date" and (sure := sure_numbers(self.cells)) is not None:
            return sure
        values = map(self._number, self.cells)
        return np.array([math.nan if value is None else value for value in values])

    @cached_property
    def odd(self) -> list[int]:
        """Return the rows of cells that hold something else than a column of its type should."""
        if self.type not in ("number", "date"):
            return []
        rows = np.flatnonzero(np.isnan(self.numbers))
        return [int(row) for row in rows if not is_missing(self.cells[row])]

    @cached_property
    def example(self) -> Example | None:
        """Return an example of a number that is not written as programs write numbers."""
        return example_of(self.cells, self.style) if self.type == "number" else None

    @property
    def label_type(self) -> Literal["number", "category"]:
        """Return the type of the column as a label: a few whole numbers are classes."""
        if self.type in ("category", "text"):
            return "category"
        numbers = np.unique(self.numbers[~np.isnan(self.numbers)])
        is_whole = bool((numbers == np.floor(numbers)).all())
        few = self.type == "number" and len(numbers) <= _MOST_CLASSES
        return "category" if few and is_whole else "number"

    @property
    def categories(self) -> list[str]:
        """Return the categories in order: numbers by size, others by their letters."""
        return list(dict.fromkeys(self._category_of.values()))

    @cached_property
    def codes(self) -> Array:
        """Return the position of each cell among the categories, NaN for a missing one."""
        positions = {text: position for position, text in enumerate(self.categories)}
        codes = {text: positions[category] for text, category in self._category_of.items()}
        return np.array([codes.get(cell, math.nan) for cell in self.cells], np.float64)

    @cached_property
    def holes(self) -> Array:
        """Return for each row whether its value is missing."""
        return np.isnan(self.numbers if self.type in ("number", "date") else self.codes)

    @cached_property
    def _category_of(self) -> dict[str, str]:
        """Return the category of each text that is not missing, in the order of the categories.

        Of a number, such as 1 and 1.0, it is the shortest text. Other text in a column of numbers
        or dates is missing.
        """
        # As JavaScript sorts them: by units of UTF-16.
        texts = sorted(
            {cell for cell in self.cells if not is_missing(cell)},
            key=lambda text: text.encode("utf-16-be", "surrogatepass"),
        )
        numbers = {text: value for text in texts if (value := self._number(text)) is not None}
        if self.type in ("category", "text") and len(numbers) < len(texts):
            return {text: text for text in texts}
        first: dict[float, str] = {}
        by_size = sorted(numbers, key=lambda text: (numbers[text], len(text)))
        return {text: first.setdefault(numbers[text], text) for text in by_size}

    def _number(self, cell: str) -> float | None:
        return _days(cell) if self.type == "date" else cell_number(cell, self.style.mark)


def columns_of(table: TextTable) -> list[Column]:
    """Return the columns of a table."""
    cells = [table.column(index) for index in range(len(table.titles))]
    tallies = [Tally.of([each for each in column if not is_missing(each)]) for column in cells]
    styles = styles_of(tallies, table.delimiter)
    return [Column.of(*each) for each in zip(table.titles, cells, styles, strict=True)]


def label_of(columns: Sequence[Column]) -> int:
    """Return the column to predict: the last that is not text or, if there is another, a date."""
    for others in (("text", "date"), ("text",)):
        places = [i for i, column in enumerate(columns) if column.type not in others]
        if places:
            return places[-1]
    return len(columns) - 1


def is_missing(cell: str) -> bool:
    """Return whether a cell, without spaces around it, has no value."""
    return len(cell) <= 4 and cell.lower() in MISSING


def _is_mostly(count: int, present: Sequence[str]) -> bool:
    return count > 0 and len(present) - count <= MOST_ODD * len(present)


def _days(cell: str) -> float | None:
    """Return days since 1970 in UTC, with the time of day as a fraction."""
    parts = _DATE.fullmatch(cell)
    if parts is None:
        return None
    year, month, day, *clock = parts.groups()
    hour, minute, second = (int(part or 0) for part in clock[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = int(np.datetime64(f"{year}-{month}-{day}", "D").astype(np.int64))
    except ValueError:
        return None
    offset = 60 * int(clock[5] or 0) + int(clock[6] or 0)
    minutes = 60 * hour + minute - (-offset if clock[4] == "-" else offset)
    return days + (60 * minutes + second + float(clock[3] or 0)) / 86_400
