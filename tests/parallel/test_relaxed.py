"""Strategies that do not synchronize at every step, and steps that overlap on one device."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import GraphError, NonFiniteError
from playgrad.parallel import AsynchronousDataParallel, LocalSGD, Overlap, Strategy
from playgrad.parallel.unroll import unroll
from playgrad.runtime.options import SINGLE, Options, options_set
from playgrad.runtime.threads import DeviceThread
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace
from playgrad.training.device_data import BatchStream
from playgrad.training.prepare_data import prepare_data
from playgrad.training.recipe import MEASURED_RUNS, Speeds
from playgrad.training.strategies.asynchronous import AsynchronousStep

IMAGES = np.random.default_rng(0).integers(0, 256, (120, 6, 6)).astype(np.uint8)
LABELS = (IMAGES.reshape(120, -1)[:, :12].mean(1) // 26).astype(int) % 10
BATCH = 12
EPOCHS = 5


def compiled_model(
    strategy: Strategy | None, optimizer: pg.optim.Optimizer | None = None
) -> pg.Model:
    pg.reset_default_graph(3)
    model = pg.Sequential(
        [
            nn.Rescaling(1 / 255),
            nn.Flatten(),
            nn.Dense(16, activation="relu"),
            nn.Dropout(0.2),
            nn.Dense(10),
        ]
    )
    model.compile(
        optimizer or pg.optim.Adam(0.01),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        device="cpu",
        strategy=strategy,
    )
    return model


def train(model: pg.Model) -> tuple[nn.History, dict[str, Any]]:
    history = model.fit(IMAGES, LABELS, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    weights = model.named_weights()
    model.close()
    return history, weights


@pytest.mark.parametrize("steps", [1, 3, 50])
def test_overlapping_steps_give_the_same_numbers(steps: int) -> None:
    alone, weights = train(compiled_model(None))
    together, same = train(compiled_model(Overlap(steps, always=True)))
    np.testing.assert_array_equal(together.losses, alone.losses)
    for name, value in weights.items():
        np.testing.assert_array_equal(same[name], value)


@pytest.mark.parametrize("faster", [0, 1])
def test_the_faster_way_is_chosen_and_remembered(
    faster: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, weights = train(compiled_model(None))
    model = compiled_model(Overlap(3))
    monkeypatch.setattr(Speeds, "chosen", property(lambda speeds: decided(speeds, faster)))
    nodes: list[pg.Node] = []
    repeat = pg.Session.repeat

    def watch(session: pg.Session, node: pg.Node, steps: int) -> Any:
        nodes.extend([node] * (steps > 0))
        return repeat(session, node, steps)

    monkeypatch.setattr(pg.Session, "repeat", watch)
    history = model.fit(IMAGES, LABELS, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    np.testing.assert_array_equal(history.losses, alone.losses)
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, weights[name])
    assert "× the speed" in history.parallel["overlap"]
    (speeds,) = model.recipe.speeds.values()
    measured = list(speeds.runs)
    assert min(measured) > MEASURED_RUNS
    nodes.clear()
    model.fit(IMAGES, LABELS, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    assert speeds.runs == measured
    unrolled = [node.name.startswith("unrolled/") for node in nodes]
    assert any(unrolled) if faster else not any(unrolled)
    model.close()


def decided(speeds: Speeds, way: int) -> int | None:
    """Return ``way`` in place of the faster one, once both have been measured."""
    return way if min(map(len, speeds.seconds)) >= MEASURED_RUNS else None


def test_the_fastest_step_after_warm_up_is_chosen() -> None:
    """The first run of each way does not count, and of the others the fastest does."""
    speeds = Speeds()
    for run in range(MEASURED_RUNS + 1):
        for way, seconds in enumerate([0.1 if run else 9.0, 0.2 if run == 3 else 0.3]):
            assert speeds.chosen is None and speeds.next_measured == way
            speeds.add(way, seconds)
    assert speeds.chosen == 0
    speeds.add(1, 0.05)
    assert speeds.chosen == 1


def test_overlapping_steps_are_one_graph() -> None:
    """The input of the second step waits for the loss before it, which must be finite, but not for
    the backward pass."""
    model = compiled_model(Overlap(3, always=True))
    with options_set(Options(steps=6)):
        model.fit(IMAGES, LABELS, batch_size=BATCH, verbose=0)
    inside = [node for node in model.graph.nodes if node.name.startswith("unrolled/step_1/")]
    gathers = [node for node in inside if node.op.name == "gather"]
    assert len(gathers) == 2
    for node in gathers:
        before = {node}
        for earlier in reversed(model.graph.nodes):
            if earlier in before:
                before.update(earlier.predecessors)
        assert not any(other.phase == "gradient" for other in before)
    model.close()


@pytest.mark.parametrize("devices", [1, 2, 3])
def test_local_sgd_with_a_mean_at_every_step_is_data_parallel(devices: int) -> None:
    _, weights = train(compiled_model(None, pg.optim.SGD(0.1)))
    _, same = train(compiled_model(LocalSGD(devices, every=1), pg.optim.SGD(0.1)))
    for name, value in weights.items():
        np.testing.assert_allclose(same[name], value, atol=1e-5)


def test_local_sgd_averages_at_intervals_and_after_each_epoch() -> None:
    """Between two means the replicas differ; after each epoch they do not."""
    model = compiled_model(LocalSGD(2, every=4))
    history = model.fit(IMAGES, LABELS, batch_size=BATCH, epochs=EPOCHS, verbose=0)
    assert history.losses[-5:].mean() < history.losses[:5].mean()
    (kernel,) = [v for n, v in model.named_variables.items() if n == "dense_1/kernel"]
    mirror = model.graph.node(f"{kernel.variable_name}/replica_1").outputs[0]
    np.testing.assert_array_equal(model.session.value(mirror), model.session.value(kernel))
    model.session.run(model.training_targets[0])
    assert not np.array_equal(model.session.value(mirror), model.session.value(kernel))
    model.close()


def test_one_asynchronous_replica_trains_like_one_device() -> None:
    alone, weights = train(compiled_model(None))
    history, same = train(compiled_model(AsynchronousDataParallel(1)))
    np.testing.assert_allclose(history.losses, alone.losses, rtol=1e-5)
    np.testing.assert_allclose(
        same["dense_1/kernel"], weights["dense_1/kernel"], rtol=1e-4, atol=1e-6
    )
    assert history.parallel["staleness"] == {"0": len(history.losses)}


@pytest.mark.parametrize(("steps", "traced"), [(10, 3), (2, 1)])
def test_a_trace_of_overlapping_steps_has_them_all(steps: int, traced: int) -> None:
    """The trace has as many steps as overlap, or all steps of a shorter training."""
    trace = Trace()
    model = compiled_model(Overlap(3, always=True))
    with options_set(Options(trace=trace, steps=steps)):
        assert len(model.fit(IMAGES, LABELS, batch_size=BATCH, verbose=0).losses) == steps
    model.close()
    assert sum("batch_indices" in e.name for e in trace.events) == trace.steps == traced


def test_overlapping_steps_of_ones_own_are_fed_once() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.placeholder("float32", [2], name="x")
        total = pg.Variable([0.0, 0.0])
        run = unroll(pg.group(total.assign_add(x)), 3)
    with pg.Session(graph, "cpu") as session:
        session.run(run, {x: [1.0, 2.0]})
        np.testing.assert_array_equal(session.value(total), [3.0, 6.0])


@pytest.mark.parametrize("every", [1, 4, 100])
@pytest.mark.parametrize("culprit", [0, 1])
def test_local_sgd_reports_a_non_finite_loss(every: int, culprit: int) -> None:
    """The error names the replica, whose weights do not enter into the mean."""
    x = np.random.default_rng(1).normal(size=(BATCH, 4)).astype(np.float32)
    x[BATCH // 2 * culprit] = 3e38 * np.sign(x[0])
    model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(6), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, device="cpu", strategy=LocalSGD(2, every=every))
    model.build((4,))
    start = model.named_weights()
    for _ in range(2):
        words = "on cpu:1 became NaN or inf" if culprit else "became NaN at step 1"
        with pytest.raises(NonFiniteError, match=words):
            model.fit(x, np.arange(BATCH) % 2, batch_size=BATCH, shuffle=False, verbose=0)
        if culprit == 0:
            for name, value in model.named_weights().items():
                np.testing.assert_array_equal(value, start[name])
        assert all(np.isfinite(value).all() for value in model.named_weights().values())
    model.fit(np.nan_to_num(x) / 3e38, np.arange(BATCH) % 2, batch_size=BATCH, verbose=0)
    model.close()


@pytest.mark.parametrize("compiles", [True, False])
def test_asynchronous_training_advances_the_random_counter(
    compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replicas advance the random counter: training before and after equals that of one device."""
    monkeypatch.setenv("PLAYGRAD_SIMD", str(int(compiles)))
    losses = []
    for strategy in (None, AsynchronousDataParallel(1)):
        model = compiled_model(None)
        with model.graph.as_default():
            model.session.run(pg.random_uniform([2]))  # other nodes may draw random numbers, too
        for chosen in (None, strategy, None):
            with options_set(Options(strategy=chosen or SINGLE)):
                history = model.fit(IMAGES, LABELS, batch_size=BATCH, verbose=0)
            losses.append(history.losses)
        model.close()
    np.testing.assert_array_equal(losses[:3], losses[3:])


def test_asynchronous_replicas_learn() -> None:
    history, _ = train(compiled_model(AsynchronousDataParallel(3)))
    report = history.parallel
    assert len(history.losses) == 50
    assert sum(report["updates"].values()) == 50
    assert set(report["updates"]) == {"cpu:0", "cpu:1", "cpu:2"}
    assert report["mean_staleness"] > 0
    assert history.losses[-10:].mean() < history.losses[:10].mean()


def test_a_slow_replica_delays_others_only_with_bounded_staleness() -> None:
    with options_set(Options(steps=24)):
        free, _ = train(compiled_model(AsynchronousDataParallel(3, delays={"cpu:1": 3600})))
        slow = {"cpu:1": 0.2}
        bound, _ = train(compiled_model(AsynchronousDataParallel(3, staleness=1, delays=slow)))
    counts = free.parallel["updates"]
    assert counts["cpu:1"] == 0 and counts["cpu:0"] + counts["cpu:2"] == 24
    counts = bound.parallel["updates"]
    assert max(counts.values()) - min(counts.values()) <= 2
    # During one batch, each other replica gets from one batch behind to two batches ahead.
    assert max(map(int, bound.parallel["staleness"])) <= 6


def asynchronous(model: pg.Model, strategy: AsynchronousDataParallel) -> AsynchronousStep:
    xs, ys = prepare_data(model.recipe, IMAGES, LABELS, "")
    data = model.recipe.data.upload("train", xs, ys)
    return strategy.build(model.recipe, BatchStream(data, BATCH))


def test_a_replica_that_dies_is_named_and_the_others_continue() -> None:
    model = compiled_model(None)
    # The staleness bound keeps the others from finishing before the loss is noticed.
    step = asynchronous(model, AsynchronousDataParallel(3, staleness=1))
    assert step.repeat(model.session, 6).steps_done == 6
    step.server.clients[1].session.close()
    assert step.repeat(model.session, 12).steps_done == 12
    report = step.server.report
    assert list(report.lost) == ["cpu:1"] and "closed" in report.lost["cpu:1"]
    assert sum(report.updates.values()) == 18
    for client in step.server.clients:
        client.session.close()
    with pytest.raises(GraphError, match="closed"):
        step.repeat(model.session, 12)
    step.finish()
    model.close()


def test_replicas_end_where_training_does_not_begin() -> None:
    """An error that only validation raises occurs when the replicas already exist."""

    class Fickle(nn.Layer):
        kind = "fickle"
        broken = False

        def call(self, *inputs: pg.Tensor, training: bool = False) -> pg.Tensor:
            if self.broken and not training:
                raise GraphError("it is broken.")
            return inputs[0]

    layer = Fickle()
    model = pg.Sequential([layer, nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu", strategy=AsynchronousDataParallel(2))
    model.build((3,))
    layer.broken = True
    x = np.ones((8, 3), np.float32)
    with pytest.raises(GraphError, match="it is broken"):
        model.fit(x, x[:, :1], batch_size=4, verbose=0, validation_data=(x, x[:, :1]))
    model.close()
    expect_ended("playgrad-replica")


def test_a_stop_during_the_start_of_a_thread_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        DeviceThread("stopped")
    expect_ended("playgrad-stopped")


def expect_ended(name: str) -> None:
    for thread in threading.enumerate():
        if thread.name.startswith(name):
            thread.join(60)
            assert not thread.is_alive()


def test_a_trace_of_asynchronous_training_has_its_last_updates() -> None:
    """The trace has batches of several replicas at the same time, and the last four updates of the
    weights, however often a program trains."""
    trace = Trace()
    model = compiled_model(AsynchronousDataParallel(2, delays={"cpu:0": 0.01, "cpu:1": 0.01}))
    with options_set(Options(trace=trace, steps=8)):
        for _ in range(2):
            assert len(model.fit(IMAGES, LABELS, batch_size=BATCH, verbose=0).losses) == 8
    model.close()
    assert {event.device for event in trace.events} == {"cpu:0", "cpu:1", "cpu:0 (weights)"}
    assert sum(event.kind == "update" for event in trace.events) == trace.steps == 4
    assert timeline(trace).text().startswith("4 steps together, of ")
    first, second = ([e for e in trace.events if e.device == f"cpu:{i}"] for i in range(2))
    assert any(a.start < b.end and b.start < a.end for a in first for b in second)


def test_a_trace_includes_delays_that_ended_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model = compiled_model(None)
    step = asynchronous(model, AsynchronousDataParallel(2, delays={"cpu:0": 0.001}))
    slow = step.server.clients[0]
    may_end = threading.Event()
    run = slow.session.run
    monkeypatch.setattr(slow.session, "run", lambda *args: may_end.wait(60) and run(*args))
    while slow.pending is None:
        step.repeat(model.session, 1)
    trace = Trace()
    assert step.run_traced(model.session, trace, 2) == 2
    may_end.set()
    step.finish()
    model.close()
    on_slow = [event for event in trace.events if event.device == "cpu:0"]
    assert [event.kind for event in on_slow] == ["delay", "gradient"]
    assert on_slow[0].end - on_slow[0].start >= 0.001
    assert on_slow[0].end == on_slow[1].start


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Overlap(0), "steps must be ≥ 1, got 0"),
        (lambda: LocalSGD(2, every=0), "every must be ≥ 1, got 0"),
        (lambda: AsynchronousDataParallel(2, staleness=-1), "staleness must be ≥ 0, got -1"),
    ],
)
def test_contradictory_options_are_refused(make: Any, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        make()


def test_local_sgd_weights_uneven_shares_by_samples() -> None:
    """Compare with plain NumPy: linear regression on three devices, with 2, 2 and 3 samples of each
    batch."""
    rng = np.random.default_rng(4)
    x, y = (rng.normal(size=(28, width)).astype(np.float32) for width in (3, 1))
    model = pg.Sequential([nn.Dense(1, name="line")])
    model.compile(pg.optim.SGD(0.1), "mse", device="cpu", strategy=LocalSGD(3, every=2))
    model.build((3,))
    start = model.named_weights()
    model.fit(x, y, batch_size=7, epochs=2, verbose=0, shuffle=False)

    bounds = (0, 2, 4, 7)
    replicas = [(start["line/kernel"].copy(), start["line/bias"].copy()) for _ in range(3)]
    for step in range(8):
        first = 7 * (step % 4)
        for number in range(3):
            kernel, bias = replicas[number]
            rows = slice(first + bounds[number], first + bounds[number + 1])
            error = 2 * (x[rows] @ kernel + bias - y[rows]) / (rows.stop - rows.start)
            replicas[number] = (kernel - 0.1 * x[rows].T @ error, bias - 0.1 * error.sum(0))
        if step % 2 == 1:
            mean = [(2 * a + 2 * b + 3 * c) / 7 for a, b, c in zip(*replicas, strict=True)]
            replicas = [(mean[0], mean[1])] * 3
    np.testing.assert_allclose(
        model.named_weights()["line/kernel"], replicas[0][0], rtol=1e-4, atol=1e-6
    )
    np.testing.assert_allclose(
        model.named_weights()["line/bias"], replicas[0][1], rtol=1e-4, atol=1e-6
    )
    model.close()
