"""Compiled steps on the desktop: hosts of sessions, products by BLAS, threads, memory."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any
from unittest import mock

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.contract.cases import cases_of
from playgrad.contract.on_device import check_values
from playgrad.errors import DeviceError
from playgrad.graph.opdef import lookup
from playgrad.ops.convolution import emit_convolution
from playgrad.ops.products import emit_matmul
from playgrad.runtime import desktop_host, host_program, sgemm, variables, wasmtime_host
from playgrad.runtime.compiled_run import CompiledRun
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.runtime.wasmtime_host import WasmtimeHost
from playgrad.wasm import window_panels
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import integer

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every program compiled at its first run."""
    monkeypatch.delenv(desktop_host.VARIABLE)
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


@pytest.fixture(params=["blas", "numpy"])
def products(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, ...]]:
    """The arguments of all products that compiled code calls: of OpenBLAS, and of NumPy."""
    multiply = sgemm.product() if request.param == "blas" else sgemm.numpy_product
    assert request.param == "numpy" or multiply is not sgemm.numpy_product
    called: list[tuple[int, ...]] = []

    def counted(begin: int, *arguments: int) -> None:
        called.append(arguments)
        multiply(begin, *arguments)

    monkeypatch.setattr(wasmtime_host, "product", lambda: counted)
    return called


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", NETWORKS)
def test_training_is_the_same_as_by_numpy(
    name: str, threads: int, products: list[tuple[int, ...]]
) -> None:
    with using_step_host(None):
        expected, weights, _ = losses_of(NETWORKS[name](), threads)
    assert not products
    losses, trained, _ = losses_of(NETWORKS[name](), threads)
    assert products
    np.testing.assert_allclose(losses, expected, 1e-4)
    for value, other in zip(trained, weights, strict=True):
        np.testing.assert_allclose(value, other, 1e-2, 1e-3)


@pytest.mark.parametrize("transposed", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("stacks", [(3, 3), (3, 0), (0, 3)])
def test_large_products_are_calls_of_blas(
    graph: pg.Graph,
    transposed: tuple[bool, bool],
    stacks: tuple[int, int],
    products: list[tuple[int, ...]],
) -> None:
    random = np.random.default_rng(1)
    shapes = ((90, 70), (70, 80))
    a, b = (
        random.normal(size=[stack] * bool(stack) + list(shape[::-1] if flip else shape))
        for stack, shape, flip in zip(stacks, shapes, transposed, strict=True)
    )
    result = pg.matmul(*(pg.Variable(x.astype(np.float32)) for x in (a, b)), *transposed)
    x, y = (v.swapaxes(-1, -2) if t else v for v, t in zip((a, b), transposed, strict=True))
    with Session(graph, "cpu") as session:
        value = session.run(result)
        assert compiled(session, result).step.order.emitters
    np.testing.assert_allclose(value, x @ y, 1e-3, 1e-4)
    # The rows of a stack and one matrix are the rows of one product.
    assert len(products) == (1 if stacks == (3, 0) and not transposed[0] else 3)
    assert {arguments[:2] for arguments in products} == {transposed}


def test_a_stack_of_outer_products_is_one_product(
    graph: pg.Graph, products: list[tuple[int, ...]]
) -> None:
    a, b = (np.random.default_rng(3).normal(size=size) for size in ((3, 1, 300), (1, 400)))
    arrays = [pg.Variable(x.astype(np.float32)) for x in (a, b)]
    with Session(graph, "cpu") as session:
        value = session.run(pg.matmul(*arrays, transpose_a=True))
    np.testing.assert_allclose(value, a.swapaxes(1, 2) @ b, 1e-3, 1e-4)
    assert len(products) == 1


BY_PRODUCTS = ("matmul", "conv2d", "conv2d_filter_gradient", "conv2d_input_gradient")


@pytest.mark.parametrize("panel", [1 << 8, window_panels.PANEL])
@pytest.mark.parametrize("name", BY_PRODUCTS)
def test_operations_by_products_agree_with_the_reference(
    name: str, panel: int, monkeypatch: pytest.MonkeyPatch, products: list[tuple[int, ...]]
) -> None:
    monkeypatch.setattr(emit_matmul, "BLAS_FROM", 0)
    monkeypatch.setattr(emit_convolution, "WORTH", 0)
    monkeypatch.setattr(window_panels, "PANEL", panel)
    check_values(lookup(name), cases_of(lookup(name)), "cpu:0")
    assert products


def test_vectors_and_small_matrices_by_blas(graph: pg.Graph) -> None:
    random = np.random.default_rng(2)
    a, b = (random.normal(size=size).astype(np.float32) for size in ((1, 600), (600, 500)))
    with Session(graph, "cpu") as session:
        for x, y, flips in (
            (a, b, (False, False)),
            (a.T, b, (True, False)),
            (b.T, a, (False, True)),
            (b, a.T, (True, False)),
        ):
            left, right = x.T if flips[0] else x, y.T if flips[1] else y
            value = session.run(pg.matmul(pg.constant(x), pg.constant(y), *flips))
            np.testing.assert_allclose(value, left @ right, 1e-3, 1e-4)


def test_an_interrupted_product_changes_nothing(
    graph: pg.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal comes while a product is computed, which compiled code waits for."""
    left = 1

    def interrupted(begin: int, *arguments: int) -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt
        sgemm.product()(begin, *arguments)

    monkeypatch.setattr(wasmtime_host, "product", lambda: interrupted)
    w = pg.Variable(np.full((96, 96), 0.01, np.float32))
    first = w.assign(pg.tanh(w @ w) + 1.0)
    late = pg.matmul(first, first)  # after the write
    with Session(graph, "cpu") as session:
        for fetches, count in (([first.node], 1), ([first.node, late], 2)):
            before, left = session.value(w), count
            with pytest.raises(KeyboardInterrupt):
                session.run(fetches)
            assert left == 0
            np.testing.assert_array_equal(session.value(w), before)
            session.run(fetches)
            assert not np.array_equal(session.value(w), before)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Unix alone has timers of signals")
def test_a_signal_between_products(graph: pg.Graph) -> None:
    """What its handler raises is raised by the run, and it may run the session itself."""
    x = y = pg.Variable(np.full((96, 96), 0.01, np.float32))
    for _ in range(20):
        y = pg.sin(pg.exp(pg.sin(pg.exp(pg.matmul(y, x)))))
    nested: list[Array] = []
    gc.collect()  # what earlier tests left: an error that is raised in a `__del__` is lost

    def raising(*_: object) -> None:
        raise KeyboardInterrupt

    with Session(graph, "cpu") as session:
        expected = session.run(y)

        def running(*_: object) -> None:
            nested.append(session.run(y))

        former = signal.getsignal(signal.SIGALRM)
        try:
            for number in range(60):
                signal.signal(signal.SIGALRM, (running, raising)[number % 2])
                deadline, count = time.monotonic() + 60, len(nested)
                with pytest.raises(KeyboardInterrupt) if number % 2 else nullcontext():
                    signal.setitimer(signal.ITIMER_REAL, 1e-3 + 1e-4 * number)
                    while len(nested) == count and time.monotonic() < deadline:
                        np.testing.assert_array_equal(session.run(y), expected)
        finally:
            signal.signal(signal.SIGALRM, former)
        assert len(nested) == 30
        for value in nested:
            np.testing.assert_array_equal(value, expected)


def test_an_error_in_a_product_names_the_operation(
    graph: pg.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: int) -> None:
        raise ValueError("no such library")

    monkeypatch.setattr(wasmtime_host, "product", lambda: broken)
    w = pg.Variable(np.full((96, 96), 0.01, np.float32))
    product = pg.matmul(w, w, name="squared")
    with Session(graph, "cpu") as session, pytest.raises(Exception, match="squared"):
        session.run(product)


def test_sessions_in_threads_have_memory_of_their_own() -> None:
    """Four threads train at once, and each gets what it gets alone."""
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


def test_the_environment_leaves_all_to_numpy(
    graph: pg.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "steps are compiled (wasmtime " in desktop_host.processor_summary()
    monkeypatch.setenv(desktop_host.VARIABLE, "0")
    assert "NumPy, since PLAYGRAD_SIMD is 0" in desktop_host.processor_summary()
    w = pg.Variable(np.zeros(7, np.float32))
    step = w.assign_add(pg.ones([7]))
    with Session(graph, "cpu") as session:
        session.run(step)
        runnable = session.compiled(step.node)
        assert runnable is not None and runnable.host_program is not None
        assert runnable.host_program.compiled is None


def test_a_compiler_that_cannot_be_loaded_is_named(
    graph: pg.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "playgrad.runtime.wasmtime_host", None)
    w = pg.Variable(np.zeros(7, np.float32))
    step = w.assign_add(pg.ones([7]))
    expected = r"(?s)wasmtime, cannot be loaded.*PLAYGRAD_SIMD=0"
    with Session(graph, "cpu") as session, pytest.raises(DeviceError, match=expected):
        session.run(step)


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
    code = StepCode(host.relaxed, host.multiplies)
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
