"""Joined calls compute what the same functions compute for one sample after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.errors import DataError
from playgrad.ops.joined.table import COLUMNS, bucket
from tests.ops.joined_trees import UNITS, Cells, forest, grown, with_gradients
from tests.sweeps import SEED, budget

NEWEST = np.random.default_rng(SEED)
on_both = pytest.mark.parametrize("device", ["cpu", "gpu"])


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with pg.Graph().as_default():
        yield


def images_of(random: np.random.Generator, count: int, whole: bool) -> Any:
    values = random.integers(-1, 2, (count, UNITS)) if whole else random.normal(size=(count, UNITS))
    return values.astype(np.float32)


def joined_and_alone(seed: int, count: int, whole: bool, device: str = "cpu",
                     directly_too: bool = True) -> Any:  # fmt: skip
    """Return results and gradients of random trees: joined, by one run for each tree, and by calls
    of the functions without a Fold. In this order: states, sums, gradients by the images, and by
    the weights."""
    random = np.random.default_rng(seed)
    cells = Cells(random, whole)
    trees, images = forest(random, count), images_of(random, count, whole)
    fold = pg.Fold(cells.read, inputs=1)
    tables = fold.read(trees)
    table = pg.placeholder("int32", (None, None, tables.shape[2]))
    image = pg.placeholder("float32", (None, UNITS))
    joined = with_gradients(cells, fold(table, image), image)
    direct = []
    for tree, one in zip(trees, images[:, None], strict=True) if directly_too else ():
        x = pg.constant(one)
        direct.append([pg.as_tensor(y) for y in with_gradients(cells, cells.read(tree, x), x)])
    with pg.Session(device="cpu") as session:
        directly = stacked(session.run(direct)) if direct else []
    with pg.Session(device=device) as session:
        together = session.run(joined, {table: tables, image: images})
        alone = [
            session.run(joined, {table: fold.read([tree]), image: one})
            for tree, one in zip(trees, images[:, None], strict=True)
        ]
        return together, stacked(alone), directly


def stacked(parts: Any) -> Any:
    """Return results of all samples, and the sums of the gradients of the weights."""
    *rows, words, joint, operators = zip(*parts, strict=True)
    sums = [sum(each[1:], each[0]) for each in (words, joint, operators)]
    return [*map(np.concatenate, rows), *sums]


def test_whole_numbers_are_equal_to_the_bit_with_gradients() -> None:
    together, alone, direct = joined_and_alone(SEED, 20, whole=True)
    for a, b, c in zip(together, alone, direct, strict=True):
        assert np.any(a)
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


@on_both
def test_random_trees_equal_one_by_one_with_gradients(device: str) -> None:
    together, alone, direct = joined_and_alone(SEED + 1, 12, whole=False, device=device)
    for a, b, c in zip(together, alone, direct, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)
        np.testing.assert_allclose(a, c, rtol=2e-5, atol=2e-5)


def test_values_and_gradients_of_a_sample_keep_their_bits_beside_others() -> None:
    """However many calls are joined: with OpenBLAS, which computes rows in groups of 8."""
    together, alone, _ = joined_and_alone(SEED + 2, 40, whole=False, directly_too=False)
    for a, b in zip(together[:3], alone[:3], strict=True):
        np.testing.assert_array_equal(a, b)


def test_gradient_equals_finite_differences() -> None:
    random = np.random.default_rng(SEED)
    cells = Cells(random)
    fold = pg.Fold(cells.read, inputs=1)
    tables = fold.read(forest(random, 6))
    image = pg.placeholder("float32", (None, UNITS))
    loss = pg.sum(fold(tables, image)[1])
    grads = pg.gradients(loss, cells.weights)
    images = images_of(random, 6, whole=False)
    with pg.Session(device="cpu") as session:
        values = session.run(grads, {image: images})
        for weights, grad in zip(cells.weights, values, strict=True):
            old = session.value(weights.variable_name)
            step = random.normal(size=old.shape).astype(np.float32)
            at = []
            for sign in (1, -1):
                session.assign({weights: old + sign * np.float32(1e-2) * step})
                at.append(float(session.run(loss, {image: images})))
            session.assign({weights: old})
            slope = (at[0] - at[1]) / 2e-2
            np.testing.assert_allclose(np.sum(grad * step), slope, rtol=2e-2, atol=2e-2)


def test_a_value_that_several_calls_take_gets_all_their_gradients() -> None:
    weight = pg.Variable(np.float32(3))

    @pg.batched
    def start(x: Any) -> Any:
        return x * weight

    @pg.batched
    def product(a: Any, b: Any) -> Any:
        return a * b

    def power(exponent: int) -> Any:
        value = base = start(1.0)
        for _ in range(exponent - 1):
            value = product(value, base)
        return value

    fold = pg.Fold(power)
    y = fold(fold.read([1, 2, 5]))
    grad = pg.gradients(y, [weight])[0]
    with pg.Session(device="cpu") as session:
        values, slope = session.run([y, grad])
    assert values.tolist() == [3, 9, 243]
    assert slope == 1 + 2 * 3 + 5 * 81


@pytest.mark.parametrize("seed", range(SEED, SEED + budget(3, 30)))
def test_any_split_into_batches_gives_the_same_bits(seed: int) -> None:
    random = np.random.default_rng(seed)
    cells = Cells(random)
    trees, images = forest(random, 17), images_of(random, 17, whole=False)
    fold = pg.Fold(cells.read, inputs=1)
    tables = fold.read(trees)

    @pg.function(device="cpu")
    def states(table: Any, image: Any) -> Any:
        return fold(table, image)[0]

    whole = states(tables, images)
    order = random.permutation(17)
    cuts = sorted(random.choice(np.arange(1, 17), 3, replace=False))
    parts = [states(tables[rows], images[rows]) for rows in np.split(order, cuts)]
    np.testing.assert_array_equal(np.concatenate(parts), whole[order])


def test_buckets_are_few_and_hold_their_calls() -> None:
    sizes = [bucket(count) for count in range(1, 5000)]
    assert all(size >= count and size % 8 == 0 for count, size in enumerate(sizes, 1))
    assert len(set(sizes)) < 25
    assert all(size <= 1.5 * count for count, size in enumerate(sizes, 1) if count > 16)


# Tables that no Fold has made


def damaged_table(change: Any) -> Any:
    """Return a function that computes a tree whose table ``change`` has changed."""
    cells = Cells(np.random.default_rng(0))
    fold = pg.Fold(cells.read, inputs=1)
    tables = fold.read([grown(np.random.default_rng(1), 4), grown(np.random.default_rng(2), 4)])
    table = pg.placeholder("int32", tables.shape)
    result = fold(table, np.zeros((2, UNITS), np.float32))[0]
    change(tables)
    with pg.Session(device="cpu") as session:
        return session.run(result, {table: tables})


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ((1, 0, 0), 77, "row 0 of sample 1 is a call that this graph does not have"),
        ((0, slice(None), 2), 0, "sample 0 must have one result, has 0"),
        ((1, slice(None), 2), 1, "sample 1 must have one result, has 7"),
        ((0, 0, 1), -1, "depth of a call must be in"),
        ((0, 0, 1), 1 << 20, "depth of a call must be in"),
        ((1, 6, COLUMNS), 6, "row 6 of sample 1 takes a value that no earlier call"),
        ((1, 6, COLUMNS), 7, "takes a value that no earlier call"),
        ((1, 6, COLUMNS), -1, "takes a value that no earlier call"),
        ((0, 6, COLUMNS), 1 << 30, "takes a value that no earlier call"),
    ],
)
def test_damaged_tables_are_errors(place: Any, value: int, words: str) -> None:
    def change(tables: Any) -> None:
        tables[place] = value

    with pytest.raises(DataError, match=words):
        damaged_table(change)


def test_numbers_of_a_table_are_checked_where_they_are_indices() -> None:
    with pytest.raises(DataError, match=r"(?s)leaf"):
        damaged_table(lambda tables: tables.__setitem__((0, 0, COLUMNS), 99))
