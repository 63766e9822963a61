"""Towers on several devices compute what one device does."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from playgrad.errors import GraphError, ShapeError
from playgrad.parallel import mirrored_gradients

SAMPLES = 7


def network() -> tuple[pg.Graph, list[pg.Tensor], list[pg.Tensor], list[pg.Tensor]]:
    """A small classifier: its graph, batch, variables, and (loss, gradients) on one device."""
    rng = np.random.default_rng(3)
    graph = pg.Graph()
    with graph.as_default():
        x = pg.constant(rng.normal(size=(SAMPLES, 5)), "float32", name="x")
        y = pg.constant(rng.integers(0, 3, SAMPLES), "int32", name="y")
        w = pg.Variable(rng.normal(size=(5, 3)).astype(np.float32), name="w")
        b = pg.Variable(np.zeros(3, np.float32), name="b")
        whole = loss_of_with(w, b)(x, y)
        single = [whole, *pg.gradients(whole, [w, b])]
    return graph, [x, y], [w, b], single


def loss_of_with(w: pg.Tensor, b: pg.Tensor):
    return lambda x, y: pg.reduce_mean(
        pg.sparse_softmax_cross_entropy(pg.tanh(pg.matmul(x, w) + b), y)
    )


@pytest.mark.gpu
@pytest.mark.parametrize(
    "devices",
    [["cpu:0"], ["cpu:0", "cpu:0"], ["gpu:0", "cpu:0"], ["cpu:0", "gpu:0", "gpu:0"]],
    ids="+".join,
)
def test_towers_equal_one_device(devices: list[str]) -> None:
    graph, batch, variables, single = network()
    with graph.as_default():
        loss, grads = mirrored_gradients(loss_of_with(*variables), batch, variables, devices)
    with pg.Session(graph, device="cpu") as session:
        together = session.run([loss, *grads])
        for value, expected in zip(together, session.run(single), strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-6)
        used = {node.device for node in session.compiled([loss, *grads]).compiled.order}
    assert used == {"cpu:0", *devices}


@pytest.mark.gpu
def test_training_on_two_devices_follows_one() -> None:
    curves = []
    for devices in (["cpu:0"], ["gpu:0", "cpu:0"]):
        graph, batch, variables, _ = network()
        with graph.as_default():
            loss, grads = mirrored_gradients(loss_of_with(*variables), batch, variables, devices)
            steps = [v.assign_sub(g * 0.5) for v, g in zip(variables, grads, strict=True)]
            train = pg.group(*steps)
        with pg.Session(graph, device="cpu") as session:
            curves.append([float(session.run([loss, train])[0]) for _ in range(50)])
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-3)
    assert curves[0][-1] < 0.5 * curves[0][0]


def test_what_cannot_be_shared_out() -> None:
    graph, (x, y), variables, _ = network()
    loss_of = loss_of_with(*variables)
    with graph.as_default():
        with pytest.raises(GraphError, match="7 samples cannot be shared out among 8 devices"):
            mirrored_gradients(loss_of, [x, y], variables, ["cpu:0"] * 8)
        with pytest.raises(ShapeError, match=r"one known number of samples, not \(\?, 5\), \(7,\)"):
            mirrored_gradients(
                loss_of, [pg.placeholder("float32", [None, 5]), y], variables, ["cpu:0"]
            )
        other = pg.Variable(1.0, name="other")
        with pytest.raises(GraphError, match="the loss does not depend on 'other'"):
            mirrored_gradients(loss_of, [x, y], [other], ["cpu:0"])
