"""Folds: what they read, what they refuse, and how graphs, models and eager mode use them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import (
    DataError,
    DTypeError,
    GraphError,
    PlaygradError,
    ShapeError,
    UnsupportedOpError,
)
from playgrad.ops.joined.table import COLUMNS
from tests.ops.joined_trees import Cells, forest


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with pg.Graph().as_default():
        yield


@pg.batched
def one(number: Any) -> Any:
    return pg.cast(number, "float32") + 1.0


@pg.batched
def pair(a: Any, b: Any) -> Any:
    return a + b


@pg.batched
def named(x: Any, way: str, doubled: bool = False) -> Any:
    y = pg.tanh(x) if way == "tanh" else -x
    return y * 2.0 if doubled else y


def total(tree: Any) -> Any:
    if isinstance(tree, (list, tuple)):
        return pair(total(tree[0]), total(tree[1]))
    return one(tree)


def run(fold: pg.Fold, samples: Any) -> Any:
    with pg.Session(device="cpu") as session:
        return session.run(fold(fold.read(samples)))


def test_kinds_follow_functions_forms_and_fixed_arguments() -> None:
    def read(x: float) -> Any:
        return named(named(named(one(x), "tanh"), way="minus"), "tanh", doubled=True)

    fold = pg.Fold(read)
    values = run(fold, [0.5, 2.0])
    np.testing.assert_allclose(values, 2 * np.tanh(-np.tanh([1.5, 3.0])), rtol=1e-6)
    titles = [kind.title for kind in fold.kinds]
    assert titles == ["one", "named('tanh')", "named('minus')", "named('tanh', True)"]


def test_arrays_of_every_dtype_arrive_as_they_are() -> None:
    @pg.batched
    def dot(x: Any, y: Any, on: Any, more: Any) -> Any:
        product = pg.sum(x * pg.cast(y, "float32"), 1) + pg.cast(more, "float32")
        return pg.where(on, product, -product)

    random = np.random.default_rng(3)
    samples = [
        (random.normal(size=3), random.integers(-9, 9, 3), np.bool_(i % 2), np.uint8(i))
        for i in range(9)
    ]
    fold = pg.Fold(lambda sample: dot(*sample))
    expected = [(x.astype(np.float32) @ y + m) * (1 if on else -1) for x, y, on, m in samples]
    np.testing.assert_allclose(run(fold, samples), expected, rtol=1e-5)
    assert fold.shape == (None, None, COLUMNS + 8)


def test_tables_are_int32_and_their_calls_a_power_of_two() -> None:
    fold = pg.Fold(total)
    assert fold.read([1, (2, 3)]).shape == (2, 8, COLUMNS + 2)
    assert fold.read([((1, 2), (3, (4, 5)))]).shape == (1, 16, COLUMNS + 2)
    table = fold.read([(2, 3)])
    assert table.dtype == np.int32
    assert table[0, :3, 1:].tolist() == [[0, 0, 2, 0], [0, 0, 3, 0], [1, 1, 0, 1]]
    assert not table[0, 3:].any()


def test_results_may_be_nested() -> None:
    @pg.batched
    def both(x: Any) -> Any:
        return {"up": x + 1.0, "parts": (x, [x * 2.0])}

    fold = pg.Fold(lambda x: both(x))
    result = run(fold, [1.0, 2.0])
    assert result["up"].tolist() == [2, 3]
    assert result["parts"][1][0].tolist() == [2, 4]


def test_eager_mode_computes_one_sample_with_the_same_functions() -> None:
    cells = Cells(np.random.default_rng(0))
    trees = forest(np.random.default_rng(1), 5)
    image = np.zeros((5, 6), np.float32)
    fold = pg.Fold(cells.read, inputs=1)
    state, _ = fold(fold.read(trees), image)
    with pg.eager():
        alone = [cells.read(tree, pg.constant(image[:1]))[0].numpy() for tree in trees]
        eager = fold(fold.read(trees), image)[0].numpy()
    with pg.Session(device="cpu") as session:
        joined = session.run(state)
    np.testing.assert_allclose(joined, np.concatenate(alone), atol=1e-6)
    np.testing.assert_array_equal(joined, eager)


def test_a_function_is_built_again_for_new_kinds_only() -> None:
    built = []

    @pg.batched
    def minus(a: Any) -> Any:
        return -a

    fold = pg.Fold(lambda sample: minus(total(sample[0])) if sample[1] else total(sample[0]))

    @pg.function(device="cpu")
    def values(table: Any) -> Any:
        built.append(table)
        return fold(table)

    assert values(fold.read([(1, False), ((1, 2), False)])).tolist() == [2, 5]
    assert values(fold.read([((3, 2), False), (7, False)])).tolist() == [7, 8]
    assert len(built) == 1
    assert values(fold.read([((3, 2), True), (7, False)])).tolist() == [-7, 8]
    assert values(fold.read([((3, 3), True), (7, True)])).tolist() == [-8, -8]
    assert len(built) == 2


def test_arrays_stay_valid_in_another_run_that_meets_kinds_in_another_order() -> None:
    first, second = pg.Fold(total), pg.Fold(total)
    table = first.read([(1, 2), 5])
    second.read([5])
    second.read([(1, 2)])
    with pg.Session(device="cpu") as session:
        assert session.run(second(table)).tolist() == [5, 6]


class Scaled:
    """An object without a name; only the object tells its method from that of another."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    @pg.batched
    def scaled(self, x: Any) -> Any:
        return pg.cast(x, "float32") * self.factor


def test_methods_of_two_objects_are_not_mistaken_for_each_other() -> None:
    two, ten = Scaled(2.0), Scaled(10.0)
    fold, other = (pg.Fold(lambda sample: (two, ten)[sample[0]].scaled(sample[1])) for _ in "ab")
    table = fold.read([(0, 1.0), (1, 1.0)])
    other.read([(1, 1.0), (0, 1.0)])  # meets them in the other order
    with pg.Session(device="cpu") as session:
        np.testing.assert_array_equal(session.run(other(table)), [2, 10])
    ten = Scaled(10.0)  # as in another run of the program
    later = pg.Fold(lambda sample: (two, ten)[sample[0]].scaled(sample[1]))
    later.read([(1, 1.0), (0, 1.0)])
    with pytest.raises(DataError), pg.Session(device="cpu") as session:
        session.run(later(table))


class Sums(pg.Model):
    """Sums of leaves, each with a learned value."""

    def __init__(self) -> None:
        super().__init__()
        self.values = nn.Embedding(5, 1)
        self.fold = pg.Fold(self.read)

    @pg.batched
    def leaf(self, number: Any) -> Any:
        return self.values(number)

    @pg.batched
    def node(self, a: Any, b: Any) -> Any:
        return a + b

    def read(self, tree: Any) -> Any:
        if isinstance(tree, int):
            return self.leaf(tree)
        return self.node(self.read(tree[0]), self.read(tree[1]))

    def call(self, table: Any) -> Any:
        return self.fold(table)


def sum_of(tree: Any) -> int:
    return tree if isinstance(tree, int) else sum_of(tree[0]) + sum_of(tree[1])


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_model_learns_trees_and_predicts_larger_ones(device: str) -> None:
    random = np.random.default_rng(0)
    trees = [tree if isinstance(tree, int) else tree[:2] for tree in forest(random, 200, 4)]
    trees = [_without_labels(tree) for tree in trees]
    model = Sums()
    tables = model.fold.read(trees)
    model.build(model.fold.shape, "int32")
    y = np.array([[sum_of(tree)] for tree in trees], np.float32)
    model.compile(pg.optim.Adam(0.1), loss="mse", device=device)
    history = model.fit(tables, y, batch_size=32, epochs=30, verbose=0)
    assert history.history["loss"][-1] < 1e-3
    assert list(model.named_variables) == ["embedding_1/embeddings"]
    large = [_without_labels(tree) for tree in forest(random, 9, 40)]
    predicted = model.predict(model.fold.read(large))
    np.testing.assert_allclose(predicted[:, 0], [sum_of(tree) for tree in large], atol=1.5)


def test_an_activity_regularizer_in_a_function_is_an_error() -> None:
    model = Sums()
    model.values.activity_regularizer = nn.L2(0.1)
    table = model.fold.read([1, (2, 3)])
    model.compile("sgd", "mse", device="cpu")
    with pytest.raises(GraphError, match=r"cannot leave the batched function leaf\(\)"):
        model.fit(table, np.ones((2, 1), np.float32), verbose=0)


def _without_labels(tree: Any) -> Any:
    return tree if isinstance(tree, int) else tuple(map(_without_labels, tree[:2]))


# Errors


def cyclic() -> Any:
    tree: list[Any] = [1]
    tree.append(tree)
    return tree


def endless(_: Any) -> Any:
    value = one(0)
    while True:
        value = pair(value, value)


@pg.batched
def mixing(x: Any) -> Any:
    return x - pg.mean(x, 0)


table = nn.Embedding(5, 4)


@pg.batched
def mixing_words(word: Any) -> Any:
    return pg.softmax(table(word), axis=0)


@pg.batched
def mixing_whole_numbers(x: Any) -> Any:
    return pg.cast(x, "float32") - pg.mean(pg.cast(x, "float32"))


@pg.batched
def mixing_captured(x: Any) -> Any:
    return pg.cast(pg.gather(pg.constant([1, 0, 3]), x)[::-1], "float32")


@pg.batched
def numbered(x: Any) -> Any:
    return pg.cumsum(pg.ones_like(x), axis=0)


@pg.batched
def counting(x: Any) -> Any:
    return x * pg.sum(pg.ones_like(x))


@pg.batched
def constant_rows(x: Any) -> Any:
    return pg.constant([1.0, 2.0])


@pg.batched
def random_rows(x: Any) -> Any:
    return nn.Dropout(0.5)(x, training=True)


@pg.batched
def nothing(x: Any) -> Any:
    return None


@pg.batched
def whole(x: Any) -> Any:
    return pg.cast(x, "int32")


@pg.batched
def wide(x: Any) -> Any:
    return pg.stack([x, x], 1)


@pg.batched
def rows(text: str) -> Any:
    return pg.constant([text == "a"])


@pg.batched
def tuple_of(x: Any) -> Any:
    return x, x


def mixed(taken: Any) -> Any:
    return lambda sample: named(taken(1.0) if sample else one(1.0), "tanh")


CASES: list[tuple[Any, Any, type[PlaygradError], str]] = [
    (total, [cyclic()], GraphError, "sample 0 is nested deeper than .* or contains itself"),
    (endless, [0], GraphError, "more than 1000 calls deep. Does the structure contain itself?"),
    (lambda _: 3, [0], GraphError, "must return the value of a batched function, but for sample 0"),
    (lambda _: rows("a"), [0], GraphError, "without a number, an array or a value"),
    (lambda _: one({}), [0], DTypeError, r"one\(\) got dict {}, which is neither"),
    (lambda _: one(1 << 40), [0], DTypeError, "does not fit int32"),
    (lambda _: one(pg.constant(1.0)), [0], GraphError, "got the tensor .* while samples are read"),
    (lambda _: "a" if one(1) else "b", [0], GraphError, "Python cannot branch on it"),
    (lambda _: mixing(1.0), [0], GraphError, r"mixing\(\) mixes the rows of several calls"),
    (lambda _: mixing_words(1), [0], GraphError, r"mixing_words\(\) mixes the rows"),
    (lambda _: mixing_whole_numbers(1), [0], GraphError, "mixes the rows of several calls"),
    (lambda _: mixing_captured(1), [0], GraphError, "mixes the rows of several calls"),
    (lambda _: numbered(1.0), [0], GraphError, "mixes the rows of several calls"),
    (lambda _: counting(1.0), [0], GraphError, "mixes the rows of several calls"),
    (lambda _: one(1e300), [0], DTypeError, r"one\(\) got 1e\+300, which does not fit float32"),
    (lambda _: one(np.array([1e39])), [0], DTypeError, "which does not fit float32"),
    (lambda _: constant_rows(1.0), [0], ShapeError, "must return a row for each call"),
    (lambda _: random_rows(1.0), [0], GraphError, "must not draw random numbers"),
    (lambda _: nothing(1.0), [0], GraphError, "must return a tensor"),
    (mixed(whole), [0, 1], DTypeError, r"values of one\(\) and whole\(\).*float32 and int32"),
    (mixed(wide), [0, 1], ShapeError, r"named\(\) takes values of one\(\) and wide\(\)"),
    (mixed(tuple_of), [0, 1], GraphError, "must have the structure"),
    (lambda s: one(s) if s else wide(1.0), [0, 1], ShapeError, "which return the shapes"),
]


@pytest.mark.parametrize(("read", "samples", "error", "words"), CASES)
def test_what_cannot_be_joined_is_an_error(
    read: Any, samples: Any, error: type[PlaygradError], words: str
) -> None:
    fold = pg.Fold(read)
    with pytest.raises(error, match=f"(?s){words}") as caught:
        fold(fold.read(samples))
    assert type(caught.value) is error


def test_values_of_another_sample_or_fold_are_errors() -> None:
    kept: list[Any] = []

    def keeping(sample: Any) -> Any:
        kept.append(one(sample))
        return pair(kept[0], kept[-1])

    with pytest.raises(GraphError, match="a value of another sample, or of another Fold"):
        pg.Fold(keeping).read([1, 2])
    with pytest.raises(GraphError, match="returned a value of another sample"):
        pg.Fold(lambda _: kept[0]).read([1])
    with pytest.raises(GraphError, match="a Fold that no longer reads samples"):
        pair(kept[0], kept[0])


def test_a_fold_within_a_fold_is_its_own() -> None:
    inner = pg.Fold(total)

    def outer(sample: Any) -> Any:
        value = one(sample)
        inner.read([sample])
        return pair(value, one(sample))

    assert run(pg.Fold(outer), [3]).tolist() == [8]


def test_an_error_while_reading_leaves_the_fold_usable() -> None:
    fold = pg.Fold(total)
    with pytest.raises(DTypeError):
        fold.read([(1, 2), (1, (2, ({}, 3)))])
    assert run(fold, [(1, 2)]).tolist() == [5]


def test_bounds_and_arguments_are_checked() -> None:
    with pytest.raises(GraphError, match=re.escape("max_depth must be in [0, 1000], got 1001")):
        pg.Fold(total, max_depth=1001)
    with pytest.raises(GraphError, match="of 4 calls"):
        pg.Fold(total, max_calls=4).read([((1, 2), 3)])
    with pytest.raises(GraphError, match="has not read samples"):
        pg.Fold(total)(np.zeros((1, 8, 5), np.int32))
    fold = pg.Fold(lambda tree, x: pair(one(tree), x), inputs=1)
    table = fold.read([1, 2])
    with pytest.raises(GraphError, match="has 1 inputs, got 0"):
        fold(table)
    with pytest.raises(ShapeError, match="3 rows for 2 samples"):
        fold(table, np.zeros(3, np.float32))
    with pytest.raises(ShapeError, match="must have the shape"):
        pg.Fold(total).read([(1, 2)])
        fold(table[0], np.zeros(2, np.float32))


def test_a_device_scope_of_a_gpu_is_an_error_that_says_why() -> None:
    fold = pg.Fold(total)
    table = fold.read([(1, 2)])
    with pg.device("gpu"):
        result = fold(table)
    with (
        pg.Session(device="gpu") as session,
        pytest.raises(UnsupportedOpError, match="how many calls are joined is known only when"),
    ):
        session.run(result)


def test_an_error_that_the_reader_catches_leaves_no_numbers_behind() -> None:
    def read(sample: Any) -> Any:
        try:
            return pair(one(sample), one({}))
        except DTypeError:
            pass
        try:
            named(one(sample), 5, {})
        except DTypeError:
            return pair(one(sample), one(sample))

    assert run(pg.Fold(read), [2, 3]).tolist() == [6, 8]


def test_a_variable_that_a_function_writes_is_an_error() -> None:
    counter = pg.Variable(0.0)

    @pg.batched
    def counting(x: Any) -> Any:
        counter.assign(counter + 1.0)
        return x

    fold = pg.Fold(lambda x: counting(x))
    with pytest.raises(GraphError, match=r"counting\(\) must not write the variable"):
        fold(fold.read([1.0]))


def test_second_derivatives_and_operations_without_gradient_are_errors() -> None:
    x = pg.Variable(np.ones(1, np.float32))
    fold = pg.Fold(lambda _, v: pair(v, v), inputs=1)
    grad = pg.gradients(fold(fold.read([0]), x), [x])[0]
    with pytest.raises(GraphError, match="cannot be differentiated again"):
        pg.gradients(grad, [x])


def test_new_kinds_are_an_error_in_a_graph_that_was_built_before() -> None:
    fold = pg.Fold(total)
    table = pg.placeholder("int32", (None, None, COLUMNS + 2))
    fold.read([1])
    result = fold(pg.identity(table))
    with (
        pg.Session(device="cpu") as session,
        pytest.raises(DataError, match="a call that this graph does not have"),
    ):
        session.run(result, {table: fold.read([(1, 2)])})
