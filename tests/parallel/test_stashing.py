"""Pipelines with an update for each micro-batch, compared with a plain re-implementation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.optim import Optimizer
from playgrad.parallel import Pipeline
from playgrad.parallel.schedules import make_schedule, weight_versions

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 6)).astype(np.float32)
Y = (X @ rng.normal(size=(6, 2))).astype(np.float32)
WIDTHS = (6, 8, 7, 5, 2)
STEPS, BATCH = 6, 30

OPTIMIZERS: dict[str, Callable[[], Optimizer]] = {
    "sgd": lambda: pg.optim.SGD(0.05),
    "momentum": lambda: pg.optim.SGD(0.02, momentum=0.9),
    "nesterov": lambda: pg.optim.SGD(0.02, momentum=0.9, nesterov=True),
    "decay": lambda: pg.optim.SGD(pg.optim.ExponentialDecay(0.1, 5, 0.5)),
    "adam": lambda: pg.optim.Adam(0.02),
}


def network() -> pg.Sequential:
    with pg.Graph(seed=4).as_default():
        return pg.Sequential(
            [
                *(nn.Dense(width, activation="tanh") for width in WIDTHS[1:-1]),
                nn.Dense(WIDTHS[-1]),
            ]
        )


def trained(
    strategy: Pipeline | None, optimizer: Optimizer, batch: int = BATCH, device: str = "cpu"
) -> tuple[Array, dict[str, Array]]:
    pg.set_logical_devices(**{device: 4})
    model = network()
    model.compile(optimizer, "mse", device=device, strategy=strategy)
    epochs = STEPS * BATCH // len(X)
    history = model.fit(X, Y, batch_size=batch, epochs=epochs, shuffle=False, verbose=0)
    result = history.losses, model.named_weights()
    model.close()
    return result


class Stage:
    """Dense layers with all versions of their weights, and the optimizer's state."""

    def __init__(self, layers: list[int], weights: dict[str, Array], optimizer: str) -> None:
        self.layers = layers
        first = {
            (layer, name): weights[f"dense_{layer + 1}/{name}"].astype(np.float64)
            for layer in layers
            for name in ("kernel", "bias")
        }
        self.versions = [first]
        self.optimizer = optimizer
        self.m = {key: np.zeros_like(value) for key, value in first.items()}
        self.v = {key: np.zeros_like(value) for key, value in first.items()}

    def forward(self, x: Array, version: int) -> tuple[Array, list[tuple[Array, Array]]]:
        stashed = []
        for layer in self.layers:
            weights = self.versions[version]
            y = x @ weights[layer, "kernel"] + weights[layer, "bias"]
            if layer < len(WIDTHS) - 2:
                y = np.tanh(y)
            stashed.append((x, y))
            x = y
        return x, stashed

    def backward(
        self, grad: Array, stashed: list[tuple[Array, Array]], version: int
    ) -> tuple[Array, dict[Any, Array]]:
        grads = {}
        for layer, (x, y) in zip(reversed(self.layers), reversed(stashed), strict=True):
            if layer < len(WIDTHS) - 2:
                grad = grad * (1 - y * y)
            grads[layer, "kernel"], grads[layer, "bias"] = x.T @ grad, grad.sum(0)
            grad = grad @ self.versions[version][layer, "kernel"].T
        return grad, grads

    def update(self, grads: dict[Any, Array]) -> None:
        """Add a version, computed from the newest."""
        count = len(self.versions)  # from 1
        newest = dict(self.versions[-1])
        for key, grad in grads.items():
            m, v = self.m, self.v
            if self.optimizer == "sgd":
                newest[key] = newest[key] - 0.05 * grad
            elif self.optimizer == "decay":
                newest[key] = newest[key] - 0.1 * 0.5 ** ((count - 1) / 5) * grad
            elif self.optimizer in ("momentum", "nesterov"):
                m[key] = 0.9 * m[key] + grad
                ahead = grad + 0.9 * m[key] if self.optimizer == "nesterov" else m[key]
                newest[key] = newest[key] - 0.02 * ahead
            else:
                m[key] = 0.9 * m[key] + 0.1 * grad
                v[key] = 0.999 * v[key] + 0.001 * grad**2
                mean, square = m[key] / (1 - 0.9**count), v[key] / (1 - 0.999**count)
                newest[key] = newest[key] - 0.02 * mean / (np.sqrt(square) + 1e-7)
        self.versions.append(newest)


def reimplemented(stages: int, micro_batches: int, optimizer: str) -> tuple[Array, dict[str, Any]]:
    """Train in plain NumPy, one micro-batch after the other, in float64."""
    model = network()
    model.build((WIDTHS[0],))
    model.compile("sgd", "mse", device="cpu")
    weights = model.named_weights()
    model.close()
    count = len(WIDTHS) - 1
    parts = [
        Stage(list(layers), weights, optimizer) for layers in np.array_split(range(count), stages)
    ]
    size = BATCH // micro_batches
    losses = []
    for step in range(STEPS):
        begin = len(parts[0].versions) - 1  # the window begins with all updates applied
        window = []
        for m in range(micro_batches):
            first = (step * BATCH + m * size) % len(X)
            # Of p stages, stage s has not yet seen the last p - 1 - s updates.
            versions = [begin + max(0, m - (stages - 1 - s)) for s in range(stages)]
            x, stashed = X[first : first + size].astype(np.float64), []
            for part, version in zip(parts, versions, strict=True):
                x, activations = part.forward(x, version)
                stashed.append(activations)
            error = x - Y[first : first + size]
            window.append((error**2).mean())
            grad = 2 * error / error.size
            for part, version, activations in reversed(
                list(zip(parts, versions, stashed, strict=True))
            ):
                grad, grads = part.backward(grad, activations, version)
                part.update(grads)
        losses.append(np.mean(window))
    last = {
        f"dense_{layer + 1}/{name}": value
        for part in parts
        for (layer, name), value in part.versions[-1].items()
    }
    return np.array(losses), last


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(("stages", "micro_batches"), [(2, 5), (4, 6), (4, 2)])
def test_pipedream_matches_a_plain_reimplementation(
    optimizer: str, stages: int, micro_batches: int
) -> None:
    counts = tuple(len(layers) for layers in np.array_split(range(len(WIDTHS) - 1), stages))
    strategy = Pipeline(stages, micro_batches, "pipedream", stages=counts)
    losses, weights = trained(strategy, OPTIMIZERS[optimizer]())
    expected, last = reimplemented(stages, micro_batches, optimizer)
    np.testing.assert_allclose(losses, expected, rtol=2e-4)
    for name, value in last.items():
        np.testing.assert_allclose(weights[name], value, rtol=2e-3, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_one_stage_is_plain_training_on_micro_batches(optimizer: str) -> None:
    losses, weights = trained(Pipeline(1, 5, "pipedream"), OPTIMIZERS[optimizer]())
    plain, expected = trained(None, OPTIMIZERS[optimizer](), BATCH // 5)
    np.testing.assert_allclose(losses, plain.reshape(-1, 5).mean(1), rtol=1e-5)
    for name, value in expected.items():
        np.testing.assert_allclose(weights[name], value, rtol=1e-4, atol=1e-6, err_msg=name)


def test_stale_weights_train_differently_but_reproducibly() -> None:
    runs = [trained(Pipeline(3, 5, "pipedream"), pg.optim.Adam(0.02)) for _ in range(2)]
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    flushed, _ = trained(Pipeline(3, 5, "1f1b"), pg.optim.Adam(0.02))
    assert abs(runs[0][0] - flushed).max() > 1e-3
    assert runs[0][0][-1] < runs[0][0][0]


@pytest.mark.gpu
def test_pipedream_on_gpus_matches_the_reimplementation(monkeypatch: pytest.MonkeyPatch) -> None:
    # A layer for each stage: a software adapter compiles for seconds.
    monkeypatch.setitem(globals(), "WIDTHS", (6, 5, 2))
    strategy = Pipeline(2, 2, "pipedream", stages=(1, 1))
    losses, _ = trained(strategy, pg.optim.SGD(0.02, momentum=0.9), device="gpu")
    expected, _ = reimplemented(2, 2, "momentum")
    np.testing.assert_allclose(losses, expected, rtol=2e-4)


def test_weight_versions_follow_the_schedule() -> None:
    versions = weight_versions(make_schedule("pipedream", 4, 6))
    for (stage, micro_batch), version in versions.items():
        assert micro_batch - version == min(micro_batch, 4 - 1 - stage)


def test_moving_averages_follow_each_micro_batch() -> None:
    """Batch normalization: its averages are updated with each micro-batch, as its weights are."""

    def averages(strategy: Pipeline | None, batch: int) -> dict[str, Array]:
        pg.set_logical_devices(cpu=2)
        with pg.Graph(seed=4).as_default():
            model = pg.Sequential(
                [nn.Dense(6, use_bias=False), nn.BatchNormalization(momentum=0.8), nn.Dense(2)]
            )
        model.compile(pg.optim.SGD(0.05), "mse", device="cpu", strategy=strategy)
        model.fit(X, Y, batch_size=batch, epochs=2, shuffle=False, verbose=0)
        weights = model.named_weights()
        model.close()
        return weights

    one, plain = averages(Pipeline(1, 5, "pipedream"), 30), averages(None, 6)
    for name, value in plain.items():
        np.testing.assert_allclose(one[name], value, rtol=1e-4, atol=1e-6, err_msg=name)
    late = averages(Pipeline(2, 5, "pipedream", stages=(1, 2)), 30)
    moved = abs(late["batch_normalization_1/moving_mean"])
    assert (moved > 0).all() and np.isfinite(late["batch_normalization_1/moving_variance"]).all()
