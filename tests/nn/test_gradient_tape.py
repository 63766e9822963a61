"""Gradient tapes: what a block computes, differentiated, in loops as TensorFlow's users write."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

pytestmark = pytest.mark.usefixtures("graph")
rng = np.random.default_rng(3)
X = rng.normal(size=(48, 6)).astype(np.float32)
Y = rng.integers(0, 3, 48)


def classifier() -> pg.Sequential:
    return pg.Sequential([pg.Input((6,)), nn.Dense(8, activation="relu"), nn.Dense(3)])


def train(model: Any, optimizer: Any, epochs: int = 3) -> list[float]:
    """Train as TensorFlow's guides do; return the losses."""
    loss_fn = nn.SparseCategoricalCrossentropy(from_logits=True)
    losses = []
    for _ in range(epochs):
        for x, y in pg.data.Dataset.from_tensor_slices((X, Y)).batch(16):
            with pg.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
            losses.append(float(loss))
    return losses


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_a_loop_with_a_tape_trains_as_fit_does(name: str) -> None:
    model, same = classifier(), classifier()
    same.set_weights(model.get_weights())
    train(model, pg.optim.optimizer.get(name))
    same.compile(name, nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    same.fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0)
    for a, b in zip(model.get_weights(), same.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_the_steps_of_torch_give_the_same_weights() -> None:
    import torch

    model = classifier()
    theirs = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    mine = model.get_weights()
    with torch.no_grad():
        for parameter, value in zip(theirs.parameters(), mine, strict=True):
            parameter.copy_(torch.tensor(value.T))
    optimizer = torch.optim.Adam(theirs.parameters(), 0.01, eps=1e-7)
    for _ in range(3):
        for first in range(0, 48, 16):
            rows = slice(first, first + 16)
            optimizer.zero_grad()
            logits = theirs(torch.tensor(X[rows]))
            torch.nn.functional.cross_entropy(logits, torch.tensor(Y[rows])).backward()
            optimizer.step()
    train(model, pg.optim.Adam(0.01))
    for value, parameter in zip(model.get_weights(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(value, parameter.detach().numpy().T, rtol=1e-4, atol=1e-5)


def test_a_loop_does_not_make_the_graph_grow() -> None:
    model, optimizer = classifier(), pg.optim.Adam(0.01)
    train(model, optimizer, 1)
    before = len(model.graph.nodes), len(pg.get_default_graph().nodes)
    mean = nn.Mean()
    total: Any = 0.0
    for _ in range(3):
        for loss in train(model, optimizer, 1):
            mean.update_state(loss)
        with pg.GradientTape():
            loss = pg.mean(model(X))
        total += loss  # does not hold the tapes of earlier rounds
    assert len(model.graph.nodes) == before[0]
    assert len(pg.get_default_graph().nodes) <= before[1] + 4  # the state of the metric
    gc.collect()
    assert total.node.inputs == ()
    assert isinstance(float(total), float)


def test_the_step_as_a_function_gives_the_same_numbers() -> None:
    model, same = classifier(), classifier()
    same.set_weights(model.get_weights())
    optimizer = pg.optim.Adam(0.01)
    loss_fn = nn.SparseCategoricalCrossentropy(from_logits=True)

    @pg.function  # takes the graph of the model that it uses
    def step(x: Any, y: Any) -> Any:
        with pg.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables, strict=True))
        return loss

    losses = [step(X[i : i + 16], Y[i : i + 16]) for _ in range(3) for i in range(0, 48, 16)]
    np.testing.assert_allclose(losses, train(same, pg.optim.Adam(0.01)), rtol=1e-5)


def test_variables_of_ones_own() -> None:
    w, b = pg.Variable(0.0), pg.Variable(0.0)
    x = np.linspace(0, 1, 20, dtype=np.float32)
    for _ in range(150):
        with pg.GradientTape() as tape:
            loss = pg.reduce_mean((w * x + b - (3 * x + 1)) ** 2)
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.5 * dw)
        b.assign_sub(0.5 * db)
    np.testing.assert_allclose([w.numpy(), b.numpy()], [3, 1], atol=1e-2)


def test_tapes_in_tapes_and_persistent_ones() -> None:
    x = pg.constant(3.0)
    with pg.GradientTape() as outer:
        outer.watch(x)
        with pg.GradientTape() as inner:
            inner.watch(x)
            y = x**3.0
        slope = inner.gradient(y, x)
    assert (float(slope), float(outer.gradient(slope, x))) == (27, 18)
    with pg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert [float(tape.gradient(z, v)) for v in (x, y)] == [108, 18]
    assert float(tape.gradient({"y": y, "z": z}, {"x": x})["x"]) == 114
    once = pg.GradientTape()
    with once:
        once.watch(x)
        y = x * x
    once.gradient(y, x)
    with pytest.raises(pg.GraphError, match="persistent=True"):
        once.gradient(y, x)


def test_what_was_not_recorded_has_no_gradient() -> None:
    w, fixed = pg.Variable(2.0), pg.Variable(5.0, trainable=False)
    plain = pg.constant(1.0)
    with pg.GradientTape(persistent=True) as tape:
        y = w * fixed * plain
        with tape.stop_recording():
            unseen = w * 3.0
    assert float(tape.gradient(y, w)) == 5
    assert tape.gradient(y, [fixed, plain]) == [None, None]
    assert tape.gradient(unseen, w) is None
    assert float(tape.gradient(unseen, w, unconnected_gradients="zero")) == 0
    assert tape.watched_variables() == (w,)
    seeds = tape.gradient(y, w, output_gradients=pg.constant(10.0))
    assert float(seeds) == 50
    with pg.GradientTape(watch_accessed_variables=False) as unwatched:
        y = w * w
    assert unwatched.gradient(y, w) is None
    with pytest.raises(pg.GraphError, match="differentiates tensors, got float"):
        pg.GradientTape().gradient(float(y), w)
    with pytest.raises(pg.GraphError, match="takes tensors of floats, got ndarray"):
        pg.GradientTape().watch(np.zeros(2))


def test_layers_with_a_state_and_random_ones() -> None:
    model = pg.Sequential(
        [pg.Input((6,)), nn.BatchNormalization(momentum=0.5), nn.Dropout(0.5), nn.Dense(1)]
    )
    with pg.GradientTape() as tape:
        first = model(X, training=True)
        loss = pg.mean(first**2.0)
    assert all(grad is not None for grad in tape.gradient(loss, model.trainable_variables))
    moving = model.get_layer(index=0).variables["moving_mean"].numpy()
    np.testing.assert_allclose(moving, 0.5 * X.mean(axis=0), rtol=1e-4, atol=1e-6)
    second = model(X, training=True)
    assert not np.array_equal(first, second)
    np.testing.assert_allclose(model(X), model.predict(X), rtol=1e-4, atol=1e-5)


def test_two_tapes_and_two_models_as_of_a_gan() -> None:
    generator = pg.Sequential([pg.Input((2,)), nn.Dense(6)])
    judge = pg.Sequential([pg.Input((6,)), nn.Dense(8, "relu"), nn.Dense(1)])
    of = nn.BinaryCrossentropy(from_logits=True)
    first, second = pg.optim.Adam(0.01), pg.optim.Adam(0.01)
    before = generator.get_weights() + judge.get_weights()
    for _ in range(2):
        noise = pg.random_normal((16, 2))
        with pg.GradientTape() as one, pg.GradientTape() as two:
            made = generator(noise, training=True)
            real, fake = judge(X[:16], training=True), judge(made, training=True)
            made_loss = of(pg.ones_like(fake), fake)
            judged_loss = of(pg.ones_like(real), real) + of(pg.zeros_like(fake), fake)
        grads = one.gradient(made_loss, generator.trainable_variables)
        first.apply_gradients(zip(grads, generator.trainable_variables, strict=True))
        grads = two.gradient(judged_loss, judge.trainable_variables)
        second.apply_gradients(zip(grads, judge.trainable_variables, strict=True))
    after = generator.get_weights() + judge.get_weights()
    assert all(np.abs(a - b).max() > 0 for a, b in zip(before, after, strict=True))


def test_metrics_are_updated_batch_by_batch() -> None:
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]], np.float32)
    labels = np.array([0, 1, 1, 0])
    accuracy, precision, mean = nn.SparseCategoricalAccuracy(), nn.Precision(), nn.Mean("loss")
    for rows in (slice(0, 3), slice(3, 4)):
        accuracy.update_state(labels[rows], scores[rows])
        precision.update_state(labels[rows], scores[rows, 1])
        mean(scores[rows, 0])
    assert accuracy.result() == 0.75
    assert precision.result() == 1.0
    assert float(mean.result()) == pytest.approx(scores[:, 0].mean())

    @pg.function
    def update(values: Any) -> Any:
        mean.update_state(values)
        return mean.result()

    mean.reset_state()
    assert [float(update(np.float32(n))) for n in (1, 3)] == [1, 2]
    assert float(mean.result()) == 2
    weighted = nn.Mean()
    weighted.update_state([1.0, 4.0], sample_weight=[3.0, 1.0])
    assert float(weighted.result()) == 1.75


def test_a_call_of_a_loss_is_the_mean_over_the_batch() -> None:
    y, p = np.array([0.0, 1.0, 2.0], np.float32), np.array([0.0, 2.0, 4.0], np.float32)
    with pg.eager():
        assert float(nn.MeanSquaredError()(y, p)) == pytest.approx(5 / 3)
        assert float(nn.MeanSquaredError(reduction="sum")(y, p)) == 5
        assert nn.Huber(reduction="none")(y, p).numpy().tolist() == [0, 0.5, 1.5]
        weights = np.array([0, 0, 3], np.float32)
        assert float(nn.MeanSquaredError()(y, p, sample_weight=weights)) == 4
    with pytest.raises(pg.GraphError, match="Use 'sum_over_batch_size'"):
        nn.MeanSquaredError(reduction="median")
