"""Rounding in training, as integer arithmetic will round."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

X = np.array([[-1.0, 0.0, 0.4], [0.1, 0.5, 3.0]], np.float32)


def model(**options: float) -> pg.Sequential:
    layers = pg.Sequential([nn.FakeQuantize(**options), nn.Dense(3, kernel_initializer="identity")])
    layers.build((3,))
    layers.compile(pg.optim.SGD(0.0), "mse", device="cpu")
    return layers


def range_of(layers: pg.Sequential) -> list[float]:
    low, high, observed = layers.layers[0].get_weights()
    assert observed == 1
    return [float(low), float(high)]


def test_the_first_batch_sets_the_range_and_later_ones_move_it() -> None:
    layers = model(momentum=0.9)
    assert np.array_equal(layers.predict(X), X)
    layers.train_on_batch(X, X)
    assert range_of(layers) == [-1.0, 3.0]
    layers.train_on_batch(3 * X, X)
    assert range_of(layers) == pytest.approx([-1.2, 3.6])


def test_a_frozen_range_stays() -> None:
    layers = model()
    layers.train_on_batch(X, X)
    layers.layers[0].trainable = False
    layers.train_on_batch(9 * X, X)
    assert range_of(layers) == [-1.0, 3.0]


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_results_are_integers_times_a_scale_and_zero_is_exact(bits: int) -> None:
    layers = model(bits=bits)
    layers.train_on_batch(X, X)
    scale = 4 / (2**bits - 1)
    y = layers.predict(np.linspace(-5, 5, 3000, dtype=np.float32).reshape(1000, 3))
    steps = y / scale
    assert np.allclose(steps, np.round(steps), atol=1e-4)
    assert len(np.unique(np.round(steps))) == 2**bits
    assert y.max() - y.min() == pytest.approx(4.0, rel=1e-5)
    assert not layers.predict(np.zeros((1, 3), np.float32)).any()
    inside = np.clip(np.linspace(-0.8, 2.8, 30, dtype=np.float32).reshape(10, 3), y.min(), y.max())
    assert np.abs(layers.predict(inside) - inside).max() <= scale / 2 + 1e-6


def test_the_gradient_passes_within_the_range_only() -> None:
    graph = pg.Graph()
    with graph.as_default():
        x = pg.placeholder("float32", (4,))
        y = pg.fake_quantize(x, 0.5, 0.0, low=-2, high=1)
        (gradient,) = pg.gradients(pg.reduce_sum(y * np.arange(1, 5, dtype=np.float32)), [x])
    values = np.array([-9.0, -1.1, 0.6, 0.8], np.float32)
    with pg.Session(graph, "cpu") as session:
        rounded, slopes = session.run([y, gradient], {x: values})
    assert rounded.tolist() == [-1.0, -1.0, 0.5, 0.5]
    assert slopes.tolist() == [0.0, 2.0, 3.0, 0.0]


@pytest.mark.parametrize(("bits", "words"), [(1, "2 to 8"), (9, "2 to 8"), (0, "at least 1")])
def test_bits_have_bounds(bits: int, words: str) -> None:
    with pytest.raises(pg.ShapeError, match=words):
        nn.FakeQuantize(bits)


def test_constant_and_empty_ranges_are_exact() -> None:
    layers = model()
    zeros = np.zeros((2, 3), np.float32)
    layers.train_on_batch(zeros, zeros)
    assert np.array_equal(layers.predict(zeros), zeros)
    layers = model()
    fives = np.full((2, 3), 5, np.float32)
    layers.train_on_batch(fives, fives)
    assert np.array_equal(layers.predict(fives), fives)
