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
    random_normal,
    random_uniform,
    truncated_normal,
)
from playgrad.runtime.session import Session


def test_normal_numbers_and_their_bounds() -> None:
    plain = value(random_normal([50, 200], mean=3.0, stddev=2.0, counter=0))
    assert abs(plain.mean() - 3.0) < 0.06 and abs(plain.std() - 2.0) < 0.06
    assert plain.dtype == np.float32
    bounded = value(truncated_normal([50, 200], mean=3.0, stddev=2.0, counter=0))
    assert np.abs(bounded - 3.0).max() <= 4.0
    assert abs(bounded.std() - 2.0 * 0.8796) < 0.03  # of a normal truncated at two deviations
    assert np.count_nonzero(np.abs(bounded - 3.0) == 4.0) == 0
    flat = value(random_uniform([10_000], -2.0, 6.0, counter=0))
    assert -2.0 <= flat.min() < -1.9 and 5.9 < flat.max() < 6.0


def test_seeds_and_counters_decide() -> None:
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
