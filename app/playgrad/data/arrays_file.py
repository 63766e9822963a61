"""NPZ files as data sets: checked arrays for training and for testing."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.data.read_files import MOST_BYTES
from playgrad.data.table_facts import TableFacts, remember
from playgrad.errors import DataError, ReadError, shape_text

Array = np.ndarray[Any, Any]
Pair = tuple[Array, Array]
PARTS = ("x_train", "y_train", "x_test", "y_test")
TEST = 0.2
"""The part of the rows that becomes test data, where the file has no test data."""


def load_arrays(content: bytes | memoryview, name: str) -> tuple[Pair, Pair]:
    """Return ``(x_train, y_train), (x_test, y_test)`` from the content of an NPZ file.

    A file with ``x`` and ``y`` only is split at random: a fifth is test data.

    Raises:
        ReadError: it is damaged, holds Python objects or text, or lacks arrays.
    """
    arrays = read_arrays(content, name)
    if "edge_index" in arrays:
        raise ReadError(
            f"{name} holds a graph.", hint="Load it with pg.data.load_graph.", file=name
        )
    if all(part in arrays for part in PARTS):
        x_train, y_train, x_test, y_test = (_numbers(arrays[part], part, name) for part in PARTS)
    elif "x" in arrays and "y" in arrays:
        x, y = _numbers(arrays["x"], "x", name), _numbers(arrays["y"], "y", name)
        _check_rows(x, y, "x", "y", name)
        train, test = split(len(x), TEST, 0)
        x_train, y_train, x_test, y_test = x[train], y[train], x[test], y[test]
    else:
        listed = ", ".join(arrays) or "nothing"
        raise ReadError(
            f"{name} holds {listed}; a data set has {', '.join(PARTS)}, or x and y.", file=name
        )
    _check_rows(x_train, y_train, "x_train", "y_train", name)
    _check_rows(x_test, y_test, "x_test", "y_test", name)
    if x_train.shape[1:] != x_test.shape[1:]:
        raise ReadError(
            f"the samples in {name} differ in shape: {shape_text(x_train.shape[1:])} in x_train, "
            f"{shape_text(x_test.shape[1:])} in x_test.",
            file=name,
        )
    if not len(x_train):
        raise ReadError(f"{name} has no rows to train on.", file=name)
    x_train, x_test = features(x_train), features(x_test)
    facts = _facts(arrays, x_train.shape[1:])
    if facts is not None:
        for x in (x_train, x_test):
            remember(x, facts)
    return (x_train, targets(y_train)), (x_test, targets(y_test))


def _facts(arrays: Mapping[str, Array], shape: tuple[int, ...]) -> TableFacts | None:
    names = ("column_names", "feature_mean", "feature_deviation")
    columns, mean, deviation = (arrays[name].tolist() if name in arrays else [] for name in names)
    return TableFacts.checked(columns, mean, deviation, shape) if columns else None


def load_class_names(content: bytes | memoryview, name: str) -> list[str]:
    """Return the names of the classes in an NPZ file; [] if it has none."""
    names = read_arrays(content, name).get("class_names")
    return [] if names is None else [str(each) for each in names.reshape(-1)]


def split(count: int, test: float, seed: int) -> tuple[Array, Array]:
    """Split the rows at random into training rows and test rows."""
    if not 0 <= test < 1:
        raise DataError(f"the part for testing must be from 0 to below 1, got {test}.")
    order = np.random.default_rng(seed).permutation(count)
    tested = round(count * test)
    if count > 1 and test:
        tested = min(max(tested, 1), count - 1)
    return order[tested:], order[:tested]


def features(x: Array) -> Array:
    """Return inputs as float32; bytes, which are pixels, become numbers from 0 to 1."""
    if x.dtype == np.uint8:
        return x.astype(np.float32) / np.float32(255)
    return x.astype(np.float32)


def targets(y: Array) -> Array:
    """Return labels as int32, other numbers and whole numbers that do not fit as float32."""
    limits = np.iinfo(np.int32)
    fits = y.dtype.kind != "f" and (not y.size or limits.min <= y.min() <= y.max() <= limits.max)
    return y.astype(np.int32 if fits else np.float32)


def read_arrays(content: bytes | memoryview, name: str) -> dict[str, Array]:
    """Return the arrays in the content of an NPZ file, by their names.

    Raises:
        ReadError: it is damaged, too large, or holds Python objects.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as members:
            size = sum(member.file_size for member in members.infolist())
        if size > MOST_BYTES:
            raise ReadError(
                f"{name} unpacks to {size:,} bytes, more than the {MOST_BYTES:,} allowed.",
                file=name,
            )
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {each: archive[each] for each in archive.files}
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError, KeyError) as error:
        if isinstance(error, ReadError):
            raise
        words = "it holds Python objects" if "allow_pickle" in str(error) else str(error)
        raise ReadError(f"{name} cannot be used: {words}.", file=name) from None
    for part, array in arrays.items():
        if array.size and not array.itemsize:  # however many there are, they take no bytes
            raise ReadError(f"{part} in {name} holds texts without letters.", file=name)
    return arrays


def _numbers(array: Array, part: str, name: str) -> Array:
    if array.dtype.kind not in "biuf":
        raise ReadError(f"{part} in {name} holds {array.dtype}, not numbers.", file=name)
    if array.ndim == 0:
        raise ReadError(f"{part} in {name} is a single number, not rows.", file=name)
    return array


def _check_rows(x: Array, y: Array, x_part: str, y_part: str, name: str) -> None:
    if len(x) != len(y):
        raise ReadError(
            f"{name} has {len(x)} rows in {x_part} but {len(y)} in {y_part}.", file=name
        )
