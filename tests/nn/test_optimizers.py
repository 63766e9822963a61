"""Optimizers used without models: state, schedules, gates, precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import optim


def quadratic() -> tuple[pg.Variable, pg.Tensor]:
    w = pg.Variable([1.0, -2.0], name="layer/w")
    return w, pg.reduce_sum(w * w) * 0.5  # its gradient is w


def test_state_has_names_and_counts(graph: pg.Graph) -> None:
    _w, loss = quadratic()
    optimizer = optim.Adam(0.1)
    update = optimizer.minimize(loss)
    names = [variable.variable_name for variable in optimizer.variables]
    assert names == ["adam/iterations", "adam/learning_rate", "adam/layer/w/m", "adam/layer/w/v"]
    assert {node.phase for node in graph.nodes if node.op.writes} == {"update"}
    with pg.Session(graph, "cpu") as session:
        session.repeat(update, 3)
        assert session.value(optimizer.iterations) == 3
        assert session.value("adam/learning_rate") == np.float32(0.1)
    assert [v.trainable for v in optimizer.variables] == [False] * 4


def test_momentum_matches_its_formula(graph: pg.Graph) -> None:
    w, loss = quadratic()
    update = optim.Momentum(0.1).minimize(loss)
    expected, velocity = np.array([1.0, -2.0]), np.zeros(2)
    with pg.Session(graph, "cpu") as session:
        for _ in range(4):
            session.run(update)
            velocity = 0.9 * velocity + expected
            expected = expected - 0.1 * velocity
        np.testing.assert_allclose(session.value(w), expected, rtol=1e-6)


def test_the_first_steps_of_adam_are_of_the_size_of_the_rate(graph: pg.Graph) -> None:
    """Bias correction: computed naively in float32, 1 - 0.999 ** t loses its digits."""
    w, loss = quadratic()
    update = optim.Adam(0.001, epsilon=0.0 + 1e-12).minimize(loss)
    with pg.Session(graph, "cpu") as session:
        session.run(update)
        np.testing.assert_allclose(session.value(w), [0.999, -1.999], rtol=0, atol=3e-7)


def test_adam_matches_its_formula_over_many_steps(graph: pg.Graph) -> None:
    w, loss = quadratic()
    update = optim.Adam(0.01, epsilon=0.1).minimize(loss)
    x, m, v = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    for t in range(1, 201):
        m, v = 0.9 * m + 0.1 * x, 0.999 * v + 0.001 * x * x
        mean, square = m / (1 - 0.9**t), v / (1 - 0.999**t)
        x = x - 0.01 * mean / (np.sqrt(square) + 0.1)
    with pg.Session(graph, "cpu") as session:
        session.repeat(update, 200)
        np.testing.assert_allclose(session.value(w), x, rtol=1e-4)


EVERY = [
    optim.SGD,
    optim.Momentum,
    optim.Adam,
    optim.AdamW,
    optim.RMSprop,
    lambda rate, **more: optim.RMSprop(rate, momentum=0.5, centered=True, **more),
    optim.Adagrad,
    optim.Lion,
]
NAMES = ["SGD", "Momentum", "Adam", "AdamW", "RMSprop", "centred RMSprop", "Adagrad", "Lion"]


@pytest.mark.parametrize("make", EVERY, ids=NAMES)
def test_a_shut_gate_changes_nothing(graph: pg.Graph, make: Any) -> None:
    _, loss = quadratic()
    gate = pg.placeholder("bool", ())
    optimizer = make(0.1, weight_decay=0.01, global_clipnorm=1.0, use_ema=True)
    update = optimizer.minimize(loss, gate=gate)
    with pg.Session(graph, "cpu") as session:
        session.initialize()
        session.run(update, {gate: True})
        before = {v.node.name: session.value(v) for v in pg.global_variables(graph)}
        session.run(update, {gate: False})
        for name, value in before.items():
            np.testing.assert_array_equal(session.value(name), value)
        session.run(update, {gate: True})
        assert session.value(optimizer.iterations) == 2


@pytest.mark.parametrize("staircase", [False, True])
def test_exponential_decay_lowers_the_rate(graph: pg.Graph, staircase: bool) -> None:
    w = pg.Variable(0.0, name="w")
    schedule = optim.ExponentialDecay(0.5, decay_steps=3, decay_rate=0.1, staircase=staircase)
    update = optim.SGD(schedule).minimize(w * 1.0)
    value, rates = 0.0, []
    with pg.Session(graph, "cpu") as session:
        for _ in range(8):
            before = value
            session.run(update)
            value = float(session.value(w))
            rates.append(before - value)
    powers = [step // 3 if staircase else step / 3 for step in range(8)]
    np.testing.assert_allclose(rates, [0.5 * 0.1**p for p in powers], rtol=2e-4)


def test_only_the_variables_named_are_trained(graph: pg.Graph) -> None:
    a, b = pg.Variable(1.0, name="a"), pg.Variable(1.0, name="b")
    fixed = pg.Variable(1.0, name="fixed", trainable=False)
    update = optim.SGD(0.1).minimize(a * b * fixed, var_list=[a])
    with pg.Session(graph, "cpu") as session:
        session.run(update)
        assert session.value(a) == np.float32(0.9)
        assert session.value(b) == session.value(fixed) == 1


def test_the_rate_is_a_variable(graph: pg.Graph) -> None:
    w, loss = quadratic()
    optimizer = optim.SGD(0.1)
    update = optimizer.minimize(loss)
    with pg.Session(graph, "cpu") as session:
        session.assign({optimizer.learning_rate: 0.0})
        session.run(update)
        np.testing.assert_array_equal(session.value(w), [1, -2])


def test_a_rate_is_set_before_training_and_never_without_effect(graph: pg.Graph) -> None:
    optimizer = optim.SGD(optim.ExponentialDecay(0.1, 1, 0.5))
    with pytest.raises(AttributeError, match=r"before training; initial_learning_rate is 0\.1"):
        _ = optimizer.learning_rate
    with pytest.raises(ValueError, match="learning rate must be a number"):
        optimizer.learning_rate = -1
    optimizer.learning_rate = 0.5
    _, loss = quadratic()
    optimizer.minimize(loss)
    with pytest.raises(pg.GraphError, match=r"training has begun.*session\.assign"):
        optimizer.learning_rate = 0.25
    with pg.Session(graph, "cpu") as session:
        assert session.value(optimizer.learning_rate) == 0.5
    assert optimizer.schedule is None


def test_wrong_use_raises_explaining_errors(graph: pg.Graph) -> None:
    w, loss = quadratic()
    with pytest.raises(pg.GraphError, match="does not depend on any of the variables"):
        optim.SGD().minimize(pg.constant(1.0) * 2.0)
    with pytest.raises(pg.GraphError, match="got no gradients"):
        optim.SGD().apply_gradients([(None, w)])
    assert isinstance(pg.optim.get("Adam"), pg.optim.Adam), "a class is known by its name"
    assert isinstance(pg.optim.get("SGD"), pg.optim.SGD)
    with pytest.raises(pg.GraphError, match=r"no optimizer 'ftrl'.*adam"):
        optim.get("ftrl")
    assert optim.SGD(np.float32(0.5)).initial_learning_rate == 0.5
    for rate in (-1, float("nan"), None, "fast", optim.ExponentialDecay(-1, 1, 1)):
        with pytest.raises(ValueError, match="learning rate must be a number of at least 0"):
            optim.SGD(rate)
    with pytest.raises(ValueError, match="momentum must be between 0 and 1"):
        optim.SGD(0.1, momentum=2)
    with pytest.raises(ValueError, match="beta_1 and beta_2"):
        optim.Adam(beta_1=1.0)
    with pytest.raises(ValueError, match="must be positive"):
        optim.ExponentialDecay(0.1, 0, 0.5)
    with pytest.raises(ValueError, match="rho and momentum must be between 0 and 1, got 2"):
        optim.RMSprop(rho=2)
    with pytest.raises(ValueError, match="initial_accumulator_value must be at least 0"):
        optim.Adagrad(initial_accumulator_value=-1)
    with pytest.raises(ValueError, match="beta_1 and beta_2"):
        optim.Lion(beta_2=1.0)
    with pytest.raises(ValueError, match="weight_decay must be a number of at least 0, got -1"):
        optim.SGD(weight_decay=-1)
    with pytest.raises(ValueError, match="ema_momentum must be between 0 and 1, got 2"):
        optim.SGD(ema_momentum=2)
    with pytest.raises(ValueError, match="clipnorm must be a positive number, got 0"):
        optim.SGD(clipnorm=0)
    with pytest.raises(ValueError, match=r"only one of clipnorm.*got clipnorm and clipvalue"):
        optim.Adam(clipnorm=1.0, clipvalue=1.0)
    with pytest.raises(TypeError, match="ema_frequency"):
        optim.Adam(ema_frequency=1)  # type: ignore[call-arg]
    optimizer = optim.SGD()
    optimizer.minimize(loss)
    with pytest.raises(pg.GraphError, match="part of the training step already"):
        optimizer.exclude_from_weight_decay(var_names=["w"])
    with pg.Graph().as_default(), pytest.raises(pg.GraphError, match="already trains another"):
        optimizer.minimize(quadratic()[1])


def test_a_momentum_without_averages_warns() -> None:
    with pytest.warns(
        RuntimeWarning, match=r"ema_momentum=0\.5 of Adam does nothing without use_ema"
    ):
        optim.Adam(ema_momentum=0.5)
