"""Strategies on several processors of a page: each compiles its part, and replicas stay equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.errors import DataError
from playgrad.inspection.computed_nodes import computed_nodes
from playgrad.networks.shared_session import shared_session
from playgrad.parallel import DataParallel, Pipeline, Strategy
from playgrad.parallel.replicas import mirrored_by
from playgrad.runtime.compiled_segments import CompiledSegment
from playgrad.runtime.cpu_server import Server
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.runtime.steps_code import CompiledSegments
from tests.runtime.test_compiled_steps import compiling
from tests.runtime.test_interpreters import LocalConnection
from tests.wasm.wasmtime_step_host import WasmtimeStepHost

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def processors() -> Iterator[None]:
    """Two processors, the second in another interpreter."""
    registry.set_logical_devices(cpu=2)
    with registry.interpreters(lambda name: LocalConnection(Server())):
        yield
    registry.reset_logical_devices()


@pytest.fixture
def host() -> Iterator[WasmtimeStepHost]:
    with compiling() as host:
        yield host


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Counts the runs of compiled segments, in this interpreter and in the others."""
    counts = {"here": 0, "there": 0}
    for where, kind, name in (
        ("here", CompiledSegment, "run_with"),
        ("there", CompiledSegments, "run"),
    ):
        run = getattr(kind, name)

        def counted(self: Any, *arguments: Any, run: Any = run, where: str = where) -> Any:
            counts[where] += 1
            return run(self, *arguments)

        monkeypatch.setattr(kind, name, counted)
    return counts


def trained(strategy: Strategy | None) -> tuple[list[float], pg.Model]:
    random = np.random.default_rng(0)
    x = random.normal(size=(96, 6)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    with pg.Graph(seed=3).as_default():
        model = pg.Sequential(
            [nn.Dense(9, "tanh"), nn.LayerNormalization(), nn.Dense(7, "gelu"), nn.Dense(2)]
        )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, device="cpu", strategy=strategy)
    history = model.fit(x, y, batch_size=32, epochs=4, verbose=0)
    return history.history["loss"], model


def test_evaluation_and_prediction_are_compiled_beside_replicas(host: WasmtimeStepHost) -> None:
    x = np.random.default_rng(1).normal(size=(70, 6)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    with using_step_host(None):
        _, apart = trained(DataParallel(2))
        expected = [apart.evaluate(x, y, batch_size=32), apart.predict(x)]
    _, model = trained(DataParallel(2))
    before = host.calls
    for _ in range(2):
        np.testing.assert_allclose(model.evaluate(x, y, batch_size=32), expected[0], 1e-4)
        np.testing.assert_allclose(model.predict(x), expected[1], 1e-3, 1e-4)
    assert host.calls >= before + 4
    programs = [p.host_program for p in model.session._programs._runnables.values()]
    compiled = [p.compiled for p in programs if p is not None and p.compiled is not None]
    assert len(compiled) == 2 and all(not run.step.order.parts[1:] for run in compiled)


@pytest.mark.parametrize(
    "strategy", [DataParallel(2), Pipeline(2, 2, "gpipe")], ids=["data", "pipeline"]
)
def test_each_processor_compiles_its_part(
    host: WasmtimeStepHost, compiled: dict[str, int], strategy: Strategy
) -> None:
    with using_step_host(None):
        expected, _ = trained(strategy)
    assert compiled == {"here": 0, "there": 0}
    losses, model = trained(strategy)
    assert compiled["here"] >= 12 and compiled["there"] >= 12
    np.testing.assert_allclose(losses, expected, 1e-4)
    computed = computed_nodes(model.session, model.training_targets)
    assert computed is not None and not computed.python and computed.problem is None
    assert computed.operations == computed.compiled_operations > 40
    alone, _ = trained(None)
    np.testing.assert_allclose(losses, alone, 1e-4)
    assert losses[-1] < losses[0]
    if isinstance(strategy, DataParallel):  # to the bit, after twelve updates
        mirrors = shared_session(model.graph).mirrors
        names = {mirrored_by(mirror.variable_name) for mirror in mirrors}
        assert {"dense_1/kernel", "adam/dense_1/kernel/m"} <= names
        for mirror in mirrors:
            value = model.session.value(mirrored_by(mirror.variable_name))
            np.testing.assert_array_equal(model.session.value(mirror), value)


def walk(graph: pg.Graph) -> tuple[Any, Any, Any]:
    """A step on the second processor, which fails if a place is outside."""
    places = pg.placeholder("int32", (None,))
    with graph.device("cpu:1"):
        w = pg.Variable(np.arange(4, dtype=np.float32))
        step = w.assign_add(pg.reduce_sum(pg.take(w, places)) + pg.zeros([4]))
    with graph.device("cpu:0"):
        v = pg.Variable(np.zeros(4, np.float32))
        both = pg.group(step, v.assign(step * 2.0))
    return places, both, [w, v]


def test_errors_and_stops_change_nothing(
    graph: pg.Graph, host: WasmtimeStepHost, compiled: dict[str, int]
) -> None:
    places, both, variables = walk(graph)
    with Session(graph, "cpu") as session:

        def values() -> list[Array]:
            return [session.value(variable) for variable in variables]

        with pytest.raises(DataError, match=r"9.*test_compiled_segments\.py, line"):
            session.run(both, {places: np.int32([1, 9])})
        np.testing.assert_array_equal(values(), [[0, 1, 2, 3], [0, 0, 0, 0]])
        session.run(both, {places: np.int32([1, 3])})
        np.testing.assert_array_equal(values(), [[4, 5, 6, 7], [8, 10, 12, 14]])
        assert min(compiled.values()) >= 1
        session.stop_check = lambda: True
        with pytest.raises(KeyboardInterrupt):
            session.run(both, {places: np.int32([1, 3])})
        session.stop_check = lambda: False
        np.testing.assert_array_equal(values(), [[4, 5, 6, 7], [8, 10, 12, 14]])


def test_what_changes_no_variable_is_left_to_python(
    graph: pg.Graph, host: WasmtimeStepHost, compiled: dict[str, int]
) -> None:
    with graph.device("cpu:1"):
        w = pg.Variable(np.arange(4, dtype=np.float32))
        y = pg.exp(w)
    with graph.device("cpu:0"):
        z = y + 1.0
    with Session(graph, "cpu") as session:
        for _ in range(3):
            np.testing.assert_allclose(session.run(z), np.exp(np.arange(4)) + 1, 1e-6)
    assert compiled == {"here": 0, "there": 0}
