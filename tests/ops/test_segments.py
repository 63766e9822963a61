"""Segment operations against NumPy row by row, and their gradients against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad.contract.interpreter import value
from playgrad.errors import DataError, DTypeError, FeedError, ShapeError
from playgrad.ops.core.segments import reduce_segments
from tests.test_ops_against_torch import compare, uniform

Array = np.ndarray[Any, Any]
IDS = np.array([4, 0, 1, 1, 4, 4, 1, 6], np.int32)  # 2, 3 and 5 are empty
COUNT = 7
X = uniform(8, 3)
LONG = torch.from_numpy(IDS.astype(np.int64))


def extreme(kind: str) -> Any:
    def of(x: torch.Tensor) -> torch.Tensor:
        index = LONG[:, None].expand_as(x)
        result = torch.zeros(COUNT, 3, dtype=x.dtype)
        return result.scatter_reduce(0, index, x, kind, include_self=False)

    return of


def total(x: torch.Tensor) -> torch.Tensor:
    return torch.zeros(COUNT, 3, dtype=x.dtype).index_add(0, LONG, x)


def mean(x: torch.Tensor) -> torch.Tensor:
    return total(x) / total(torch.ones_like(x)).clamp(min=1)


def deviation(x: torch.Tensor) -> torch.Tensor:
    variance = mean((x - mean(x)[LONG]) ** 2)
    return torch.where(variance == 0, 0.0, torch.where(variance == 0, 1.0, variance).sqrt())


def softmax(x: torch.Tensor) -> torch.Tensor:
    return x.exp() / total(x.exp())[LONG]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (pg.segment_sum, total),
        (pg.segment_mean, mean),
        (pg.segment_max, extreme("amax")),
        (pg.segment_min, extreme("amin")),
        (pg.segment_std, deviation),
        (pg.segment_softmax, softmax),
    ],
)
def test_values_and_gradients_match_pytorch(ours: Any, theirs: Any) -> None:
    compare(lambda x: ours(x, IDS, COUNT), theirs, X)
    rows = np.zeros((COUNT, 1), np.float32)
    compare(lambda x: ours(x, IDS, pg.constant(rows)), theirs, X)


@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.minimum])
@pytest.mark.parametrize("width", [1, 3, 40])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_rows_are_reduced_in_their_order(ufunc: Any, width: int, dtype: str) -> None:
    random = np.random.default_rng(width)
    for rows in (300, 70_000):
        ids = random.integers(0, rows, 3000).astype(np.int32)
        ids[::7] = 5  # many rows of one segment
        x = (random.normal(size=(3000, width)) * 10).astype(dtype)
        x[ids == 6] *= -0.0 if dtype == "float32" else 0
        for order in (ids, np.sort(ids)):
            expected = np.zeros((rows, width), dtype)
            if ufunc is not np.add:
                expected[order] = x
            ufunc.at(expected, order, x)
            actual = reduce_segments(ufunc, x, order, rows)
            assert actual.tobytes() == expected.tobytes()


def test_softmax_of_large_numbers_and_deviation_of_small_ones() -> None:
    x = np.array([1e30, 1e30, -1e30, 500.0], np.float32)
    weights = value(pg.segment_softmax(x, np.array([0, 0, 0, 2], np.int32), 3))
    np.testing.assert_allclose(weights, [0.5, 0.5, 0, 1])
    assert value(pg.segment_std(x[:2] * [1, -1], np.zeros(2, np.int32), 2)).tolist() == [
        pytest.approx(1e30),
        0.0,
    ]


def test_sorted_ids_are_a_promise() -> None:
    x = np.ones((3, 2), np.float32)
    kept = pg.segment_sum(x, np.array([0, 0, 2], np.int32), 3, indices_are_sorted=True)
    assert value(kept)[:, 0].tolist() == [2, 0, 1]
    ids = pg.placeholder("int32", (3,))
    broken = pg.segment_max(x, ids, 3, indices_are_sorted=True)
    with pg.Session() as session:
        with pytest.raises((FeedError, DataError), match="must not decrease, but 0 follows 2"):
            session.run(broken, {ids: np.array([0, 2, 0], np.int32)})
        with pytest.raises((FeedError, DataError), match=r"must lie in \[0, 3\), but there is 3"):
            session.run(broken, {ids: np.array([0, 2, 3], np.int32)})


def test_wrong_arguments() -> None:
    with pytest.raises(ShapeError, match="must have the shape of the indices"):
        pg.segment_max(X, IDS[:3], COUNT)
    with pytest.raises(ShapeError, match="num_segments must be at least 0, got -1"):
        pg.segment_sum(X, IDS, -1)
    with pytest.raises(ShapeError, match=r"must be a whole number, got 2\.5"):
        pg.segment_sum(X, IDS, 2.5)  # type: ignore[arg-type]
    with pytest.raises(DTypeError, match="the rows of segment_mean must be"):
        pg.segment_mean(IDS, IDS, COUNT)
    with pytest.raises(ShapeError, match=r"must be \(2, elements\), got \(3, 4\)"):
        pg.sparse_dense_matmul(np.zeros((3, 4), np.int32), None, X, 2)


def test_sparse_product_matches_the_dense_one() -> None:
    places = np.array([[0, 3, 3, 1, 0], [7, 2, 2, 0, 1]], np.int32)  # (3, 2) twice
    elements = uniform(5)
    rows, columns = torch.from_numpy(places.astype(np.int64))

    def dense(values: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        matrix = torch.zeros(4, 8, dtype=x.dtype).index_put((rows, columns), values, True)
        return matrix @ x

    compare(lambda v, x: pg.sparse_dense_matmul(places, v, x, 4), dense, elements, X)
    ones = value(pg.sparse_dense_matmul(places, None, X, 4))
    np.testing.assert_allclose(ones, dense(torch.ones(5, dtype=torch.float64), torch.tensor(X)))


def test_orders_that_are_kept_follow_ids_that_change_in_place() -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=(4000, 16)).astype(np.float32)
    ids = random.integers(0, 70, 4000).astype(np.int32)
    for change in range(12):
        expected = np.zeros((70, 16), np.float32)
        np.add.at(expected, ids, x)
        for _ in range(2):
            np.testing.assert_array_equal(reduce_segments(np.add, x, ids, 70), expected)
        ids[random.integers(0, 4000, 1 + change % 3)] = random.integers(0, 70)
