"""Windows of series, by hand from what the documentation of `tf.data` says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.data import INFINITE, UNKNOWN, Dataset
from playgrad.errors import DataError


def windows(dataset: Dataset) -> list[list[int]]:
    return [[int(each) for each in window] for window in dataset]


CASES: dict[tuple[Any, ...], list[list[int]]] = {
    # size, shift, stride, drop_remainder, of the numbers 0 to 6
    (3,): [[0, 1, 2], [3, 4, 5], [6]],
    (3, None, 1, True): [[0, 1, 2], [3, 4, 5]],
    (3, 1, 1, True): [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]],
    (3, 2): [[0, 1, 2], [2, 3, 4], [4, 5, 6], [6]],
    (3, 3, 2): [[0, 2, 4], [3, 5], [6]],
    (3, None, 2, True): [[0, 2, 4]],
    (3, 1, 2): [[0, 2, 4], [1, 3, 5], [2, 4, 6], [3, 5], [4, 6], [5], [6]],
    (3, 1, 2, True): [[0, 2, 4], [1, 3, 5], [2, 4, 6]],
    (2, 5): [[0, 1], [5, 6]],
    (2, 6): [[0, 1], [6]],
    (2, 6, 1, True): [[0, 1]],
    (2, 9): [[0, 1]],
    (9,): [[0, 1, 2, 3, 4, 5, 6]],
    (9, None, 1, True): [],
    (1, 1, 4): [[0], [1], [2], [3], [4], [5], [6]],
}


@pytest.mark.parametrize("arguments", CASES)
def test_windows_match_tf_data(arguments: tuple[Any, ...]) -> None:
    dataset = Dataset.range(7).window(*arguments)
    assert windows(dataset) == windows(dataset) == CASES[arguments]
    assert len(dataset) == len(CASES[arguments])
    uncounted = Dataset.range(7).filter(lambda i: True).window(*arguments)
    assert windows(uncounted) == CASES[arguments]
    assert uncounted.cardinality() == UNKNOWN


def test_an_endless_series_has_windows_without_an_end() -> None:
    dataset = Dataset.range(3).repeat().window(4, 2, drop_remainder=True)
    assert dataset.cardinality() == INFINITE
    assert windows(dataset.take(3)) == [[0, 1, 2, 0], [2, 0, 1, 2], [1, 2, 0, 1]]


def test_flat_map_puts_data_sets_one_after_the_other() -> None:
    batches = Dataset.range(5).window(3, 1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    assert [each.tolist() for each in batches] == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    ranges = Dataset.range(4).flat_map(lambda n: Dataset.range(n))
    assert [int(each) for each in ranges] == [0, 0, 1, 0, 1, 2]
    assert ranges.cardinality() == UNKNOWN
    assert list(Dataset.range(3).flat_map(lambda n: [int(n)] * int(n))) == [1, 2, 2]
    rows = Dataset.from_tensor_slices(np.arange(6).reshape(3, 2))
    assert [int(x) for x in rows.flat_map(Dataset.from_tensor_slices)] == [0, 1, 2, 3, 4, 5]


def test_parts_of_elements_have_windows_of_their_own() -> None:
    pairs = Dataset.from_tensor_slices((np.arange(4), np.arange(4) * 10)).window(2)
    zipped = pairs.flat_map(lambda a, b: Dataset.zip((a.batch(2), b.batch(2))))
    assert [(a.tolist(), b.tolist()) for a, b in zipped] == [([0, 1], [0, 10]), ([2, 3], [20, 30])]
    (named,) = Dataset.from_tensor_slices({"x": np.arange(2)}).window(2)
    assert windows(Dataset.from_generator(lambda: [named["x"]])) == [[0, 1]]


MISUSES: dict[str, tuple[Callable[[], Any], str]] = {
    "size": (lambda: Dataset.range(3).window(0), "size must be a whole number of at least 1"),
    "shift": (lambda: Dataset.range(3).window(1, 0), "shift must be"),
    "stride": (lambda: Dataset.range(3).window(1, 1, 0), "stride must be"),
    "number": (
        lambda: list(Dataset.range(3).flat_map(lambda n: 5)),
        "function of flat_map returned int, not a Dataset",
    ),
    "failing": (
        lambda: list(Dataset.range(3).flat_map(lambda n: [1 // int(n)])),
        r"flat_map failed at element 0 \(.*0.*\): ZeroDivisionError",
    ),
}


@pytest.mark.parametrize("name", MISUSES)
def test_misuses_are_explained(name: str) -> None:
    use, words = MISUSES[name]
    with pytest.raises(DataError, match=words):
        use()


def test_a_model_learns_a_series_from_its_windows() -> None:
    """The pipeline of the tutorials on time series."""
    series = np.sin(np.arange(300) / 10).astype(np.float32)
    dataset = Dataset.from_tensor_slices(series).window(21, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(21)).shuffle(1000)
    dataset = dataset.map(lambda window: (window[:-1], window[-1:])).batch(32).prefetch(1)
    x, y = next(iter(dataset))
    assert x.shape == (32, 20) and y.shape == (32, 1)
    starts = sorted(float(row[0]) for x, _ in dataset for row in x)
    np.testing.assert_array_equal(starts, np.sort(series[:280]))
    model = pg.Sequential([pg.nn.Dense(1)])
    model.compile(pg.optim.Adam(0.02), "mse", device="cpu")
    losses = model.fit(dataset, epochs=10, verbose=0).history["loss"]
    assert losses[-1] < 0.05 * losses[0]
