"""Data sets of the user, by name: files on the desktop."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.data import arrays_file, user_data
from playgrad.errors import DataError, ReadError
from tests.io.damage import npy_header, npy_of, npz_of

FLOWERS = """petal,colour,kind
1.5,red,rose
2.5,white,iris
3.5,red,rose
4.5,white,iris
,red,iris
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(user_data.FOLDER, raising=False)
    return tmp_path


def test_arrays_load_with_and_without_a_split() -> None:
    x, y = np.arange(40.0).reshape(20, 2), np.arange(20)
    np.savez("both.npz", x=x, y=y)
    (x_train, y_train), (x_test, y_test) = pg.data.load("both")
    assert (x_train.dtype, y_train.dtype, len(x_test)) == (np.float32, np.int32, 4)
    assert sorted([*y_train, *y_test]) == list(range(20))
    np.testing.assert_array_equal(x_test[:, 0], 2 * y_test)

    images = np.array([[[0, 51], [102, 255]]] * 3, np.uint8)
    prices = np.array([1.5, 2.5, 3.5])
    np.savez_compressed(
        "parts.npz", x_train=images, y_train=prices, x_test=images[:1], y_test=prices[:1]
    )
    (x_train, y_train), (x_test, _) = pg.data.load("parts")
    np.testing.assert_allclose(x_train[0], [[0, 0.2], [0.4, 1]])
    assert (x_train.dtype, y_train.dtype, x_test.shape) == (np.float32, np.float32, (1, 2, 2))
    assert pg.data.class_names("parts") == []


def test_texts_without_letters_are_refused() -> None:
    """They take no bytes, so that a file of 128 bytes could hold billions."""
    arrays = {name: npy_bytes(np.arange(2)) for name in ("x", "y")}
    for count in (1, 2**24, 10**11):
        names = npy_of(npy_header("'<U0'", f"({count},)"))
        content = npz_of(*((f"{n}.npy", c) for n, c in {**arrays, "class_names": names}.items()))
        Path("endless.npz").write_bytes(content)
        for read in (pg.data.load, pg.data.class_names):
            with pytest.raises(ReadError, match=r"class_names in .* holds texts without letters"):
                read("endless")


def npy_bytes(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_a_table_of_text_and_numbers_is_encoded() -> None:
    Path("flowers.csv").write_text(FLOWERS)
    with pytest.warns(RuntimeWarning, match="1 of 5, most because of 'petal': 1, the first in lin"):
        (x_train, y_train), (x_test, y_test) = pg.data.load("flowers")
    assert pg.data.class_names("flowers") == ["iris", "rose"]
    rows = {
        (*map(float, row), int(label))
        for row, label in zip(
            np.concatenate([x_train, x_test]), np.concatenate([y_train, y_test]), strict=True
        )
    }
    assert rows == {(1.5, 1, 0, 1), (2.5, 0, 1, 0), (3.5, 1, 0, 1), (4.5, 0, 1, 0)}
    assert (x_train.dtype, y_train.dtype, len(x_test)) == (np.float32, np.int32, 1)
    with pytest.warns(RuntimeWarning):
        again = pg.data.load("flowers")
    np.testing.assert_array_equal(again[0][0], x_train)


def test_a_table_says_how_it_is_read_where_that_is_not_plain() -> None:
    lines = [f"n{row};{row},5;{row % 2}\n" for row in range(60)]
    Path("odd.csv").write_bytes(("größe;b;y\n" + "".join(lines) + "1;2\n1;x;0\n").encode("cp1252"))
    with pytest.warns(RuntimeWarning) as warned:
        (x_train, _), _ = pg.data.load("odd")
    assert x_train.shape == (48, 1)
    assert sorted(str(each.message).partition("odd.csv: ")[2] for each in warned) == [
        "'größe' is left out: 'n0' and others are only text.",
        "In 'b', '0,5' is read as 0.5.",
        "In 'b', cells that are not a number count as missing: 1, such as 'x' in line 63.",
        "Lines with another number of cells are left out: 62.",
        "Rows with missing values are left out: 1 of 61, most because of 'b': 1, the first in line "
        "63.",
        "The text is not UTF-8, and is read as Windows-1252.",
    ]


def test_a_table_says_how_many_rows_are_left_out_and_why() -> None:
    rows = [f"{x},{'' if x % 20 else 3},{'none' if x % 3 else 'yes'},{x / 2}\n" for x in range(60)]
    Path("holes.csv").write_text("x,filled,garage,y\n" + "".join(rows))
    with pytest.warns(RuntimeWarning) as warned:
        (x_train, _), (x_test, _) = pg.data.load("holes")
    assert len(x_train) + len(x_test) == 1
    assert [str(each.message).partition("holes.csv: ")[2] for each in warned] == [
        "Rows with missing values are left out: 59 of 60, most because of 'filled': 57, the first "
        "in line 3."
    ]


def test_classes_of_numbers_are_the_numbers() -> None:
    """Text among them is missing, as the warning says; 1 and 1.0 are one class, before 2 and 10."""
    labels = ["1", "2", "10", "1.0", "+2", "10"] * 4 + ["unknown"]
    Path("odd.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in enumerate(labels)))
    with (
        pytest.warns(RuntimeWarning, match="missing: 1, such as 'unknown' in line 26"),
        pytest.warns(RuntimeWarning, match="1 of 25, most because of 'y': 1"),
    ):
        (x_train, y_train), (x_test, y_test) = pg.data.load("odd")
    assert pg.data.class_names("odd") == ["1", "2", "10"]
    y = np.concatenate([y_train, y_test])[np.argsort([*x_train[:, 0], *x_test[:, 0]])]
    assert y.tolist() == [0, 1, 2] * 8


def test_ten_numbers_are_classes_however_they_are_written() -> None:
    rows = [f"{x},{x % 10}{'.0' if x % 3 else ''}\n" for x in range(60)]
    Path("digits.csv").write_text("x,y\n" + "".join(rows))
    (_, y_train), _ = pg.data.load("digits")
    assert y_train.dtype == np.int32
    assert pg.data.class_names("digits") == [str(digit) for digit in range(10)]


def test_whole_numbers_that_do_not_fit_stay_numbers() -> None:
    np.savez("large.npz", x=np.ones((2, 1)), y=np.array([3_000_000_000, 1]))
    (_, y_train), (_, y_test) = pg.data.load("large")
    assert sorted([*y_train, *y_test]) == [1, 3_000_000_000]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_delimiters_and_missing_headers_are_detected(delimiter: str) -> None:
    Path("bare.csv").write_text("\ufeff" + "1,2.5\n3,4.5\n5,6.5\n".replace(",", delimiter))
    (x_train, y_train), (x_test, y_test) = pg.data.load("bare")
    assert y_train.dtype == np.float32
    np.testing.assert_allclose(
        np.concatenate([y_train, y_test])[:, None] - 1.5, [*x_train, *x_test]
    )


def test_the_working_directory_comes_before_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = folder / "others"
    others.mkdir()
    for number, place in enumerate((folder, others)):
        np.savez(place / "same.npz", x=np.full((4, 1), number), y=np.arange(4))
    np.savez(others / "there.npz", x=np.ones((4, 1)), y=np.arange(4))
    assert "there" not in pg.data.available()
    monkeypatch.setenv(user_data.FOLDER, str(others))
    listed = pg.data.available()
    assert str(others / "there.npz") in listed["there"]
    assert "MNIST" in listed["mnist"]
    assert pg.data.load("same")[0][0].max() == 0
    monkeypatch.setenv(user_data.FOLDER, str(others / "nowhere"))
    with pytest.raises(DataError, match=r"nowhere cannot be read"):
        pg.data.load("same")


def test_built_in_names_take_precedence() -> None:
    np.savez("circle.npz", x=np.ones((4, 1)), y=np.arange(4))
    assert pg.data.load("circle", samples=10)[0].shape == (10, 2)


def text(name: str, content: str) -> Callable[[], object]:
    return lambda: Path(name).write_text(content)


def npz(name: str, **arrays: Any) -> Callable[[], object]:
    return lambda: np.savez(name, **arrays)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (text("bad.csv", ""), "bad.csv is empty"),
        (text("bad.csv", "a,b\n"), "a header but no rows"),
        (text("bad.csv", "a\n1\n2\n"), "a single column"),
        (text("bad.csv", 'a,b\n1,2\n"3,4\n'), "line 3: a quotation mark is never closed"),
        (
            text("bad.csv", "a,b\n1,only\n2,only\n"),
            "bad.csv has only one class, 'only'",
        ),
        (text("bad.csv", "a,b\n1,\n,2\n,3\n"), "no row without missing values; 'a' has 2"),
        (text("bad.npz", "no archive"), "bad.npz cannot be used"),
        (npz("bad.npz", x=np.array([{}, {}]), y=np.arange(2)), "it holds Python objects"),
        (npz("bad.npz", x=np.ones((3, 1)), y=np.ones(2)), "3 rows in x but 2 in y"),
        (npz("bad.npz", a=np.ones(3)), "holds a; a data set has x_train"),
        (npz("bad.npz", x=np.array(["a"]), y=np.ones(1)), "not numbers"),
        (npz("bad.npz", x=np.ones(()), y=np.ones(1)), "a single number"),
        (npz("bad.npz", x=np.ones((0, 2)), y=np.ones(0)), "no rows to train on"),
        (
            npz(
                "bad.npz",
                x_train=np.ones((2, 3)),
                y_train=np.ones(2),
                x_test=np.ones((1, 4)),
                y_test=np.ones(1),
            ),
            "differ in shape",
        ),
    ],
)
def test_files_that_cannot_be_used_say_why(make: Callable[[], object], words: str) -> None:
    make()
    with pytest.raises(DataError) as caught:
        pg.data.load("bad")
    assert words in str(caught.value)


def test_large_files_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("large.csv").open("wb") as file:
        file.truncate(user_data.MOST_BYTES + 1)
    with pytest.raises(DataError, match=r"more than the 1,073,741,824 that load\(\) reads"):
        pg.data.load("large")
    monkeypatch.setattr(arrays_file, "MOST_BYTES", 1000)
    np.savez_compressed("bomb.npz", x=np.zeros((1000, 2)), y=np.zeros(1000))
    with pytest.raises(DataError, match=r"unpacks to .* more than the 1,000 allowed"):
        pg.data.load("bomb")


def test_an_unknown_name_says_how_to_add_data() -> None:
    np.savez("mine.npz", x=np.ones((4, 1)), y=np.arange(4))
    with pytest.raises(DataError) as caught:
        pg.data.load("min")
    message = str(caught.value)
    assert "there is no data set 'min'; yours: mine." in message
    assert "PLAYGRAD_DATA" in message
    with pytest.raises(DataError, match="'mine' has no option 'seed'"):
        pg.data.load("mine", seed=1)
