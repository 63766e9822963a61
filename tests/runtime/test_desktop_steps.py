"""Compiled steps on the desktop: hosts of sessions, BLAS between parts, threads, memory."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.runtime import compile_steps, desktop_host, host_program, variables
from playgrad.runtime.blas_nodes import is_left_to_blas
from playgrad.runtime.compiled_run import CompiledRun
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.runtime.wasmtime_host import WasmtimeHost
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import integer

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every program compiled at its first run."""
    monkeypatch.setenv(desktop_host.VARIABLE, "1")
    with mock.patch.object(host_program, "SECONDS_OF_NODE", 0.0):
        yield


def compiled(session: Session, fetches: Any) -> CompiledRun:
    runnable = session.compiled(fetches)
    assert runnable is not None and runnable.host_program is not None
    assert runnable.host_program.compiled is not None
    return runnable.host_program.compiled


def losses_of(layers: list[Any], threads: int = 2) -> tuple[list[float], list[Array], Any]:
    """Train on images that need large products; return losses, weights and the session."""
    random = np.random.default_rng(0)
    y = random.integers(0, 4, 128).astype(np.int32)
    x = random.normal(size=(128, 12, 12, 4)).astype(np.float32) + y[:, None, None, None]
    with pg.Graph(seed=5).as_default():
        model = pg.Sequential(layers)
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(0.003), loss=loss, device="cpu")
    model.session.executor.threads = threads
    history = model.fit(x, y, batch_size=64, epochs=3, verbose=0)
    return history.history["loss"], model.get_weights(), model.session


NETWORKS = {
    "wide": lambda: [nn.Flatten(), nn.Dense(64, "relu"), nn.Dense(48, "tanh"), nn.Dense(4)],
    "images": lambda: [
        nn.Conv2D(24, 3, activation="relu"),
        nn.Conv2D(16, 3, padding="same", activation="relu"),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Dense(4),
    ],
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", NETWORKS)
def test_training_is_the_same_as_by_numpy(name: str, threads: int) -> None:
    calls: list[int] = []
    call = CompiledRun._call

    def counted(self: CompiledRun, *arguments: Any) -> None:
        calls.append(len(self.step.order.parts))
        call(self, *arguments)

    with using_step_host(None):
        expected, weights, _ = losses_of(NETWORKS[name](), threads)
    with mock.patch.object(CompiledRun, "_call", counted):
        losses, trained, _ = losses_of(NETWORKS[name](), threads)
    assert max(calls) > 3, "no product was left to BLAS"
    np.testing.assert_allclose(losses, expected, 1e-4)
    for value, other in zip(trained, weights, strict=True):
        np.testing.assert_allclose(value, other, 1e-2, 1e-3)


def test_large_products_are_left_to_blas() -> None:
    with pg.Graph().as_default():
        wide, image = pg.zeros([256, 256]), pg.zeros([4, 32, 32, 8])
        assert is_left_to_blas((wide @ wide).node)
        assert not is_left_to_blas((wide[:8] @ wide[:, :8]).node)
        assert is_left_to_blas(pg.conv2d(image, pg.zeros([3, 3, 8, 16])).node)
        assert not is_left_to_blas(pg.conv2d(image[..., :1], pg.zeros([3, 3, 1, 256])).node)
        assert not is_left_to_blas(pg.tanh(wide).node)


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
def test_products_between_compiled_parts(
    graph: pg.Graph, transposed: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_steps, "WORTH", 1)
    random = np.random.default_rng(1)
    a, b = (random.normal(size=(3, 96, 96)).astype(np.float32) for _ in range(2))
    w = pg.Variable(a)
    terms = [pg.tanh(w * 0.5) + 1.0, pg.constant(b) * 2.0]
    result = pg.matmul(*terms, *transposed)
    step = w.assign(pg.sin(result * 0.1) * 0.5 - 0.25)
    x, y = np.tanh(a * 0.5) + 1, b * 2
    x, y = (v.swapaxes(1, 2) if t else v for v, t in zip((x, y), transposed, strict=True))
    with Session(graph, "cpu") as session:
        session.run(step.node)
        parts = compiled(session, step.node).step.order.parts
        assert [part.compiled for part in parts] == [True, False, True]
        expected = np.sin((x @ y) * np.float32(0.1)) * 0.5 - 0.25
        np.testing.assert_allclose(session.value(w), expected, 1e-3, 1e-4)


def test_steps_that_change_too_often_are_left_to_numpy(graph: pg.Graph) -> None:
    w = pg.Variable(np.full((96, 96), 0.01, np.float32))
    x = w * 1.0
    for _ in range(6):
        x = pg.tanh(x @ w)
    with Session(graph, "cpu") as session:
        session.run(x)
        runnable = session.compiled(x)
        assert runnable is not None and runnable.host_program is not None
        assert runnable.host_program.compiled is None


def test_sessions_in_threads_have_memory_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four threads train at once, and each gets what it gets alone."""
    monkeypatch.setattr(compile_steps, "WORTH", 1)
    results: dict[int, Array] = {}

    def work(number: int) -> None:
        with pg.Graph().as_default() as graph:
            random = np.random.default_rng(number)
            w = pg.Variable(random.normal(size=(128, 128)).astype(np.float32))
            step = w.assign(pg.sin(w @ w * 3.0 + w * 5.0))  # chaotic
            with Session(graph, "cpu") as session:
                session.repeat(step, 200)
                assert compiled(session, step.node).step.order.emitters
                results[number] = session.value(w)

    work(1)
    alone = results[1]
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    np.testing.assert_array_equal(results[1], alone)
    assert not np.array_equal(results[0], results[3])


def test_a_step_that_does_not_fit_is_left_to_numpy(
    graph: pg.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts: list[WasmtimeHost] = []

    def small() -> WasmtimeHost:
        hosts.append(WasmtimeHost(1 << 20))
        return hosts[-1]

    monkeypatch.setattr(variables, "desktop_host", small)
    x = pg.placeholder("float32", [None, 512])
    w = pg.Variable(np.ones(512, np.float32))
    step = w.assign(pg.reduce_mean(x * w, 0))
    with Session(graph, "cpu") as session:
        for rows in (8, 4096, 8):  # 16 KB, 8 MB
            session.run(step, {x: np.full((rows, 512), 2.0, np.float32)})
        np.testing.assert_allclose(session.value(w), np.full(512, 8.0))
        assert len(hosts) == 1


def test_a_trace_between_compiled_runs(graph: pg.Graph) -> None:
    w = pg.Variable(np.zeros(7, np.float32))
    step = w.assign_add(pg.ones([7]))
    with Session(graph, "cpu") as session:
        for _ in range(3):
            session.run(step)
            session.run(step, trace=pg.Trace())
        assert compiled(session, step).step.order.written
        np.testing.assert_array_equal(session.value(w), np.full(7, 6.0))


def test_without_the_compiler_numpy_computes(
    graph: pg.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desktop_host, "has_compiler", lambda: False)
    assert 'pip install "playgrad[simd]"' in desktop_host.processor_summary()
    w = pg.Variable(np.zeros(7, np.float32))
    step = w.assign_add(pg.ones([7]))
    with Session(graph, "cpu") as session:
        session.repeat(step, 5)
        runnable = session.compiled(step.node)
        assert runnable is not None and runnable.host_program is not None
        assert runnable.host_program.compiled is None
        np.testing.assert_array_equal(session.value(w), np.full(7, 5.0))


# The host


def test_memory_grows_where_it_is_and_is_used_again() -> None:
    host = WasmtimeHost(1 << 27)
    first = host.empty(1000)
    first[:] = 7
    large = [host.empty(20 << 20) for _ in range(5)]
    assert all(host.reachable(array) for array in (first, *large))
    assert not host.reachable(np.zeros(9, np.uint8)) and (first == 7).all()
    assert len({host.address(array) for array in large}) == 5
    with pytest.raises(MemoryError):
        host.empty(40 << 20)
    place = host.address(large[1])
    del large[1:3]
    gc.collect()
    assert host.address(host.empty(40 << 20)) == place
    view = large[0][5:].view()
    del large
    gc.collect()
    view[:] = 3  # a view keeps its array
    assert host.allocated >= 20 << 20
    del view, first
    gc.collect()
    assert host.allocated == 0


def test_arrays_outlive_their_host() -> None:
    host = WasmtimeHost()
    array = host.empty(1 << 16)
    del host
    gc.collect()
    array[:] = 5
    assert array.sum() == 5 << 16


def test_a_trap_is_an_error_and_the_next_call_works() -> None:
    host = WasmtimeHost()
    code = StepCode(host.relaxed)
    code.begin_run()
    code.f.store(integer(-64), integer(1))
    code.begin_run()
    code.begin_operation(5)
    wild, tame = host.load(code.encode(), 2)
    table = host.empty(64)
    table[:] = 0
    for count in range(1, 4):
        with pytest.raises(Exception, match="out of bounds"):
            wild(0, 0, 0, host.address(table), 1)
        tame(0, 0, 0, host.address(table), 1)
        assert list(table.view(np.int32)[:3]) == [5, 0, count]
