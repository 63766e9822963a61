"""Synchronous strategies give the results of one device, whatever runs before and after."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.devices.null import NullHost
from playgrad.errors import GraphError, NonFiniteError
from playgrad.networks.shared_session import shared_session
from playgrad.parallel import DataParallel, Pipeline, Strategy
from playgrad.parallel.replicas import mirrored_by
from playgrad.parallel.schedules import PIPEDREAM, SCHEDULES, TWO_STREAMS
from playgrad.runtime.memory import device_memory
from playgrad.runtime.options import Options, options_set
from playgrad.training.step_graphs import HISTORY_ROWS
from tests.sweeps import dice, slow, sweep

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 12)).astype(np.float32)
Y = X[:, :4].argmax(1)
IMAGES = rng.integers(0, 256, (120, 8, 8, 1)).astype(np.uint8)
LABELS = rng.integers(0, 3, 120)


def mlp() -> pg.Model:
    return pg.Sequential(
        [
            nn.Dense(24, activation="relu"),
            nn.Dropout(0.2),
            nn.Dense(20, activation="tanh"),
            nn.Dense(16),
            nn.Dense(16, activation="relu"),
            nn.Dense(12, activation="relu"),
            nn.Dense(4),
        ]
    )


def small() -> pg.Model:
    """A model with few kernels, since software adapters take long to compile them."""
    return pg.Sequential([nn.Dense(16, activation="relu"), nn.Dropout(0.2), nn.Dense(4)])


def cnn(normalization: bool) -> pg.Model:
    between = [nn.BatchNormalization(synchronized=True)] if normalization else []
    return pg.Sequential(
        [
            nn.Rescaling(1 / 255),
            nn.Conv2D(4, 3, use_bias=not normalization),
            *between,
            nn.Activation("relu"),
            nn.MaxPool2D(),
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Dense(16, activation="relu"),
            nn.Dense(3),
        ]
    )


def compiled(
    build: Callable[[], pg.Model], strategy: Strategy | None, device: str = "cpu"
) -> pg.Model:
    with pg.Graph(seed=3).as_default():
        model = build()
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, ["accuracy"], device=device, strategy=strategy)
    return model


def trained(
    build: Callable[[], pg.Model],
    strategy: Strategy | None,
    steps: int = 50,
    batch: int = 40,
    device: str = "cpu",
) -> tuple[Array, dict[str, Array]]:
    """Return loss and accuracy of every step, and the weights afterwards."""
    pg.set_logical_devices(**{device: 4})
    model = compiled(build, strategy, device)
    x, y = (X, Y) if build in (mlp, small) else (IMAGES, LABELS)
    with options_set(Options(steps=steps)):
        history = model.fit(x, y, batch_size=batch, verbose=0)
    assert len(history.steps) == steps
    result = history.steps, model.named_weights()
    model.close()
    return result


@pytest.fixture(scope="module")
def alone() -> Callable[..., tuple[Array, dict[str, Array]]]:
    """Call ``trained`` without a strategy, once for equal arguments."""
    known: dict[Any, tuple[Array, dict[str, Array]]] = {}

    def look_up(*key: Any) -> tuple[Array, dict[str, Array]]:
        if key not in known:
            known[key] = trained(key[0], None, *key[1:])
        return known[key]

    return look_up


def check_equal(one: tuple[Array, dict[str, Array]], other: tuple[Array, dict[str, Array]]) -> None:
    """Check that losses agree up to rounding, and accuracies up to borderline samples."""
    np.testing.assert_allclose(one[0][:, 0], other[0][:, 0], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(one[0][:, 1], other[0][:, 1], atol=0.06)
    assert list(one[1]) == list(other[1])
    for name, weights in one[1].items():
        np.testing.assert_allclose(weights, other[1][name], rtol=2e-3, atol=2e-4, err_msg=name)


STRATEGIES = [
    DataParallel(2),
    DataParallel(3, collective="ring"),
    DataParallel(3, collective="central"),
    DataParallel(4, collective="tree", bucket_bytes=600),
    Pipeline(3, 4, "gpipe"),
    Pipeline(3, 4, "1f1b", stages=(3, 2, 2)),
    Pipeline(3, 5, "bidirectional"),
    Pipeline(3, 5, "zero_bubble"),
    Pipeline(4, 3, "1f1b", replicas=2),
    Pipeline(3, 3, "interleaved"),
    Pipeline(4, 4, "bidirectional"),
    Pipeline(4, 5, "dualpipe"),
    Pipeline(4, 4, "bidirectional", replicas=2),
    Pipeline(4, 2, "1f1b", replicas=4),
]
OFTEN = dice("strategies").sample(STRATEGIES, 4)
"""Those of this commit."""


@pytest.mark.parametrize("strategy", sweep(STRATEGIES, OFTEN), ids=str)
def test_fifty_steps_match_one_device(strategy: Strategy, alone: Any) -> None:
    check_equal(trained(mlp, strategy), alone(mlp))


@pytest.mark.gpu
@pytest.mark.parametrize(
    "build, strategy",
    [
        (small, DataParallel(2)),
        (small, Pipeline(2, 2)),
        *slow(
            (mlp, DataParallel(4)),
            (mlp, Pipeline(3, 3, "interleaved")),
            (mlp, Pipeline(4, 4, "bidirectional")),
        ),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_fifty_steps_on_gpus_match_one_device(
    build: Callable[[], pg.Model], strategy: Strategy, alone: Any
) -> None:
    check_equal(trained(build, strategy, device="gpu"), alone(build))


@pytest.mark.parametrize(
    ("normalization", "strategy"),
    [
        (True, DataParallel(4, bucket_bytes=1000)),
        (False, Pipeline(2, 4, "bidirectional")),
        *slow((True, DataParallel(3)), (False, Pipeline(3, 4))),
    ],
    ids=str,
)
def test_convolutional_networks_match_one_device(
    normalization: bool, strategy: Strategy, alone: Any
) -> None:
    build = cnn_with_normalization if normalization else plain_cnn
    check_equal(trained(build, strategy), alone(build))


def cnn_with_normalization() -> pg.Model:
    return cnn(True)


def plain_cnn() -> pg.Model:
    return cnn(False)


SWEEP = [
    (schedule, stages, micro_batches)
    for schedule in SCHEDULES
    for stages in (2, 3, 4)
    for micro_batches in range(1, 9)
    if schedule != PIPEDREAM and (micro_batches > 1 or schedule not in TWO_STREAMS)
]


@pytest.mark.slow
@pytest.mark.parametrize(("schedule", "stages", "micro_batches"), SWEEP)
def test_every_schedule_matches_one_device(
    schedule: str, stages: int, micro_batches: int, alone: Any
) -> None:
    devices, chunks = stages, None
    if schedule == "interleaved":  # seven layers are too few for two chunks on four devices
        devices, chunks = {2: (2, 3), 3: (3, 2), 4: (2, 2)}[stages]
    strategy = Pipeline(devices, micro_batches, schedule, chunks=chunks)
    check_equal(trained(mlp, strategy, 5, 48), alone(mlp, 5, 48))


UNEVEN = [
    DataParallel(3), DataParallel(4), Pipeline(2, 8), Pipeline(4, 4, replicas=2), Pipeline(2, 7)
]  # fmt: skip


@pytest.mark.parametrize("strategy", sweep(UNEVEN, dice("uneven").sample(UNEVEN, 3)), ids=str)
def test_an_unevenly_divided_batch_matches_one_device(strategy: Strategy, alone: Any) -> None:
    check_equal(trained(mlp, strategy, 4, 50), alone(mlp, 4, 50))


def test_a_batch_with_fewer_samples_than_parts_is_refused() -> None:
    with pytest.raises(GraphError, match="a batch of 3 cannot be divided into 4 parts"):
        trained(mlp, Pipeline(2, 4), 1, 3)


def mirrors_of(model: pg.Model) -> dict[str, list[Array]]:
    """Return for each mirrored variable its value, followed by the values of its mirrors."""
    values: dict[str, list[Array]] = {}
    for mirror in shared_session(model.graph).mirrors:
        name = mirrored_by(mirror.variable_name)
        values.setdefault(name, [model.session.value(name)]).append(model.session.value(mirror))
    return values


@pytest.mark.parametrize("strategy", [DataParallel(3), Pipeline(2, 4, "bidirectional")], ids=str)
def test_mirrors_stay_equal_to_the_last_bit(strategy: Strategy) -> None:
    pg.set_logical_devices(cpu=3)
    model = compiled(mlp, strategy)
    model.fit(X, Y, batch_size=50, epochs=2, verbose=0)
    mirrors = mirrors_of(model)
    assert {"dense_1/kernel", "adam/dense_1/kernel/m", "adam/iterations"} <= set(mirrors)
    for first, *others in mirrors.values():
        for other in others:
            np.testing.assert_array_equal(first, other)
    model.close()


@pytest.mark.parametrize(
    "strategy",
    [DataParallel(3), Pipeline(3, 4), Pipeline(2, 4, "bidirectional"), Pipeline(2, 4, "pipedream")],
    ids=str,
)
def test_a_loss_that_is_not_finite_changes_nothing_anywhere(strategy: Strategy) -> None:
    pg.set_logical_devices(cpu=3)
    model = compiled(mlp, strategy)
    model.fit(X, Y, batch_size=50, verbose=0)
    before, state = model.named_weights(), model.session.value("adam/dense_6/kernel/v")
    bad = X.copy()
    bad[-1] = 3e38  # in the last share of the first batch
    with pytest.raises(NonFiniteError, match="step 1"):
        model.fit(bad[150:], Y[150:], batch_size=50, shuffle=False, verbose=0)
    for name, weights in model.named_weights().items():
        np.testing.assert_array_equal(weights, before[name])
    np.testing.assert_array_equal(model.session.value("adam/dense_6/kernel/v"), state)
    for name, (first, *others) in mirrors_of(model).items():
        for other in others:
            # Only the original flag is set again; the next fit updates the mirrors.
            np.testing.assert_array_equal(first, other ^ True if "healthy" in name else other)
    model.fit(X, Y, batch_size=50, verbose=0)  # training can continue
    assert any((w != before[name]).any() for name, w in model.named_weights().items())
    model.close()


@pytest.mark.parametrize("strategy", [DataParallel(3), Pipeline(3, 4, "1f1b")], ids=str)
def test_a_new_learning_rate_reaches_all(strategy: Strategy) -> None:
    def run(strategy: Strategy | None) -> Array:
        pg.set_logical_devices(cpu=3)
        model = compiled(mlp, strategy)
        rates = nn.LearningRateScheduler(lambda epoch, rate: 0.0 if epoch == 2 else rate * 0.5)
        model.fit(X, Y, batch_size=50, epochs=3, verbose=0, callbacks=rates)
        for first, *others in mirrors_of(model).values():
            for other in others:
                np.testing.assert_array_equal(first, other)
        weights = model.named_weights()["dense_6/kernel"]
        model.close()
        return weights

    np.testing.assert_allclose(run(strategy), run(None), rtol=1e-4, atol=1e-6)


SWITCHES: list[Strategy | None] = [
    DataParallel(3),
    Pipeline(3, 4, "1f1b"),
    None,
    Pipeline(2, 4, "bidirectional"),
    DataParallel(2),
    Pipeline(2, 4, "interleaved"),
    None,
]


def test_strategies_can_change_from_fit_to_fit() -> None:
    """Weights, the optimizer's state and the stream of samples continue."""

    def losses(strategies: list[Strategy | None]) -> Array:
        pg.set_logical_devices(cpu=3)
        model = compiled(mlp, None)
        steps = []
        for strategy in strategies:
            model.strategy = strategy
            steps.append(model.fit(X, Y, batch_size=40, verbose=0).losses)
        model.close()
        return np.concatenate(steps)

    np.testing.assert_allclose(losses(SWITCHES), losses([None] * len(SWITCHES)), rtol=1e-4)


def test_fitting_again_compiles_nothing() -> None:
    pg.set_logical_devices(cpu=3)
    for strategy in (DataParallel(3), Pipeline(3, 4, stages="balanced")):
        model = compiled(mlp, strategy)
        model.fit(X, Y, batch_size=40, verbose=0)
        runnable, nodes = model.session.compiled(model.training_targets), len(model.graph.nodes)
        model.fit(X, Y, batch_size=40, verbose=0)
        assert model.session.compiled(model.training_targets) is runnable
        assert len(model.graph.nodes) == nodes
        model.close()


@pytest.mark.parametrize("strategy", [DataParallel(3), Pipeline(3, 4, "1f1b")], ids=str)
def test_distributed_weights_can_be_used_and_saved(strategy: Strategy, tmp_path: Path) -> None:
    pg.set_logical_devices(cpu=3)
    model = compiled(mlp, strategy)
    model.fit(X, Y, batch_size=40, verbose=0, validation_data=(X, Y))
    loss, accuracy = model.evaluate(X, Y)
    scores = model.predict(X)
    assert (scores.argmax(1) == Y).mean() == pytest.approx(accuracy, abs=1e-6)
    model.save_weights(tmp_path / "spread.safetensors")
    with pg.Graph(seed=9).as_default():
        other = mlp()
    other.build((12,))
    other.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    other.load_weights(tmp_path / "spread.safetensors")
    assert other.evaluate(X, Y) == pytest.approx(loss, rel=1e-5)
    twin = model.clone()
    np.testing.assert_allclose(twin.predict(X), scores, rtol=1e-5, atol=1e-6)
    for each in (model, other, twin):
        each.close()


def switched(model: pg.Model, strategy: Strategy | None) -> None:
    model.strategy = strategy
    with options_set(Options(steps=1)):
        model.fit(X[:48], Y[:48], batch_size=48, verbose=0)


def left_over(model: pg.Model) -> tuple[int, ...]:
    """Count what must not grow: nodes, programs, values of variables, threads."""
    session = model.session
    return (
        len(model.graph.nodes),
        len(session._programs),
        len(session._store.variables()),
        threading.active_count(),
    )


@pytest.mark.parametrize("switches", [10, *slow(1000)])
def test_strategies_that_are_left_leave_nothing_behind(switches: int) -> None:
    pg.set_logical_devices(cpu=3)
    model = compiled(mlp, None)
    strategies = SWITCHES[:5]
    for strategy in strategies:
        switched(model, strategy)
    seen: dict[int, tuple[int, ...]] = {}
    for number in range(switches):
        place = number % len(strategies)
        switched(model, strategies[place])
        assert seen.setdefault(place, left_over(model)) == left_over(model)
    assert len({left[0] for left in seen.values()}) == 1
    model.close()


def test_buffers_of_strategies_that_are_left_are_freed() -> None:
    """On devices that compute nothing, but count buffers and programs as GPUs do."""
    hosts = [NullHost(), NullHost()]
    with registry.attached(hosts[0]) as one, registry.attached(hosts[1]) as other:
        with pg.Graph(seed=3).as_default():
            model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(4)])
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, device=one)
        strategies = (None, DataParallel((one, other)), Pipeline((one, other), 2))
        seen: list[list[tuple[int, int]]] = []
        for _ in range(3):
            seen.append([])
            for strategy in strategies:
                switched(model, strategy)
                stats = [host.stats() for host in hosts]
                seen[-1] += [(each["buffers"], each["programs"]) for each in stats]
        assert seen[1] == seen[2]
        assert min(seen[2][2]) > 0
        model.close()


def test_replicas_hold_equal_variable_memory() -> None:
    pg.set_logical_devices(cpu=3)
    model = compiled(mlp, DataParallel(3))
    model.fit(X, Y, batch_size=48, verbose=0)
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    variables = {memory.variables for memory in device_memory(runnable).values()}
    # Equal on all devices, but the first also has the history and variables without mirrors.
    assert 0 < max(variables) - min(variables) < 4 * 2 * HISTORY_ROWS + 256
    model.close()
