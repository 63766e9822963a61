"""Training loops of the user's own: compiled steps, compared with ``fit``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

X, Y = pg.data.spiral(200)


def network(*between: nn.Layer, **options: Any) -> pg.Sequential:
    first = nn.Dense(8, activation="tanh", **options)
    return pg.Sequential([pg.Input((2,)), first, *between, nn.Dense(2)])


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_loop_of_twelve_lines_trains_like_fit(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_DEVICE", device)
    # A software adapter compiles the kernels of a normalization for seconds.
    layers = [nn.BatchNormalization()] if device == "cpu" else []
    model = network(*layers)
    model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(True), device="cpu")
    model.fit(X, Y, batch_size=50, epochs=3, shuffle=False, verbose=0)
    expected = model.history.losses

    model = network(*(layer.clone() for layer in layers))
    loss_of = nn.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = pg.optim.Adam(0.01)
    losses = []

    @pg.function(model)
    def train(x: pg.Tensor, y: pg.Tensor) -> pg.Tensor:
        loss = pg.mean(loss_of(y, model(x, training=True)))
        optimizer.minimize(loss, model.trainable_variables)
        return loss

    for _ in range(3):
        for first in range(0, 200, 50):
            losses.append(train(X[first : first + 50], Y[first : first + 50]))

    np.testing.assert_allclose(losses, expected, rtol=1e-5 if device == "cpu" else 1e-4)


def test_manual_gradients_with_penalties_match_fit() -> None:
    fitted, handmade = (
        network(nn.BatchNormalization(), kernel_regularizer=nn.L2(0.1)) for _ in range(2)
    )
    fitted.compile(pg.optim.SGD(0.1), "mse")
    targets = np.stack([Y, 1 - Y], axis=1).astype(np.float32)
    fitted.fit(X, targets, batch_size=200, epochs=3, shuffle=False, verbose=0)

    @pg.function(handmade)
    def train(x: pg.Tensor, y: pg.Tensor, rate: pg.Tensor) -> dict[str, pg.Tensor]:
        error = pg.mean(pg.square(handmade(x, training=True) - y))
        loss = error + sum(handmade.losses)
        weights = handmade.trainable_variables
        for weight, grad in zip(weights, pg.gradients(loss, weights), strict=True):
            weight.assign_sub(rate * grad)
        return {"loss": loss, "error": error}

    logs = [train(X, targets, 0.1) for _ in range(3)]
    np.testing.assert_allclose([log["loss"] for log in logs], fitted.history.losses, rtol=1e-5)
    assert logs[0]["error"] < logs[0]["loss"]


def test_functions_update_variables_of_the_default_graph() -> None:
    with pg.Graph().as_default() as graph:
        total = pg.Variable(0.0)

        @pg.function(device="cpu")
        def add(x: pg.Tensor, twice: bool = False) -> pg.Tensor:
            return total.assign_add(pg.sum(x) * (2.0 if twice else 1.0))

        assert add([1.0, 2.0]) == 3 and add([1.0]) == 4
        nodes = len(graph.nodes)
        assert add([1.0, 1.0, 1.0]) == 7  # another number of rows needs no new graph
        assert len(graph.nodes) == nodes
        assert add([1.0], twice=True) == 9
        assert len(graph.nodes) > nodes
        assert add.session.value(total) == 9


def test_random_operations_draw_anew_in_each_call() -> None:
    with pg.Graph().as_default():

        @pg.function(device="cpu")
        def draw(scale: pg.Tensor) -> pg.Tensor:
            return scale * pg.random_uniform((4,))

        assert not np.array_equal(draw(1.0), draw(1.0))


def test_one_function_calls_another() -> None:
    with pg.Graph().as_default():

        @pg.function
        def double(x: pg.Tensor) -> pg.Tensor:
            return x * 2.0

        @pg.function
        def quadruple(x: pg.Tensor) -> pg.Tensor:
            return double(double(x))

        assert quadruple([1.0, 3.0]).tolist() == [4, 12]


def test_functions_take_any_number_of_arguments() -> None:
    graphs = 0

    @pg.function
    def total(*tables: pg.Tensor, **weights: pg.Tensor) -> pg.Tensor:
        nonlocal graphs
        graphs += 1
        parts = [pg.sum(table) for table in tables]
        return sum(parts[1:], parts[0]) + sum(pg.sum(each) for each in weights.values())

    row, square = np.arange(3, dtype=np.float32), np.ones((2, 2), np.float32)
    assert total(row, square) == 7
    assert total(row + 1, square) == 10
    assert total(row, square, tables=np.float32(5)) == 12
    assert total(row, square, tables=6.0, offset=2.0) == 15
    assert total(row) == 3
    assert graphs == 4


def test_unsupported_uses_raise_typed_errors() -> None:
    model = pg.Sequential([nn.Dense(2)])
    step = pg.function(model)(lambda x: model(x))
    with pytest.raises(pg.GraphError, match=r"is not built.*Begin it with pg.Input"):
        step(np.ones((2, 3)))
    with pg.Graph().as_default(), pytest.raises(pg.DTypeError, match="cannot make a tensor"):
        pg.function(lambda x: x)(np.array(["a"]))
