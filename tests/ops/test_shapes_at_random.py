"""Random shapes against NumPy: broadcasting, reductions and moves, with zero-size dimensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, mutually_broadcastable_shapes

import playgrad as pg
from playgrad.contract.interpreter import evaluate
from tests.sweeps import examples

Array = np.ndarray[Any, Any]
SHAPES = array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4)
PAIRS = mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=0, max_side=4)
BINARY: dict[str, tuple[Callable[..., pg.Tensor], Callable[..., Array]]] = {
    "add": (pg.add, np.add),
    "maximum": (pg.maximum, np.maximum),
    "less": (pg.less, np.less),
    "where": (lambda a, b: pg.where(a > 0.0, a, b), lambda a, b: np.where(a > 0, a, b)),
}
MOVES: dict[str, tuple[Callable[..., pg.Tensor], Callable[..., Array]]] = {
    "transpose": (pg.transpose, np.transpose),
    "flip": (lambda x: pg.flip(x, -1), lambda x: np.flip(x, -1)),
    "tile": (lambda x: pg.tile(x, 2), lambda x: np.tile(x, 2)),
    "concat": (lambda x: pg.concat([x, x], 0), lambda x: np.concatenate([x, x])),
    "slice": (lambda x: x[1:, ...], lambda x: x[1:, ...]),
    "pad": (lambda x: pg.pad(x, 1), lambda x: np.pad(x, 1)),
    "expand": (lambda x: pg.expand_dims(x, 1), lambda x: np.expand_dims(x, 1)),
    "cumsum": (lambda x: pg.cumsum(x, 0), lambda x: np.cumsum(x, 0)),
    "sort": (pg.sort, np.sort),
}


def values(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)


def check(build: Callable[..., pg.Tensor], expected: Array, *arrays: Array) -> None:
    with pg.Graph().as_default():
        inputs = [pg.placeholder("float32", array.shape) for array in arrays]
        y = build(*inputs)
    assert y.shape == expected.shape
    (result,) = evaluate([y], dict(zip(inputs, arrays, strict=True)))
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", BINARY)
@examples(12)
@given(pair=PAIRS)
def test_broadcasting_random_shapes_matches_numpy(name: str, pair: Any) -> None:
    ours, theirs = BINARY[name]
    a, b = (values(shape, seed) for seed, shape in enumerate(pair.input_shapes))
    check(ours, theirs(a, b), a, b)


@pytest.mark.parametrize("name", ["sum", "prod"])
@examples(15)
@given(shape=SHAPES, data=st.data(), keepdims=st.booleans())
def test_reductions_of_random_shapes_match_numpy(
    name: str, shape: tuple[int, ...], data: st.DataObject, keepdims: bool
) -> None:
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    x = values(shape, 3)
    expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
    check(lambda t: getattr(pg, name)(t, axis, keepdims), np.asarray(expected), x)


@pytest.mark.parametrize("name", MOVES)
@examples(10)
@given(shape=SHAPES)
def test_unary_operations_on_random_shapes_match_numpy(name: str, shape: tuple[int, ...]) -> None:
    ours, theirs = MOVES[name]
    x = values(shape, 4)
    check(ours, theirs(x), x)


@pytest.mark.gpu
@examples(5)
@given(pair=PAIRS)
def test_random_shapes_are_correct_on_a_gpu(pair: Any) -> None:
    a, b = (values(shape, seed) for seed, shape in enumerate(pair.input_shapes))
    with (graph := pg.Graph()).as_default():
        inputs = [pg.placeholder("float32", array.shape) for array in (a, b)]
        total = pg.add(*inputs)
        results = [total, pg.sum(total), pg.transpose(total)]
    with pg.Session(graph, device="gpu:0") as session:
        found = session.run(results, dict(zip(inputs, (a, b), strict=True)))
    expected = [a + b, np.sum(a + b), np.transpose(a + b)]
    for result, array in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, array, rtol=1e-5, atol=1e-5)
