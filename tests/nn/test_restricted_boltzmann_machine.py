"""The restricted Boltzmann machine against its definition, computed by enumeration."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def machine(shape: tuple[int, ...], units: int = 2) -> tuple[nn.RestrictedBoltzmannMachine, Any]:
    layer = nn.RestrictedBoltzmannMachine(
        units, nn.RandomNormal(stddev=0.7), nn.RandomNormal(), nn.RandomNormal(stddev=0.5), seed=1
    )
    x = pg.placeholder("float32", (None, *shape))
    layer(x)
    return layer, x


def test_free_energy_sums_over_all_hidden_states() -> None:
    layer, x = machine((3,))
    states = np.array(list(product([0, 1], repeat=3)), np.float32)
    with pg.Session(device="cpu") as session:
        energy, (w, b, c) = session.run(
            [layer.free_energy(x), [layer.variables[n] for n in NAMES]], {x: states}
        )
    hidden = np.array(list(product([0, 1], repeat=2)), np.float32)
    energies = -(states @ w @ hidden.T) - (states @ c)[:, None] - hidden @ b
    np.testing.assert_allclose(energy, -np.log(np.exp(-energies).sum(axis=1)), rtol=1e-5)


NAMES = ("kernel", "hidden_bias", "visible_bias")


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_gradients_are_differences_of_correlations(device: str) -> None:
    layer, x = machine((5,), units=4)
    data = np.random.default_rng(0).integers(0, 2, (30, 5)).astype(np.float32)
    variables = [layer.variables[name] for name in NAMES]
    loss = layer.contrastive_divergence(x)
    drawn = pg.random_uniform_like(layer(x), seed=1)
    with pg.Session(device=device) as session:
        gradients, numbers, (w, b, c) = session.run(
            [pg.gradients(loss, variables), drawn, variables], {x: data}
        )
    hidden = sigmoid(data @ w + b)
    made = sigmoid((numbers < hidden) @ w.T + c)
    remade = sigmoid(made @ w + b)
    expected = (
        (made.T @ remade - data.T @ hidden) / 30,
        (remade - hidden).mean(axis=0),
        (made - data).mean(axis=0),
    )
    for gradient, value in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(gradient, value, atol=1e-5)


def test_a_boltzmann_machine_learns_a_distribution() -> None:
    """Two patterns of four: the free energy falls for those, and rises for the others."""
    layer, _ = machine((4,), units=3)
    optimizer = pg.optim.SGD(0.5)

    @pg.function(layer.graph, device="cpu")
    def train(x: Any) -> Any:
        loss = layer.contrastive_divergence(x, steps=2)
        optimizer.minimize(loss, list(layer.variables.values()))
        return pg.mean(pg.square(layer.reconstruct(x) - x))

    free_energy = pg.function(layer.graph, device="cpu")(lambda x: layer.free_energy(x))
    data = np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 10, np.float32)
    for _ in range(300):
        error = train(data)
    assert error < 0.02
    states = np.array(list(product([0, 1], repeat=4)), np.float32)
    weights = np.exp(-free_energy(states).astype(float))
    probability = dict(zip(map(tuple, states), weights / weights.sum(), strict=True))
    assert probability[1, 1, 0, 0] + probability[0, 0, 1, 1] > 0.8


def test_unknown_groups_have_no_effect() -> None:
    layer, x = machine((3, 4))
    ratings = np.zeros((1, 3, 4), np.float32)
    ratings[0, 0, 2] = ratings[0, 2, 1] = 1
    loss = layer.contrastive_divergence(x)
    fetches = [pg.gradients(loss, [layer.variables[n] for n in NAMES]), layer.reconstruct(x)]
    with pg.Session(device="cpu") as session:
        (kernel, _, bias), made = session.run(fetches, {x: ratings})
    np.testing.assert_allclose(made.sum(axis=2), 1, rtol=1e-6)
    known = np.array([True, False, True])
    for gradient in (kernel.reshape(3, -1), bias):
        assert (np.abs(gradient).max(axis=1) > 0).tolist() == known.tolist()


def test_a_stack_is_fine_tuned_by_fit() -> None:
    x, y = np.eye(6, dtype=np.float32), np.arange(6)
    model = pg.Sequential([nn.RestrictedBoltzmannMachine(20), nn.Dense(6)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.05), loss, ["accuracy"], device="cpu")
    model.fit(x, y, batch_size=6, epochs=60, verbose=0)
    assert model.evaluate(x, y)[1] == 1


def test_unsuitable_arguments_are_refused() -> None:
    layer, x = machine((5,))
    with pytest.raises(pg.ShapeError, match="steps of a RestrictedBoltzmannMachine layer"):
        layer.contrastive_divergence(x, steps=0)
    with pytest.raises(pg.ShapeError, match=r"visible units of shape \(5,\), but got \(\?, 4\)"):
        layer(pg.placeholder("float32", (None, 4)))
    with pytest.raises(pg.ShapeError, match=r"\(batch, groups, choices\), got \(\?, 2, 3, 4\)"):
        nn.RestrictedBoltzmannMachine(2)(pg.placeholder("float32", (None, 2, 3, 4)))
