"""Numbers in the cells of a table, with a point or a comma for decimals.

``static/js/own-data/cell-numbers.js`` reads the same numbers; the tests compare both.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

SPACES = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
SPACES += "\u2028\u2029\u202f\u205f\u3000\ufeff"
"""The spaces of JavaScript; Python has others."""
MOST_ODD = 0.1
"""A column of numbers may have this part of other cells, which count as missing."""
MARKS = (".", ",")
_GROUPS = " '’\u00a0\u202f"
_PROGRAM = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""A number as programs write it."""
_SURE = re.compile(
    r"[+-]?(?:[0-9]+|(?:0[0-9]*|[0-9]{4,})?\.[0-9]+|[0-9]{1,3}\.(?:[0-9]{1,2}|[0-9]{4,}))"
    r"(?:[eE][+-]?[0-9]+)?"
)
"""Numbers that cannot be read in another way: most numbers in files."""
_SURE_LINES = re.compile(rf"(?:(?:{_SURE.pattern})\n)+")
_AT_ONCE = 4096
"""Lines that are matched together: the matcher remembers each of them."""


def _form(mark: str, other: str) -> re.Pattern[str]:
    """Return the numbers with one decimal mark: plain, or in groups of three digits."""
    lone = r"[0-9]+\.?[0-9]*" if mark == "." else "[0-9]+(?:,[0-9]+)?"
    plain = rf"(?:{lone}|[{mark}][0-9]+)(?:e[+-]?[0-9]+)?"
    groups = rf"[1-9][0-9]{{0,2}}(?:([{other}{_GROUPS}])[0-9]{{3}})(?:\1[0-9]{{3}})*"
    return re.compile(rf"[+\-−]?(?:{plain}|{groups}(?:[{mark}][0-9]+)?)", re.ASCII | re.IGNORECASE)


_FORMS = {".": _form(".", ","), ",": _form(",", ".")}
_PLAIN = {
    mark: str.maketrans({mark: ".", "−": "-", **dict.fromkeys(other + _GROUPS)})
    for mark, other in ((".", ","), (",", "."))
}
"""The translation of a number with this mark into Python's form."""


class Style(NamedTuple):
    """The decimal mark of a column: "." or ","; None if its cells contradict each other.

    ``is_guess`` is True if nothing in the file tells it.
    """

    mark: str | None = "."
    is_guess: bool = True


class Example(NamedTuple):
    """A cell that is not written as programs write numbers, and how it is read.

    ``other`` is its value by the other decimal mark, if nothing in the file tells which is right.
    """

    cell: str
    value: float
    other: float | None

    def in_words(self, title: str) -> str:
        """Return a sentence for the reader of the file."""
        read = f"In {title!r}, {self.cell!r} is read as {self.value:.15g}."
        if self.other is None:
            return read
        return f"{read} It could also mean {self.other:.15g}; nothing in the file decides."


@dataclass
class Tally:
    """The cells of a column.

    Attributes:
        present: how many cells have a value.
        numbers: how many of them are numbers by one of the marks.
        only: how many are numbers by this mark alone, such as 1.5 or 1,5.
        either: how many are a different number by each mark, such as 1.234, by the mark in them.
    """

    present: int = 0
    numbers: int = 0
    only: Counter[str] = field(default_factory=Counter)
    either: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Tally:
        """Return the tally of cells with a value, without spaces around them."""
        if sure_numbers(texts) is not None:
            points = sum("." in text for text in texts)
            return cls(len(texts), len(texts), Counter({".": points}))
        tally = cls()
        for text in texts:
            tally.present += 1
            if _SURE.fullmatch(text) is not None and math.isfinite(float(text)):
                tally.numbers += 1
                tally.only["."] += "." in text
                continue
            point, comma = (_read(text, mark) for mark in MARKS)
            if point is None and comma is None:
                continue
            tally.numbers += 1
            if point is None or comma is None:
                tally.only["," if point is None else "."] += 1
            elif point != comma:
                tally.either["." if "." in text else ","] += 1
        return tally

    @property
    def is_numeric(self) -> bool:
        """Whether so many cells are numbers that the others count as missing."""
        return self.present > 0 and self.present - self.numbers <= MOST_ODD * self.present


def sure_numbers(texts: Sequence[str]) -> np.ndarray[Any, Any] | None:
    """Return the numbers in cells, float64, if each can be read in one way only; otherwise None.

    Long columns take a small part of the time of `cell_number` for each cell.
    """
    for begin in range(0, len(texts), _AT_ONCE):
        some = texts[begin : begin + _AT_ONCE]
        lines = "\n".join([*some, ""])
        if lines.count("\n") != len(some) or _SURE_LINES.fullmatch(lines) is None:
            return None
    numbers = np.array(texts, np.float64)
    return numbers if np.isfinite(numbers).all() else None


def _read(text: str, mark: str) -> float | None:
    if _FORMS[mark].fullmatch(text) is None:
        return None
    return _finite(float(text.translate(_PLAIN[mark])))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def number_with(text: str, mark: str) -> float:
    """Return the number in a cell, by one decimal mark.

    Args:
        text: without spaces around it.

    Raises:
        ValueError: it is not a finite number.
    """
    value = _read(text, mark)
    if value is None:
        raise ValueError(text)
    return value


def cell_number(text: str, mark: str | None) -> float | None:
    """Return the number in a cell.

    A number that is the same with both marks, or a number with only one of them, needs no ``mark``.

    Args:
        text: without spaces around it.
        mark: the decimal mark of the column; None if its cells contradict each other.

    Returns:
        None for other text, and where the mark matters but is None.
    """
    if _SURE.fullmatch(text) is not None:
        return _finite(float(text))
    point, comma = _read(text, "."), _read(text, ",")
    if comma is None or point == comma:
        return point
    if point is None:
        return comma
    return None if mark is None else point if mark == "." else comma


def is_number(text: str) -> bool:
    """Return whether a cell is a number by one of the marks."""
    return any(_read(text, mark) is not None for mark in MARKS)


def styles_of(tallies: Sequence[Tally], delimiter: str) -> list[Style]:
    """Return the decimal mark of each column.

    It is the one that its cells tell; else the one that the other columns tell; else, where a
    number such as 1,234 could be either, a comma in a file with semicolons between its cells and no
    such number with a point, and a point in all others.
    """
    numeric = [tally for tally in tallies if tally.is_numeric]
    told = [mark for mark in MARKS if any(tally.only[mark] for tally in numeric)]
    has_points = any(tally.either["."] for tally in numeric)
    usual = "," if delimiter == ";" and not has_points else "."
    styles = []
    for tally in tallies:
        own = [mark for mark in MARKS if tally.only[mark]]
        if own:
            styles.append(Style(own[0] if len(own) == 1 else None, is_guess=False))
        elif len(told) == 1:
            styles.append(Style(told[0], is_guess=False))
        else:
            styles.append(Style(usual, is_guess=True))
    return styles


def example_of(texts: Sequence[str], style: Style) -> Example | None:
    """Return an example of how a column is read, if a cell is not written as programs do."""
    if sure_numbers(texts) is not None:
        return None
    for text in texts:
        value = None if _SURE.fullmatch(text) is not None else cell_number(text, style.mark)
        if value is None:
            continue
        other = cell_number(text, "," if style.mark == "." else ".")
        if style.is_guess and other != value:
            return Example(text, value, other)
        if _PROGRAM.fullmatch(text) is None or float(text) != value:
            return Example(text, value, None)
    return None
