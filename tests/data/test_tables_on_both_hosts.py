"""Tables of text: the page and the desktop read the same, and the numbers are right."""

from __future__ import annotations

import base64
import json
import math
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from playgrad.data.table_columns import Column, columns_of, label_of
from playgrad.data.table_file import IncompleteRows, remarks
from playgrad.data.text_table import TextTable, read_table
from playgrad.errors import ReadError
from tests.sweeps import budget, dice

Array = np.ndarray[Any, Any]
PAGE = Path(__file__).parent.parent / "page" / "programs" / "read-tables.mjs"
NAN = math.nan


def columns(content: str | bytes) -> list[Column]:
    return columns_of(read_table(content if isinstance(content, bytes) else content.encode(), "t"))


def in_page(contents: Sequence[bytes], folder: Path) -> list[Any]:
    """Return what the page reads of files."""
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    file = folder / "tables.json"
    file.write_text(json.dumps([base64.b64encode(content).decode() for content in contents]))
    answer = subprocess.run([node, str(PAGE), str(file)], capture_output=True, check=True)
    read: list[Any] = json.loads(answer.stdout)
    return read


def on_desktop(content: bytes) -> Any:
    """Return the same of the desktop."""
    try:
        table = read_table(content, "t.csv")
    except ReadError:
        return None
    found = columns_of(table)
    label = label_of(found)
    without = IncompleteRows.of(found, label)
    return {
        "table": {
            "titles": table.titles,
            "lines": table.lines,
            "ragged": table.ragged,
            "delimiter": table.delimiter,
            "hasHeader": table.has_header,
            "seemsHeader": table.seems_header,
            "isUnicode": table.is_unicode,
        },
        "leftOut": None if without is None else _plain_rows(without, table),
        "label": [label, found[label].label_type],
        "columns": [_plain(column) for column in found],
    }


def _plain(column: Column) -> dict[str, Any]:
    has_numbers = column.type in ("number", "date")
    return {
        "type": column.type,
        "missing": column.missing,
        "distinct": column.distinct,
        "odd": len(column.odd),
        "mark": column.style.mark,
        "example": None if column.example is None else column.example._asdict(),
        "cells": column.cells,
        "categories": column.categories,
        "codes": _listed(column.codes),
        "numbers": _listed(column.numbers) if has_numbers else [],
    }


def _plain_rows(without: IncompleteRows, table: TextTable) -> list[Any]:
    line = table.lines[int(without.column.holes.argmax())]
    return [without.rows, without.column.title, without.holes, line]


def _listed(numbers: Array) -> list[float | None]:
    return [None if math.isnan(x) else x for x in numbers]


# The cells of a column of numbers, the delimiter, and the numbers; the second column has
# whole numbers, which tell nothing.
NUMBERS = {
    "decimal commas": (["1,5", "2,25"], ";", [1.5, 2.25]),
    "decimal commas in quotes": (['"1,5"', '"2,25"'], ",", [1.5, 2.25]),
    "points for thousands": (["2.828,82", "1.234"], ";", [2828.82, 1234]),
    "commas for thousands": (['"2,828.82"', '"1,234"'], ",", [2828.82, 1234]),
    "several groups": (["1.234.567", "1.234"], ";", [1234567, 1234]),
    "no thousands before zero": (["0,125", "1,234"], ";", [0.125, 1.234]),
    "comma that could be either": (['"1,234"', '"5,678"'], ",", [1234, 5678]),
    "comma beside semicolons": (["1,234", "5,678"], ";", [1.234, 5.678]),
    "point that could be either": (["1.234", "5.678"], ";", [1.234, 5.678]),
    "spaces and apostrophes": (["1 234,5", "1\u00a0234,5", "1\u202f234", "12'345"], ";",
                               [1234.5, 1234.5, 1234, 12345]),
    "signs and exponents": (["+1", "\u22122.5", "-1e3", ".5", "1."], "\t",
                            [1, -2.5, -1000, 0.5, 1]),
    "contradiction": (["1.5", "2,5", *["3"] * 20, "1,234"], "|", [1.5, 2.5, *[3] * 20, NAN]),
    "what only Python reads": ([*["1"] * 30, "1_000", "inf", "\u0663"], ";",
                               [*[1] * 30, NAN, NAN, NAN]),
    "wrong groups": ([*["1,5"] * 30, "12.34.567", "1,2,3"], ";", [*[1.5] * 30, NAN, NAN]),
    "missing": (["1", "", "?", "NA", "NaN", "null", "none", "-", "2"], ",",
                [1, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 2]),
    "days": (["2024-05-01", "0050-01-01", "2024-05-01T12:00:00+06:00", "2024-05-01 00:00:43.2Z"],
             ";",
             [19844, -701265, 19844.25, 19844.0005]),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_read_with_points_and_commas(name: str) -> None:
    cells, delimiter, expected = NUMBERS[name]
    text = "\n".join(f"{cell}{delimiter}{row}" for row, cell in enumerate(cells))
    column, other = columns(f"x{delimiter}y\n{text}\n")
    assert column.numbers.tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert other.numbers.tolist() == list(range(len(cells)))


def test_other_columns_tell_the_decimal_mark() -> None:
    first, second = columns("a;b\n1.234;0,5\n5.678;1,5\n")
    assert first.numbers.tolist() == [1234, 5678]
    assert second.numbers.tolist() == [0.5, 1.5]
    assert first.example is not None
    assert first.example.in_words("a") == "In 'a', '1.234' is read as 1234."


def test_an_example_says_that_a_number_could_be_another() -> None:
    column, _ = columns('a,b\n"1,234",1\n"2,345",2\n')
    assert column.example is not None
    assert column.example.in_words("a") == (
        "In 'a', '1,234' is read as 1234. It could also mean 1.234; nothing in the file decides."
    )


TEN = [f"{row}.5,{row}" for row in range(10)]
# Tables without a header, and whether the numbers in the first row could be one.
FIRST_ROWS = {
    "years": ("2019,2020,2021\n1.5,2,3\n5,7,9.5\n", True),
    "years beside text": ("name,2019,2020,2021\nann,15,2,3\nbob,5,7,8\n", True),
    "numbers of columns": (",0,1,2\na,0.5,1.5,3\nb,2.5,3.5,4\n", True),
    "two years": ("\n".join(["2019,2020", *TEN]), True),
    "two numbers": ("\n".join(["1,20", *TEN[:4]]), False),
    "other rows alike": ("1,2,3\n4,5,6\n7,9,8\n", False),
    "numbers that occur again": ("1,2,3\n1,5,4\n7,9,8\n", False),
    "unequal steps": ("1,2,4\n9,5,4\n7,9,8\n", False),
    "falling": ("3,2,1\n9,5,4\n7,9,8\n", False),
    "not whole": ("1.0,2.0,3.0\n9,5,4\n7,9,8\n", False),
    "a header": ("a,b,c\n9,5,4\n7,9,8\n", False),
    "a single row": ("1,2,3\n", False),
}


@pytest.mark.parametrize("name", FIRST_ROWS)
def test_numbers_that_could_be_a_header_are_noticed(name: str) -> None:
    text, seems_header = FIRST_ROWS[name]
    table = read_table(text.encode(), "t")
    assert table.seems_header == seems_header
    words = "Line 1 is read as data. If its numbers are the names of the columns, put a letter"
    assert any(words in each for each in remarks(table, columns_of(table))) == seems_header


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_in_other_encodings_is_read(encoding: str) -> None:
    table = read_table("größe,kind\n1,gut\n2,süß\n".encode(encoding), "t")
    assert (table.titles, table.rows[1]) == (["größe", "kind"], ["2", "süß"])
    assert table.is_unicode == (encoding != "cp1252")


# Of these, files are made up: each cell alone is odd somewhere.
PARTS = [
    "1", "1.0", "2", "17", "0", "-3", "1.5", "2,5", "1,234", "1.234", "2.828,82", "2,828.82",
    "0,125", "1 234", "1'234", "1e5", "1_000", "inf", "nan", "NA", "?", "-", "", " ", "red", "blue",
    "Größe", "2024-05-01", "2024-02-30", "2024-05-01T25:00", "2024-05-01 10:00+02:00", "\u00a03",
    "\u0663", '"a, b"', '"1,5"', '"two\nlines"', '"it""s"', '"open', 'x"y', '"a"b', "\u221274",
    "\U0001f600", "\ufb01", "1.234.567", "12.34.567", "01,234", "99999999999999999999", "1e999",
    "+7", "5.", ",5",
]  # fmt: skip


def made_up_files(count: int) -> list[bytes]:
    """Return tables whose columns have cells of a few kinds, some rows ragged, in any encoding."""
    random = dice("tables")
    files = []
    for _ in range(count):
        delimiter, width = random.choice(",;\t|"), random.randint(1, 5)
        kinds = [random.sample(PARTS, random.randint(1, 4)) for _ in range(width)]
        rows = [[random.choice(kind) for kind in kinds] for _ in range(random.randint(1, 25))]
        if random.random() < 0.7:
            rows.insert(0, [random.choice(["a", "b", "größe", "", "1"]) for _ in range(width)])
        if random.random() < 0.3:
            random.choice(rows).append("more")
        end = random.choice(["\n", "\r\n", "\r"])
        text = end.join(delimiter.join(row) for row in rows) + random.choice(["", end, end + end])
        encoding = random.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-16-le"])
        files.append(text.encode(encoding, "ignore"))
    return files


def test_page_and_desktop_read_the_same(tmp_path: Path) -> None:
    cases = [
        f"x{mark}y\n" + "\n".join(f"{cell}{mark}{row}" for row, cell in enumerate(cells))
        for cells, mark, _ in NUMBERS.values()
    ]
    cases += [case for case, _ in FIRST_ROWS.values()]
    files = [case.encode() for case in cases] + made_up_files(budget(600, 20_000))
    for content, page in zip(files, in_page(files, tmp_path), strict=True):
        assert on_desktop(content) == page, content
