"""Array operations composed from others, compared with NumPy: known shapes, unknown, on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.contract.interpreter import value
from playgrad.errors import DataError, DTypeError, ShapeError

X = np.random.default_rng(0).uniform(-2, 2, (3, 4, 6)).astype(np.float32)
INDICES = np.array([[2, 0, -1], [1, 1, 2]], np.int32)
PLACES = np.array([[0, 1], [2, 3], [2, 3]], np.int32)

ONES: dict[str, Any] = {"constant_values": 1}

# Functions of one tensor, in playgrad and in NumPy.
SAME: list[tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = [
    ("tile", lambda x: pg.tile(x, [2, 1, 3]), lambda x: np.tile(x, [2, 1, 3])),
    ("tile short", lambda x: pg.tile(x, 2), lambda x: np.tile(x, 2)),
    ("tile long", lambda x: pg.tile(x, [2, 1, 3, 1]), lambda x: np.tile(x, [2, 1, 3, 1])),
    ("tile 0", lambda x: pg.tile(x, [1, 0, 2]), lambda x: np.tile(x, [1, 0, 2])),
    ("repeat", lambda x: pg.repeat(x, 3, axis=1), lambda x: np.repeat(x, 3, axis=1)),
    ("repeat flat", lambda x: pg.repeat(x, 2), lambda x: np.repeat(x, 2)),
    ("repeat each", lambda x: pg.repeat(x, [2, 0, 1, 3], 1), lambda x: x.repeat([2, 0, 1, 3], 1)),
    ("stack", lambda x: pg.stack([x, x], -1), lambda x: np.stack([x, x], -1)),
    ("concatenate", lambda x: pg.concatenate([x, x]), lambda x: np.concatenate([x, x])),
    ("unstack", lambda x: pg.unstack(x, axis=1)[2], lambda x: x[:, 2]),
    ("split", lambda x: pg.split(x, 3, axis=-1)[1], lambda x: np.split(x, 3, axis=-1)[1]),
    ("split at", lambda x: pg.split(x, [1, 9], 1)[1], lambda x: np.split(x, [1, 9], 1)[1]),
    ("split sizes", lambda x: pg.split(x, sizes=[1, 3], axis=1)[1], lambda x: x[:, 1:]),
    ("flip", pg.flip, np.flip),
    ("flip axes", lambda x: pg.flip(x, [0, -1]), lambda x: np.flip(x, (0, -1))),
    ("roll", lambda x: pg.roll(x, 5), lambda x: np.roll(x, 5)),
    ("roll axes", lambda x: pg.roll(x, [1, -2], [0, 2]), lambda x: np.roll(x, [1, -2], [0, 2])),
    ("roll twice", lambda x: pg.roll(x, 1, [1, 1]), lambda x: np.roll(x, 1, (1, 1))),
    ("moveaxis", lambda x: pg.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
    ("moveaxes", lambda x: pg.moveaxis(x, [0, 1], [1, 0]), lambda x: x.transpose(1, 0, 2)),
    ("swapaxes", lambda x: pg.swapaxes(x, 0, -1), lambda x: np.swapaxes(x, 0, -1)),
    ("take", lambda x: pg.take(x, INDICES, axis=1), lambda x: np.take(x, INDICES, axis=1)),
    ("take flat", lambda x: pg.take(x, INDICES), lambda x: np.take(x, INDICES)),
    ("gather_nd", lambda x: pg.gather_nd(x, PLACES), lambda x: x[PLACES[:, 0], PLACES[:, 1]]),
    ("sort", pg.sort, np.sort),
    ("sort down", lambda x: pg.sort(x, 1, True), lambda x: -np.sort(-x, 1)),
    ("top_k", lambda x: pg.top_k(x, 4)[0], lambda x: -np.sort(-x)[..., :4]),
    ("triu", lambda x: pg.triu(x, 1), lambda x: np.triu(x, 1)),
    ("tril", lambda x: pg.tril(x, -1), lambda x: np.tril(x, -1)),
    ("pad", lambda x: pg.pad(x, 2), lambda x: np.pad(x, 2)),
    ("pad 2", lambda x: pg.pad(x, (1, 0), "constant", 1), lambda x: np.pad(x, (1, 0), **ONES)),
    *(
        (
            f"pad {mode}",
            lambda x, mode=mode: pg.pad(x, [[0, 0], [2, 1], [7, 0]], mode),
            lambda x, mode=mode: np.pad(x, [[0, 0], [2, 1], [7, 0]], mode),
        )
        for mode in ("edge", "reflect", "symmetric", "wrap")
    ),
    ("gather_nd 1", lambda x: pg.gather_nd(x, PLACES[:, :1]), lambda x: x[PLACES[:, 0]]),
]  # fmt: skip
each = pytest.mark.parametrize(
    ("ours", "theirs"), [pair[1:] for pair in SAME], ids=[name for name, *_ in SAME]
)


@each
def test_operations_on_known_shapes_match_numpy(ours: Any, theirs: Any) -> None:
    y = ours(pg.constant(X))
    np.testing.assert_array_equal(value(y), theirs(X))
    assert y.shape == theirs(X).shape


@each
def test_operations_with_an_unknown_batch_match_numpy(ours: Any, theirs: Any) -> None:
    x = pg.placeholder("float32", [None, 4, 6])
    np.testing.assert_array_equal(value(ours(x), {x: X}), theirs(X))


@pytest.mark.gpu
def test_values_and_gradients_on_a_gpu_are_correct() -> None:
    x = pg.placeholder("float32", [None, 4, 6])
    results = [ours(x) for _, ours, _ in SAME]
    grads = [pg.gradients(pg.reduce_sum(y * y), x)[0] for y in results]
    with pg.Session(device="gpu:0") as session:
        values, slopes = session.run([results, grads], {x: X})
    for (name, _, theirs), actual, grad, slope in zip(SAME, values, grads, slopes, strict=True):
        np.testing.assert_array_equal(actual, theirs(X), err_msg=name)
        np.testing.assert_allclose(slope, value(grad, {x: X}), rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("device", ["cpu:0", pytest.param("gpu:0", marks=pytest.mark.gpu)])
def test_operations_accept_zero_rows(device: str) -> None:
    x = pg.placeholder("float32", [None, 4, 6])
    empty = X[:0]
    pairs = [(o, t) for name, o, t in SAME if name not in ("take flat", "gather_nd", "gather_nd 1")]
    results = [ours(x) for ours, _ in pairs]
    grads = [pg.gradients(pg.reduce_sum(y), x)[0] for y in results]
    with pg.Session(device=device) as session:
        values, slopes = session.run([results, grads], {x: empty})
    for (_, theirs), actual, slope in zip(pairs, values, slopes, strict=True):
        np.testing.assert_array_equal(actual, theirs(empty))
        assert slope.shape == empty.shape


def test_tile_and_repeat_accept_unknown_dimensions() -> None:
    x = pg.placeholder("float32", [None, None, None])
    y = pg.tile(pg.repeat(x, 2, axis=1), [1, 2, 2])
    expected = np.tile(np.repeat(X, 2, axis=1), [1, 2, 2])
    np.testing.assert_array_equal(value(y, {x: X}), expected)


def test_equal_elements_keep_their_order() -> None:
    x = np.array([[1, 3, 3, np.nan], [2, 2, 2, 2]], np.float32)
    values, indices = pg.top_k(x, 3)
    np.testing.assert_array_equal(value(indices), [[3, 1, 2], [0, 1, 2]])
    np.testing.assert_array_equal(value(values), [[np.nan, 3, 3], [2, 2, 2]])
    np.testing.assert_array_equal(value(pg.argsort(x)), [[0, 1, 2, 3], [0, 1, 2, 3]])


@pytest.mark.gpu
@pytest.mark.parametrize("size", [255, 257, 5000])
def test_long_rows_are_sorted_on_a_gpu(size: int) -> None:
    x = np.random.default_rng(size).integers(-50, 50, (3, size)).astype(np.float32)
    there = pg.Variable(x)  # a constant would be sorted by the compiler
    with pg.Session(device="gpu:0") as session:
        down, up = session.run([pg.argsort(there, descending=True), pg.sort(there)])
    np.testing.assert_array_equal(down, np.argsort(-x, kind="stable"))
    np.testing.assert_array_equal(up, np.sort(x))


def test_scatter_add_is_an_addition_at_indices() -> None:
    updates = X[:, :3] * 0.5
    indices = np.array([3, 0, 3], np.int32)
    expected = X.copy()
    np.add.at(expected, (slice(None), indices), updates)
    y = pg.scatter_add(pg.constant(X), indices, updates, axis=1)
    np.testing.assert_allclose(value(y), expected, rtol=1e-6)
    counts = pg.scatter_add(pg.zeros(5, "int32"), [1, 1, 4], pg.ones(3, "int32"))
    np.testing.assert_array_equal(value(counts), [0, 2, 0, 0, 1])
    with pytest.raises(DataError, match=r"must lie in \[0, 5\), but there is -1"):
        value(pg.scatter_add(pg.zeros(5), [-1], pg.ones(1)))


@pytest.mark.gpu
@pytest.mark.parametrize("count", [40, 5000])
def test_many_updates_are_added_in_their_order_on_a_gpu(count: int) -> None:
    """Whether the indices are searched or sorted."""
    random = np.random.default_rng(count)
    indices = random.integers(0, 40, count).astype(np.int32)
    updates = random.normal(size=(count, 3)).astype(np.float32)
    expected = np.zeros((40, 3), np.float32)
    np.add.at(expected, indices, updates)
    computed = pg.Variable(indices, dtype="int32", trainable=False)
    with pg.Session(device="gpu:0") as session:
        result = session.run(pg.scatter_add(pg.zeros([40, 3]), computed, updates))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["float32", "float16", "int32", "uint32", "uint8", "int8", "bool"])
def test_computed_indices_take_elements_or_are_refused_on_a_gpu(kind: str) -> None:
    """Whether elements are copied one by one or as words."""
    random = np.random.default_rng(0)
    for indices in ([2, 0, 1], [2, -1, 0], [0, 3, 1], [2**31 - 1], [-(2**31)]):
        computed = pg.Variable(np.array(indices, np.int32), dtype="int32", trainable=False)
        for width in (1, 3, 4):
            rows = random.integers(0, 2, (3, width)).astype(kind)
            table = pg.constant(rows, kind)
            several = pg.reshape(computed, [-1, 1]) + pg.zeros([1, width], "int32")
            with pg.Session(device="gpu:0") as session:
                for result in (
                    pg.gather(table, computed),
                    pg.take_along_axis(table, several, axis=0),
                ):
                    if indices == [2, 0, 1]:
                        np.testing.assert_array_equal(session.run(result), rows[indices])
                        continue
                    with pytest.raises(DataError, match=r"must lie in \[0, 3\), but there is"):
                        session.run(result)


@pytest.mark.parametrize(
    ("ours", "expected"),
    [
        (lambda: pg.zeros([2, 3]), np.zeros((2, 3), np.float32)),
        (lambda: pg.ones(4, "int32"), np.ones(4, np.int32)),
        (lambda: pg.full((2, 0), 7.5), np.full((2, 0), 7.5, np.float32)),
        (lambda: pg.full([], True, "bool"), np.full((), True)),
        (lambda: pg.eye(3), np.eye(3, dtype=np.float32)),
        (lambda: pg.eye(2, 4, 1, "int32"), np.eye(2, 4, 1, np.int32)),
        (lambda: pg.eye(4, 3, -2), np.eye(4, 3, -2, np.float32)),
        (lambda: pg.eye(0), np.eye(0, dtype=np.float32)),
        (lambda: pg.arange(5), np.arange(5, dtype=np.int32)),
        (lambda: pg.range(2, 9, 3), np.arange(2, 9, 3, dtype=np.int32)),
        (lambda: pg.arange(3, 0, -0.5), np.arange(3, 0, -0.5, dtype=np.float32)),
        (lambda: pg.arange(0), np.arange(0, dtype=np.int32)),
        (lambda: pg.arange(3, dtype="uint8"), np.arange(3, dtype=np.uint8)),
        (lambda: pg.linspace(-1, 2, 7), np.linspace(-1, 2, 7, dtype=np.float32)),
        (lambda: pg.linspace(0, 1, 4, False), np.linspace(0, 1, 4, False, dtype=np.float32)),
    ],
)
def test_new_tensors_have_their_values_and_types(ours: Callable[[], Any], expected: Any) -> None:
    actual = value(ours())
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda: pg.tile(X, [-1]), ShapeError, "must be ≥ 0, got -1"),
        (lambda: pg.repeat(X, [1, 2], 1), ShapeError, "2 repeats do not fit axis 1"),
        (lambda: pg.stack([]), ShapeError, "at least one"),
        (lambda: pg.stack([X, X[0]]), ShapeError, r"\(3, 4, 6\) and \(4, 6\) differ"),
        (lambda: pg.split(X, 4), ShapeError, "cannot be cut into 4 equal parts.*sizes="),
        (lambda: pg.split(X, sizes=[1, 1]), ShapeError, "do not add up to axis 0"),
        (lambda: pg.split(X, 3, sizes=[3]), ShapeError, "either"),
        (lambda: pg.unstack(X, 2), ShapeError, "into 2 tensors"),
        (lambda: pg.roll(X, [1, 2, 3], [0, 1]), ShapeError, "3 shifts do not fit 2 axes"),
        (lambda: pg.moveaxis(X, [0, 0], [1, 2]), ShapeError, "cannot move"),
        (lambda: pg.arange(0, 3, 0), ShapeError, "step must not be 0"),
        (lambda: pg.arange(pg.constant(3)), DTypeError, "takes numbers, not Tensor"),
        (lambda: pg.linspace(0, 1, -1), ShapeError, "num must be ≥ 0"),
        (lambda: pg.pad(X, [[1, 1]] * 2), ShapeError, "one pair of numbers"),
        (lambda: pg.pad(X, -1), ShapeError, "one pair of numbers ≥ 0"),
        (
            lambda: pg.pad(np.int8([1]), 1, constant_values=200),
            DTypeError,
            "pad with 200 takes int8",
        ),
        (lambda: pg.pad(X, 1, "mean"), ShapeError, "must be one of constant, edge, reflect"),
        (lambda: pg.pad(X, 1, "edge", 3.0), ShapeError, "no meaning for mode 'edge'"),
        (lambda: pg.pad(X[:0], 1, "edge"), ShapeError, "whose size is zero"),
        (lambda: pg.top_k(X, 7), ShapeError, r"k must lie in \[0, 6\]"),
        (lambda: pg.triu(X[0, 0]), ShapeError, "at least two dimensions"),
        (lambda: pg.gather_nd(X, [[0, 0, 0, 0]]), ShapeError, "do not fit"),
        (lambda: value(pg.gather_nd(X, [[0, 4]])), DataError, "there is -1"),
        (lambda: pg.scatter_add(X, [0], X), ShapeError, "shape of the indices"),
        (lambda: value(pg.take(X, [3], 0)), DataError, r"\[0, 3\), but there is 3"),
    ],
)
def test_wrong_arguments_are_refused(
    wrong: Callable[[], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        wrong()


MOVES: dict[str, Callable[[Any], Any]] = {
    "transpose": lambda x: pg.transpose(x),
    "concat": lambda x: pg.concat([x, x[:2]], axis=0),
    "stack": lambda x: pg.stack([x, x], axis=1),
    "split": lambda x: pg.split(x, 5, axis=1)[3],
    "slice": lambda x: x[1:, 4:0:-2],
    "pad": lambda x: pg.pad(x, 1, constant_values=100),
    "reflect": lambda x: pg.pad(x, 2, mode="reflect"),
    "tile": lambda x: pg.tile(x, (1, 3)),
    "repeat": lambda x: pg.repeat(x, 3, axis=1),
    "roll": lambda x: pg.roll(x, 2, axis=1),
    "where": lambda x: pg.where(pg.greater(x, 7), x, 100),
    "take": lambda x: pg.take(x, [2, 0, 2], axis=1),
    "triu": lambda x: pg.triu(x),
    "sort": lambda x: pg.sort(x, axis=0, descending=True),
    "one_hot": lambda x: pg.one_hot(pg.cast(x, "int32"), 9, x.dtype),
    "chain": lambda x: pg.transpose(pg.reshape(pg.pad(x, [[0, 1], [0, 0]]), [5, 4])) + 100,
}


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("name", MOVES)
def test_a_gpu_moves_bytes(name: str, kind: str) -> None:
    """Four of them share a word: rows of 5, and results of sizes that 4 does not divide."""
    pixels = (np.arange(15, dtype=np.uint8).reshape(3, 5) * 17).view(kind)
    x = pg.placeholder(kind, [3, 5])
    result = MOVES[name](x)
    with pg.Session(device="cpu") as cpu, pg.Session(device="gpu") as gpu:
        expected = cpu.run(result, {x: pixels})
        actual = gpu.run(result, {x: pixels})
    assert actual.dtype == kind
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.gpu
def test_a_kernel_of_the_program_reads_and_writes_bytes() -> None:
    darker = pg.register_op(
        "darker_bytes",
        reference=lambda x, *, by=90: np.maximum(x, by) - np.uint8(by),
        shape=lambda x, *, by: x,
        dtypes={"x": "uint8"},
        wgsl="fn element(i: u32) -> u32 { return max(x[i], ${by}u) - ${by}u; }",
        samples=[(np.arange(7, dtype=np.uint8) * 40,)],
    )
    assert pg.check_op(darker), pg.check_op(darker)
