"""Readers of CSV, IDX and NPZ files: records, and files that are damaged."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from playgrad import data
from playgrad.errors import DataError, ReadError

CARS = b"""km,fuel,price
10,petrol,9000

20, diesel ,8000
"""


def idx(array: np.ndarray[Any, Any], code: int = 0x08) -> bytes:
    sizes = b"".join(size.to_bytes(4, "big") for size in array.shape)
    return bytes([0, 0, code, array.ndim]) + sizes + array.tobytes()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def test_csv_rows_are_read_with_columns_labels_and_converters() -> None:
    fuels = {"fuel": {"petrol": 0, "diesel": 1}}
    rows = list(data.read_csv(CARS, label="price", converters=fuels))
    assert [(x.tolist(), float(y)) for x, y in rows] == [([10, 0], 9000), ([20, 1], 8000)]
    assert rows[0][0].dtype == rows[0][1].dtype == np.float32
    (first, second) = data.read_csv(CARS, columns=["price", 0])
    assert (first.tolist(), second.tolist()) == ([9000, 10], [8000, 20])
    plain = list(data.read_csv(b"1;2\n3;4", header=False, delimiter=";", label=0))
    assert [(x.tolist(), float(y)) for x, y in plain] == [([2], 1), ([4], 3)]
    assert list(data.read_csv(b"")) == []
    doubled = data.read_csv(b"a\n3", converters={"a": lambda text: 2 * int(text)})
    assert next(doubled).tolist() == [6]


def test_csv_numbers_have_the_decimal_mark_and_the_encoding_of_the_file() -> None:
    german = "größe;y\n2.828,82;1,5\n".encode("cp1252")
    (row,) = data.read_csv(german, delimiter=";", decimal=",", encoding="cp1252", label="y")
    assert (row[0].tolist(), float(row[1])) == ([np.float32(2828.82)], 1.5)
    (thousands,) = data.read_csv(b'x,y\n"2,828.82",1 000\n')
    assert thousands.tolist() == [np.float32(2828.82), 1000]


@pytest.mark.parametrize(
    ("content", "options", "words", "record"),
    [
        (CARS, {}, "the file, line 2, column 'fuel': 'petrol' is not a number", 2),
        (b'a,b\n"1,234",2', {}, "'1,234' needs another decimal mark than decimal=None", 2),
        (b"a;b\n1,5;2", {"delimiter": ";"}, "'1,5' needs another decimal mark", 2),
        (b"a,b\n1_000,2", {}, "'1_000' is not a number", 2),
        (b"a,b\nnan,2", {}, "'nan' is not a number", 2),
        (b"a,b\n1,2\n3", {}, "line 3: 1 column instead of 2", 3),
        (b"a\n\xff\n", {}, "line 2: 'utf-8'", 2),
        (CARS, {"label": "Price"}, "no column 'Price'; it has km, fuel, price", None),
        (b"1,2", {"header": False, "label": 2}, "no column 2; it has numbers from 0 to 1", None),
        (
            CARS,
            {"converters": {"fuel": {"petrol": 0}}},
            "column 'fuel': its converter has no entry for 'diesel'",
            4,
        ),
    ],
)
def test_csv_errors_name_the_record(
    content: bytes, options: Any, words: str, record: int | None
) -> None:
    with pytest.raises(ReadError, match=words) as raised:
        list(data.read_csv(content, **options))
    assert raised.value.record == record


def test_idx_records_are_read(tmp_path: Path) -> None:
    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    file = tmp_path / "images.gz"
    file.write_bytes(gzip.compress(idx(images)))
    np.testing.assert_array_equal(list(data.read_idx(file)), images)
    numbers = list(data.read_idx(idx(np.array([1.5, -2], ">f4"), 0x0D)))
    assert [float(n) for n in numbers] == [1.5, -2] and numbers[0].dtype == np.float32


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<html>", "is not an IDX file: it begins with 3c68746d"),
        (idx(np.zeros((2, 3), np.uint8))[:-1], "record 1 of 2 is not whole"),
        (gzip.compress(idx(np.zeros((9, 3), np.uint8)), mtime=0)[:-9], "damaged"),
        (b"\0\0\x08\3\0\0", "truncated: its header needs 16 bytes"),
        (idx(np.array(7, np.uint8)), "a single number, not records"),
    ],
)
@pytest.mark.survival("Damaged data sets on disk")
def test_damaged_idx_files_are_refused(content: bytes, words: str) -> None:
    with pytest.raises(ReadError, match=words):
        list(data.read_idx(content))


def test_npz_arrays_are_read_by_rows() -> None:
    x, y = np.arange(6, dtype=np.float32).reshape(3, 2), np.arange(3)
    rows = list(data.read_npz(npz(y=y, x=x), ("x", "y")))
    assert [(a.tolist(), int(b)) for a, b in rows] == [([0, 1], 0), ([2, 3], 1), ([4, 5], 2)]
    assert [int(b) for b in data.read_npz(npz(y=y))] == [0, 1, 2]


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (b"PK", {}, "is not a valid NPZ file"),
        (npz(x=np.zeros(9))[:-30], {}, "is not a valid NPZ file"),
        (npz(x=np.zeros(2)), {"names": ["y"]}, "does not hold 'y'; it holds x"),
        (npz(x=np.zeros(2), y=np.zeros(3)), {}, r"differ in length: x \(2,\), y \(3,\)"),
        (npz(x=np.array([{}], object)), {}, "Object arrays cannot be loaded"),
        (npz(x=np.zeros(1000)), {"max_bytes": 1000}, "unpacks to 8,... bytes, more than the 1,000"),
    ],
)
@pytest.mark.survival("Damaged data sets on disk")
def test_damaged_npz_files_are_refused(content: bytes, options: Any, words: str) -> None:
    with pytest.raises(ReadError, match=words):
        list(data.read_npz(content, **options))


def test_a_file_may_be_a_name_bytes_or_an_open_file() -> None:
    assert next(data.read_csv(io.BytesIO(b"a\n5"))).tolist() == [5]
    with pytest.raises(DataError, match="a file is a name, bytes or an open file, got int"):
        data.read_png(7)
