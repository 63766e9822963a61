"""Devices lost during training: the error that names the device, and training afterwards."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.devices.pending import Outcome
from playgrad.errors import DeviceLostError
from playgrad.networks.shared_session import shared_session
from playgrad.parallel import (
    AsynchronousDataParallel,
    DataParallel,
    LocalSGD,
    Pipeline,
    Strategy,
)
from playgrad.runtime.cpu_server import Server
from playgrad.runtime.open_sessions import memory_in_use
from tests.runtime.test_interpreters import LocalConnection
from tests.sweeps import sweep

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 8)).astype(np.float32)
Y = X[:, :3].argmax(1).astype(np.int32)
BATCH = 10
TWO = ("cpu:1", "cpu:2")
FOUR = ("cpu:1", "cpu:2", "cpu:3", "cpu:4")


class BreakingConnection(LocalConnection):
    """A connection that breaks after ``left`` more executions, in the middle of a step."""

    left: int | None = None

    def call(self, request: dict[str, Any], *data: bytes) -> Outcome:
        if self.left is not None and request["call"] == "execute":
            self.left -= 1
            self.alive = self.alive and self.left >= 0
        return super().call(request, *data)


@pytest.fixture
def connections() -> Iterator[dict[str, BreakingConnection]]:
    """Processors in other interpreters: the opened connections by name."""
    opened: dict[str, BreakingConnection] = {}

    def connect(name: str) -> BreakingConnection:
        opened[name] = BreakingConnection(Server())
        return opened[name]

    pg.set_logical_devices(cpu=5)
    with registry.interpreters(connect):
        yield opened


def network(strategy: Strategy | None, device: str = "cpu", dropout: float = 0.2) -> pg.Model:
    pg.reset_default_graph(1)
    layers = [nn.Dense(9, "relu"), nn.Dense(8, "tanh"), nn.Dropout(dropout), nn.Dense(3)]
    model = pg.Sequential(layers)
    compiled(model, strategy, device)
    return model


def compiled(model: pg.Model, strategy: Strategy | None, device: str = "cpu") -> None:
    model.compile(
        pg.optim.SGD(0.1, momentum=0.9),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        device=device,
        strategy=strategy,
    )


def fit(model: pg.Model, epochs: int, *callbacks: nn.Callback) -> nn.History:
    return model.fit(X, Y, batch_size=BATCH, epochs=epochs, verbose=0, callbacks=list(callbacks))


def undisturbed() -> np.ndarray[Any, Any]:
    model = network(None)
    losses = fit(model, 6).losses
    model.close()
    return losses


def at(step: int, do: Callable[[], None]) -> nn.Callback:
    """Return a callback that calls ``do`` once, when ``step`` steps are done."""
    left = [do]

    def look(done: int, logs: Any) -> None:
        if done >= step and left:
            left.pop()()

    return nn.LambdaCallback(on_steps_end=look)


def iterations(model: pg.Model) -> int:
    assert model.optimizer is not None
    return int(model.session.value(model.optimizer.iterations))


def check_no_threads_but(before: set[threading.Thread]) -> None:
    patience = time.monotonic() + 240
    while left := set(threading.enumerate()) - before:
        assert time.monotonic() < patience, left
        time.sleep(0.01)  # threads end a moment after they are asked to


def check_continues(model: pg.Model, begun: int) -> None:
    """Check that the next steps are the same as without a loss of devices."""
    expected = undisturbed()
    after = fit(model, 2).losses
    np.testing.assert_allclose(after, expected[begun : begun + len(after)], rtol=1e-3, atol=1e-5)
    for mirror in shared_session(model.graph).mirrors:
        original = model.graph.node(mirror.node.name.partition("/replica_")[0]).outputs[0]
        np.testing.assert_array_equal(model.session.value(mirror), model.session.value(original))


@pytest.mark.parametrize("lost", TWO)
@pytest.mark.parametrize("executions", range(0, 8, 2))
def test_replicas_continue_from_a_remaining_one(
    connections: dict[str, BreakingConnection], lost: str, executions: int
) -> None:
    """The device is lost at various points of a step."""
    model = network(DataParallel(TWO))
    with pytest.raises(DeviceLostError, match=f"{lost}: its worker has ended"):
        fit(model, 3, at(4, lambda: setattr(connections[lost], "left", executions)))
    assert model.history is not None and len(model.history.losses) >= 4
    begun = iterations(model)
    assert begun >= 4, "not the copy from the beginning"
    check_continues(model, begun)
    model.close()


def test_a_lost_stage_is_taken_from_the_other_pipeline(
    connections: dict[str, BreakingConnection],
) -> None:
    model = network(Pipeline(FOUR, micro_batches=2, replicas=2))
    with pytest.raises(DeviceLostError, match="cpu:2: its worker has ended"):
        fit(model, 3, at(4, lambda: setattr(connections["cpu:2"], "left", 3)))
    assert iterations(model) >= 4
    check_continues(model, iterations(model))
    model.close()


def test_variables_without_another_holder_are_restored_from_the_copy(
    connections: dict[str, BreakingConnection],
) -> None:
    model = network(Pipeline(TWO, micro_batches=2), dropout=0.0)
    fit(model, 1)
    saved = model.named_weights()
    with pytest.raises(DeviceLostError, match=r"cpu:2: its worker .* as at step 6, .*fit again"):
        fit(model, 1, at(2, lambda: setattr(connections["cpu:2"], "left", 1)))
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, saved[name])
    other = network(None, dropout=0.0)
    losses = fit(other, 3).losses
    np.testing.assert_allclose(fit(model, 2).losses, losses[6:], rtol=1e-3)
    model.close()
    other.close()


def test_local_training_continues(connections: dict[str, BreakingConnection]) -> None:
    model = network(LocalSGD(TWO, every=4))
    for lost in TWO:
        with pytest.raises(DeviceLostError, match=f"{lost}: its worker has ended"):
            fit(model, 2, at(3, lambda lost=lost: setattr(connections[lost], "left", 1)))  # type: ignore[misc]
    losses = fit(model, 6).losses
    assert losses[-6:].mean() < 0.7 * undisturbed()[:6].mean()
    model.close()


def test_a_lost_parameter_server_continues_from_its_copy(
    connections: dict[str, BreakingConnection],
) -> None:
    threads = set(threading.enumerate())
    model = network(AsynchronousDataParallel(TWO), device="cpu:3")
    with pytest.raises(DeviceLostError, match="cpu:3: its worker has ended"):
        fit(model, 3, at(4, lambda: setattr(connections["cpu:3"], "left", 1)))
    assert iterations(model) == 0
    assert fit(model, 3).losses[-1] < 1.2
    assert iterations(model) == 18
    model.close()
    check_no_threads_but(threads)


def test_asynchronous_replicas_continue_and_come_back(
    connections: dict[str, BreakingConnection],
) -> None:
    """Meanwhile, the memory in use of the lost device is reported as zero."""
    model = network(AsynchronousDataParallel(TWO))
    sizes: list[dict[str, int]] = []
    look = nn.LambdaCallback(on_epoch_end=lambda epoch, logs: sizes.append(memory_in_use()))
    report = fit(model, 10, at(8, lambda: setattr(connections["cpu:2"], "left", 0)), look).parallel
    assert "its worker has ended" in report["lost"]["cpu:2"]
    assert sizes[0]["cpu:2"] > 0 and sizes[-1]["cpu:2"] == 0
    assert sizes[-1]["cpu:1"] > 0
    assert sum(report["updates"].values()) == 60
    report = fit(model, 3).parallel
    assert not report["lost"] and min(report["updates"].values()) > 0
    model.close()


@pytest.mark.gpu
@pytest.mark.parametrize("lost", sweep([0, 1], often=[1]))
def test_synchronous_gpus_continue_after_a_lost_device(lost: int) -> None:
    def small(strategy: Strategy | None, device: str) -> pg.Model:
        """A network of few kernels, which a software adapter compiles again after the loss."""
        pg.reset_default_graph(1)
        model = pg.Sequential([nn.Dense(3)])
        compiled(model, strategy, device)
        return model

    pg.set_logical_devices(gpu=2)
    model = small(DataParallel(2), "gpu")
    with pytest.raises(DeviceLostError, match=f"gpu:{lost}: the device .* was lost"):
        fit(model, 3, at(4, lambda: registry.gpu(lost).host._device.destroy()))
    begun = iterations(model)
    expected = fit(small(None, "cpu"), 6).losses
    after = fit(model, 2).losses
    np.testing.assert_allclose(after, expected[begun : begun + len(after)], rtol=1e-3)
    model.close()


def test_a_session_restores_lost_variables(
    connections: dict[str, BreakingConnection],
) -> None:
    """At rest nothing is lost. A run that changed variables is undone on all devices."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder("float32", [2], name="x")
        with graph.device("cpu:1"):
            kept = pg.Variable([1.0, 2.0], "kept")
            y = x * 2.0
            more = kept.assign_add(x)
        with graph.device("cpu:2"):
            gone = pg.Variable([3.0, 4.0], "gone")
            z = x + 1.0
    with pg.Session(graph, "cpu") as session:
        feeds = {x: [1.0, 1.0]}
        session.run([y, z, kept, gone], feeds)
        session.assign({kept: [5.0, 6.0], gone: [7.0, 8.0]})
        connections["cpu:2"].alive = False
        assert session.run([y, z], feeds)[1].tolist() == [2, 2]  # on the device opened in its place
        assert session.lost_variables() == []
        connections["cpu:2"].alive = False
        assert session.values([kept, gone])[1].tolist() == [7, 8]
        assert session.run([kept, gone])[1].tolist() == [7, 8]
        session.run(more, feeds)
        assert session.value(kept).tolist() == [6, 7]
        connections["cpu:2"].alive = False
        with pytest.raises(DeviceLostError, match=r"cpu:2: its worker has ended.* from 0.0 s earl"):
            session.run(gone * 1.0)
        assert session.value(kept).tolist() == [5, 6]
        assert session.run(gone).tolist() == [7, 8]
        session.assign({gone: [9.0, 9.0]})
        assert session.run(gone).tolist() == [9, 9] and session.lost_variables() == []
