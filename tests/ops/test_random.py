"""Random numbers, dropout and batch indices: determined by seed and step."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad.contract.interpreter import value
from playgrad.errors import ShapeError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.ops import (
    batch_indices,
    constant,
    dropout,
    placeholder,
    random_bernoulli,
    random_categorical,
    random_normal,
    random_permutation,
    random_uniform,
    truncated_normal,
)
from playgrad.runtime.session import Session


def test_random_numbers_have_their_distribution_and_bounds() -> None:
    plain = value(random_normal([50, 200], mean=3.0, stddev=2.0, counter=0))
    assert abs(plain.mean() - 3.0) < 0.06 and abs(plain.std() - 2.0) < 0.06
    assert plain.dtype == np.float32
    bounded = value(truncated_normal([50, 200], mean=3.0, stddev=2.0, counter=0))
    assert np.abs(bounded - 3.0).max() <= 4.0
    assert abs(bounded.std() - 2.0 * 0.8796) < 0.03  # of a normal truncated at two deviations
    assert np.count_nonzero(np.abs(bounded - 3.0) == 4.0) == 0
    flat = value(random_uniform([10_000], -2.0, 6.0, counter=0))
    assert -2.0 <= flat.min() < -1.9 and 5.9 < flat.max() < 6.0


def test_seeds_and_counters_determine_the_numbers() -> None:
    first = random_normal([4], counter=0)
    second = random_normal([4], counter=0)
    assert not np.array_equal(value(first), value(second))
    again = random_normal([4], seed=first.node.attrs["seed"][1], counter=0)
    np.testing.assert_array_equal(value(first), value(again))
    with Graph(seed=2).as_default():
        assert not np.array_equal(value(random_normal([4], counter=0)), value(first))


def test_every_run_draws_anew_and_the_same_in_a_new_session() -> None:
    x = constant(np.ones(1000, np.float32))
    y = dropout(x, 0.25)
    runs = []
    for _ in range(2):
        with Session(device="cpu") as session:
            runs.append([session.run(y) for _ in range(3)])
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0][0], runs[0][1])
    passed = runs[0][0][runs[0][0] != 0]
    assert abs(len(passed) - 750) < 60
    np.testing.assert_allclose(passed, 1 / 0.75, rtol=1e-6)


def test_the_mask_of_dropout_is_the_same_backward() -> None:
    x = placeholder("float32", [500])
    y = dropout(x, 0.5)
    (grad,) = gradients(y, x)
    with Session(device="cpu") as session:
        forward, backward = session.run([y, grad], {x: np.ones(500, np.float32)})
    np.testing.assert_array_equal(forward, backward)


def test_an_epoch_holds_every_example_once() -> None:
    step = placeholder("uint32", [])
    indices = batch_indices(step, count=100, batch=25)
    epochs = [
        np.concatenate([value(indices, {step: np.uint32(s)}) for s in range(e, e + 4)])
        for e in (0, 4)
    ]
    for epoch in epochs:
        assert sorted(epoch.tolist()) == list(range(100))
    assert epochs[0].tolist() != epochs[1].tolist()
    with pytest.raises(ShapeError, match="batches of 0 out of 100 samples"):
        batch_indices(step, 100, 0)


@pytest.mark.parametrize(("low", "high"), [(1000.0, 1001.0), (-5001.0, -5000.0), (0.0, 0.1)])
def test_the_upper_bound_is_not_drawn(low: float, high: float) -> None:
    drawn = value(random_uniform([200_000], low, high, counter=0))
    assert np.float32(low) <= drawn.min() and drawn.max() < np.float32(high)


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_random_decisions_have_their_probabilities(device: str) -> None:
    logits = np.log(np.float32([[0.1, 0.2, 0.7], [0.5, 0.5, 1.0]])) + np.float32([[3], [0]])
    logits[1, 2] = -np.inf
    rows = placeholder("float32", [None, 3])
    classes = random_categorical(rows, 4000, counter=0)
    coins = random_bernoulli((4000, 2), p=[0.1, 0.8], counter=0)
    order = random_permutation(100, counter=0)
    shuffled = random_permutation(np.arange(20).reshape(2, 10), axis=1, counter=0)
    with Session(device=device) as session:
        drawn, coins, order, shuffled = session.run(
            [classes, coins, order, shuffled], {rows: logits}
        )
    assert drawn.shape == (2, 4000) and drawn.dtype == order.dtype == np.int32
    shares = [np.bincount(row, minlength=3) / 4000 for row in drawn]
    np.testing.assert_allclose(shares, [[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]], atol=0.03)
    np.testing.assert_allclose(coins.mean(0), [0.1, 0.8], atol=0.03)
    assert set(np.unique(coins)) == {0.0, 1.0} and coins.dtype == np.float32
    assert sorted(order) == list(range(100)) and list(order) != list(range(100))
    np.testing.assert_array_equal(shuffled[1], shuffled[0] + 10)
    assert sorted(shuffled[0]) == list(range(10))


def test_random_decisions_check_their_shapes() -> None:
    with pytest.raises(ShapeError, match=r"\(batch, classes\).*got \(3,\)"):
        random_categorical(np.zeros(3, np.float32), 2)
    with pytest.raises(ShapeError, match=r"do not broadcast to \(2,\)"):
        random_bernoulli((2,), np.zeros((3, 2), np.float32))
    with pytest.raises(ShapeError, match="size of axis 0"):
        random_permutation(placeholder("float32", [None, 2]))
