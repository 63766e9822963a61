"""Layers that apply a function: `Lambda`, `Dot`, and the random slopes of `RReLU`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn.masks import mask_of, set_mask
from tests.nn.small_models import X, Y

Array = np.ndarray[Any, Any]


def test_a_lambda_trains_like_the_operations_it_stands_for() -> None:
    def scaled(x: pg.Tensor, factor: float, training: bool) -> pg.Tensor:
        return x * (factor if training else 1.0)

    losses, results = [], []
    for first in (nn.Lambda(scaled, arguments={"factor": 1.0}), nn.Activation("linear")):
        with pg.Graph(seed=1).as_default():
            model = pg.Sequential([first, nn.Dense(1)])
            model.compile("sgd", "mse", device="cpu")
            losses.append(model.fit(X, Y, 10, 2, 0).losses)
            results.append(model.predict(X))
            model.close()
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-6)
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_a_lambda_takes_several_inputs_and_the_training_flag() -> None:
    with pg.Graph().as_default() as graph:
        a, b = pg.Input((3,)), pg.Input((3,), dtype="int32")
        layer = nn.Lambda(lambda xs, training: xs[0] * (2.0 if training else 1.0) + len(xs))
        plain, trained = layer([a, b]), layer([a, b], training=True)
        doubled = nn.Lambda(lambda x: x * 2)(b)
    assert doubled.dtype == "int32"
    feeds = {a: np.ones((1, 3), np.float32), b: np.ones((1, 3), np.int32)}
    with pg.Session(graph, "cpu") as session:
        assert session.run(plain, feeds).tolist() == [[3.0] * 3]
        assert session.run(trained, feeds).tolist() == [[4.0] * 3]


def test_a_lambda_receives_and_returns_masks() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Input((2, 3))
        set_mask(x, pg.greater(x[:, :, 0], 0.0))
        seen: list[Any] = []
        kept = nn.Lambda(
            lambda x, mask: seen.append(mask) or x,  # type: ignore[func-returns-value]
            mask=lambda inputs, mask: pg.logical_not(mask),
        )(x)
        with pytest.warns(RuntimeWarning, match="got a sequence with a mask"):
            lost = nn.Lambda(pg.square)(x)
    assert seen == [mask_of(x)] and mask_of(lost) is None
    mask = mask_of(kept)
    assert mask is not None
    values = np.array([[[1, 0, 0], [-1, 0, 0]]], np.float32)
    with pg.Session(graph, "cpu") as session:
        assert session.run(mask, {x: values}).tolist() == [[False, True]]


def test_a_lambda_refuses_unsuitable_functions() -> None:
    with pg.Graph().as_default():
        x = pg.Input((3,))
        for function, words in (
            (lambda x: np.ones(3), "returns ndarray, not a tensor"),
            (lambda x: x * pg.Variable([1.0]), "creates a variable"),
        ):
            with pytest.raises(pg.GraphError, match=words):
                nn.Lambda(function)(x)
        with pytest.raises(pg.ShapeError, match=r"output_shape \(2,\), but .* shape \(3,\)"):
            nn.Lambda(lambda x: x, output_shape=(2,))(x)
        with pytest.raises(pg.GraphError, match="must be a function, got 'no_such_operation'"):
            nn.Lambda("no_such_operation")
        with pytest.raises(pg.GraphError, match="cannot be saved in a configuration"):
            nn.Lambda(lambda x: x).get_config()


def test_dot_refuses_different_sizes() -> None:
    with pg.Graph().as_default():
        x, y = pg.Input((3, 5)), pg.Input((4, 3))
        assert nn.Dot((1, 2))([x, y]).shape == (None, 5, 4)
        for layer, words in (
            (nn.Dot(1), r"axis 1 of \(\?, 3, 5\) and axis 1 of \(\?, 4, 3\), which have"),
            (nn.Dot((0, 1)), "along axis 0, but an input .* no such axis after the batch"),
            (nn.Dot((1, 3)), "along axis 3, but an input"),
        ):
            with pytest.raises(pg.ShapeError, match=words):
                layer([x, y])
        with pytest.raises(pg.ShapeError, match="takes two tensors, got 3"):
            nn.Dot(1)([x, x, x])
    with pytest.raises(pg.ShapeError, match=r"must be a whole number, or two, got \(1, 2, 3\)"):
        nn.Dot((1, 2, 3))


def test_normalized_zeros_have_gradients() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Variable(np.zeros((2, 3), np.float32))
        product = nn.Dot(1, normalize=True)([x, x + 0.0])
        (gradient,) = pg.gradients(product, [x])
    with pg.Session(graph, "cpu") as session:
        assert not session.run(product).any() and np.isfinite(session.run(gradient)).all()


def test_rrelu_draws_random_slopes_only_in_training() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Variable(np.full((50, 40), -1.0, np.float32))
        layer = nn.RReLU(0.2, 0.4)
        result = layer(x, training=True)
        (gradient,) = pg.gradients(result, [x])
        positive = layer(-x, training=True)
    with pg.Session(graph, "cpu") as session:
        slopes, gradients, ones = session.run([-result, gradient, positive])
        again = -session.run(result)
    assert slopes.min() >= 0.2 and slopes.max() <= 0.4
    assert abs(slopes.mean() - 0.3) < 0.01 and slopes.std() > 0.05
    np.testing.assert_allclose(gradients, slopes, rtol=1e-6)
    assert (ones == 1).all() and (again != slopes).any()
    with pytest.raises(pg.ShapeError, match="lower <= upper"):
        nn.RReLU(0.5, 0.1)
