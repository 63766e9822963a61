"""Steps compiled to WebAssembly, in wasmtime: values, state, errors, stops and memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given

import playgrad as pg
from playgrad import nn
from playgrad.contract.cases import cases_of, operations
from playgrad.contract.on_device import check_gradients, check_values
from playgrad.errors import DataError, OutOfMemoryError
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node
from playgrad.ops import emitters
from playgrad.ops.emitters import Emitter, Operand
from playgrad.ops.recurrent.cells import lstm_cell
from playgrad.ops.recurrent.squashed_gates import cells_that_squash
from playgrad.runtime import compile_steps, executor, host_program
from playgrad.runtime.compiled_run import CompiledRun
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import integer
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.runtime.test_random_programs import check
from tests.sweeps import examples, slow
from tests.wasm.wasmtime_step_host import WasmtimeStepHost

Array = np.ndarray[Any, Any]
OPERATIONS = operations()
DIFFERENTIABLE = [op for op in OPERATIONS if any(case.differentiable for case in cases_of(op))]


@contextmanager
def compiling() -> Iterator[WasmtimeStepHost]:
    """Have every program compiled, at its first run, for a host."""
    host = WasmtimeStepHost()
    with (
        using_step_host(host),
        mock.patch.object(host_program, "SECONDS_OF_NODE", 0.0),
        mock.patch.object(executor, "default_threads", lambda: 0),
    ):
        yield host


@pytest.fixture
def host() -> Iterator[WasmtimeStepHost]:
    with compiling() as host:
        yield host


def compiled(session: Session, fetches: Any, feeds: Any = None) -> CompiledRun:
    """Return the compiled program that has run."""
    runnable = session.compiled(fetches, feeds)
    assert runnable is not None and runnable.host_program is not None
    assert runnable.host_program.compiled is not None
    return runnable.host_program.compiled


@pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name)
def test_operations_agree_with_the_reference(op: OpDef, host: WasmtimeStepHost) -> None:
    check_values(op, cases_of(op), "cpu:0")


@pytest.mark.parametrize("op", slow(*DIFFERENTIABLE), ids=lambda op: op.name)
def test_gradients_agree_with_the_reference(op: OpDef, host: WasmtimeStepHost) -> None:
    check_gradients(op, cases_of(op), "cpu:0")


@examples(40, night=1000)
@given(sampled_programs())
def test_random_programs(sampled: Sampled) -> None:
    with compiling(), Session(device="cpu") as session:
        check(session, sampled)


def images() -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    labels = random.integers(0, 4, 64).astype(np.int32)
    x = random.normal(size=(64, 9, 9, 2)).astype(np.float32) + labels[:, None, None, None]
    return x, labels


NETWORKS = {
    "dense": lambda: [nn.Flatten(), nn.Dense(9, "tanh"), nn.Dropout(0.3), nn.Dense(4)],
    "images": lambda: [
        nn.Conv2D(6, 3, padding="same", activation="relu"),
        nn.BatchNormalization(),
        nn.MaxPool2D(2),
        nn.Conv2D(5, 3),
        nn.GlobalAveragePooling2D(),
        nn.Dense(4),
    ],
    "rows": lambda: [nn.Reshape((9, 18)), nn.LSTM(5), nn.LayerNormalization(), nn.Dense(4)],
}


def losses_of(layers: Sequence[Any], epochs: int = 3) -> tuple[list[float], list[Array], Session]:
    """Train; return the losses of the epochs, the weights, and the session."""
    x, y = images()
    with pg.Graph(seed=5).as_default():
        model = pg.Sequential(list(layers))
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(0.01), loss=loss, device="cpu")
    history = model.fit(x, y, batch_size=16, epochs=epochs, verbose=0)
    weights = model.get_weights()
    return history.history["loss"], weights, model.session


@pytest.mark.parametrize("name", NETWORKS)
def test_training_is_the_same_as_in_python(name: str, host: WasmtimeStepHost) -> None:
    with using_step_host(None):
        expected, weights, _ = losses_of(NETWORKS[name]())
    losses, trained, _ = losses_of(NETWORKS[name]())
    np.testing.assert_allclose(losses, expected, 1e-4)
    for value, other in zip(trained, weights, strict=True):
        np.testing.assert_allclose(value, other, 1e-2, 1e-4)
    assert losses[-1] < losses[0] and host.calls > 0


def counter() -> tuple[pg.Tensor, pg.Tensor]:
    w = pg.Variable(np.arange(7, dtype=np.float32), name="w")
    return w, w.assign_add(pg.ones([7]))


def test_many_steps_are_one_call(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    w, step = counter()
    with Session(graph, "cpu") as session:
        session.repeat(step, 3)
        run = compiled(session, step.node)
        assert run.repeats and run.step.order.in_place == {"w"}
        before = host.calls
        assert session.repeat(step, 1000).steps_done == 1000
        assert host.calls - before < 500
        np.testing.assert_array_equal(session.value(w), np.arange(7) + 1003)


def test_old_and_new_values_can_be_fetched(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    w, step = counter()
    with Session(graph, "cpu") as session:
        for number in range(3):
            before, after = session.run([w, step])
            np.testing.assert_array_equal(before, np.arange(7) + number)
            np.testing.assert_array_equal(after, np.arange(7) + number + 1)
            before[:] = after[:] = -1.0  # they belong to the caller
        np.testing.assert_array_equal(session.value(w), np.arange(7) + 3)


def test_a_variable_is_read_after_it_was_written(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    w, step = counter()
    with graph.control_dependencies([step]):
        new = w.read_value() * 2.0
    with Session(graph, "cpu") as session:
        before, late = session.run([w * 1.0, new])
        np.testing.assert_array_equal(before, np.arange(7))
        np.testing.assert_array_equal(late, 2 * np.arange(7) + 2)
        assert host.calls > 0


def test_values_are_assigned_between_runs(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    w, step = counter()
    double = w * 2.0
    with Session(graph, "cpu") as session:
        session.run(step)
        mine = np.full(7, 5.0, np.float32)
        session.assign({w: mine})
        session.run(step)
        np.testing.assert_array_equal(mine, np.full(7, 5.0))
        kept = session.value(w)
        np.testing.assert_array_equal(session.run(double), np.full(7, 12.0))
        session.run(step)
        np.testing.assert_array_equal(kept, np.full(7, 6.0))
        np.testing.assert_array_equal(session.run(double), np.full(7, 14.0))


def test_infinite_rates_give_what_python_gives(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    results = []
    for where in (None, host):
        with using_step_host(where), pg.Graph().as_default() as fresh:
            w = pg.Variable(np.array([1.0, -2.0, 0.0], np.float32))
            loss = pg.reduce_sum(w * w * w)
            step = w.assign_sub(pg.constant(1e30) * pg.gradients(loss, [w])[0])
            with Session(fresh, "cpu") as session:
                losses = [session.run([loss, step])[0] for _ in range(4)]
                results.append((np.array(losses), session.value(w)))
    for expected, value in zip(*results, strict=True):
        np.testing.assert_array_equal(expected, value)
    assert not np.isfinite(results[0][0]).all()


def picked() -> tuple[pg.Tensor, pg.Tensor, pg.Tensor]:
    """Return a variable that counts down, its step, and what fails once it is negative."""
    w = pg.Variable(np.int32(2), name="w")
    return w, w.assign(w - 1), pg.gather(pg.constant(np.eye(3, dtype=np.float32)), w, name="row")


def test_an_error_names_its_operation_and_changes_nothing(
    graph: pg.Graph, host: WasmtimeStepHost
) -> None:
    w, step, row = picked()
    with Session(graph, "cpu") as session:
        for number in (2, 1, 0):
            np.testing.assert_array_equal(session.run([row, step])[0], np.eye(3)[number])
        for _ in range(2):
            with pytest.raises(DataError, match=r"must lie in \[0, 3\), but there is -1") as caught:
                session.run([row, step])
            assert caught.value.op == "row" and caught.value.source is not None
            assert session.value(w) == -1


def test_steps_before_an_error_have_taken_effect(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    w, step, row = picked()
    last = pg.Variable(np.zeros(3, np.float32))
    with Session(graph, "cpu") as session:
        with pytest.raises(DataError, match="there is -1"):
            session.repeat([step.node, last.assign(row).node], 50)
        assert session.value(w) == -1
        np.testing.assert_array_equal(session.value(last), np.eye(3)[0])


def test_python_computes_what_has_no_emitter(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    kept: list[Array] = []

    def twice(x: Array) -> Array:
        kept.append(x)
        return x * 2

    double = pg.register_op("compiled_twice", reference=twice, shape=lambda x: x)
    w = pg.Variable(np.ones(5, np.float32))
    step = w.assign(pg.tanh(double(w + 1.0)) + 1.0)
    expected = np.ones(5, np.float32)
    with Session(graph, "cpu") as session:
        for _ in range(3):
            session.run(step.node)
            expected = np.tanh((expected + 1) * 2) + 1
        assert [part.compiled for part in compiled(session, step.node).step.order.parts] == [
            *(True, False, True)
        ]
        np.testing.assert_allclose(session.value(w), expected, 1e-6)
    # The user's function may keep what it gets: later runs do not change it.
    assert len({x.tobytes() for x in kept}) == 3


def test_a_stop_between_parts_changes_nothing(
    graph: pg.Graph, host: WasmtimeStepHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_steps, "LONGEST", 50)
    w = pg.Variable(np.ones((4, 4), np.float32))
    x = w * 1.0
    for _ in range(5):
        x = x @ w
    step = w.assign(x)
    asked: list[int] = []
    with Session(graph, "cpu") as session:
        session.initialize()
        session.stop_check = lambda: bool(asked.append(1)) or len(asked) == 4
        with pytest.raises(KeyboardInterrupt):
            session.run(step)
        session.stop_check = lambda: False
        np.testing.assert_array_equal(session.value(w), np.ones((4, 4)))
        session.run(step)
        assert session.value(w)[0, 0] == 4**5


@pytest.mark.parametrize("fetches_gates", [False, True])
@pytest.mark.parametrize("is_linear", [False, True])
def test_gradients_of_cells_find_the_gates_as_they_need_them(
    graph: pg.Graph,
    host: WasmtimeStepHost,
    is_linear: bool,
    fetches_gates: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cell overwrites gates that nothing but its gradient, after it, needs."""
    chosen: list[int] = []

    def counted(*arguments: Any) -> dict[Node, pg.Tensor]:
        nodes = cells_that_squash(*arguments)
        chosen.append(len(nodes))
        return nodes

    monkeypatch.setattr(compile_steps, "cells_that_squash", counted)
    random = np.random.default_rng(3)
    x, state = (
        pg.Variable(random.normal(size=size).astype(np.float32)) for size in ((6, 28), (6, 7))
    )
    gates = pg.tanh(x * 0.3) * 2.0
    hidden, memory = lstm_cell(gates, state)
    total = hidden + memory if is_linear else pg.square(hidden) + pg.sin(memory)
    slopes = pg.gradients(total, [x, state])
    fetches = [hidden, memory, *slopes, *[gates] * fetches_gates]
    with using_step_host(None), Session(graph, "cpu") as session:
        expected = session.run(fetches)
    with Session(graph, "cpu") as session:
        for _ in range(2):
            for value, other in zip(session.run(fetches), expected, strict=True):
                np.testing.assert_allclose(value, other, 1e-5, 1e-6)
        order = compiled(session, fetches).step.order.nodes
    names = [node.op.name for node in order if node.op.name.startswith("lstm_cell")]
    assert sorted(names) == ["lstm_cell", "lstm_cell_gradient"]
    squashes = names[0] == "lstm_cell" and not fetches_gates
    assert chosen[-1] == 2 * squashes and (squashes or is_linear or fetches_gates)


def test_results_of_sigmoid_that_are_almost_0(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    values = np.float32([-np.inf, -1e30, -110, -103, -100, -95, -89, -88, -87, 0, 88, 104, np.inf])
    y = pg.sigmoid(pg.Variable(values))
    with Session(graph, "cpu") as session:
        result = session.run(y)
        compiled(session, y)
    expected = 1 / (1 + np.exp(-values.astype(np.float64).clip(-700, 700)))
    np.testing.assert_allclose(result, expected, 1e-6, 1e-45)


def test_gradients_of_saturated_cells(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    """They divide hidden states by output gates, which may be almost 0."""
    size = np.float32([-1e30, -200, -95, -88, -60, 0, 60, 88, 200, 1e30])
    x = pg.Variable(np.stack([np.repeat(size, 4), np.tile(size, 4)]))
    state = pg.Variable(np.linspace(-3, 3, 20, dtype=np.float32).reshape(2, 10))
    hidden, memory = lstm_cell(x * 1.0, state)
    slopes = pg.gradients(pg.square(hidden) + pg.sin(memory), [x, state])
    with using_step_host(None), Session(graph, "cpu") as session:
        expected = session.run(slopes)
    with Session(graph, "cpu") as session:
        for value, other in zip(session.run(slopes), expected, strict=True):
            np.testing.assert_allclose(value, other, 1e-5, 1e-7)
        assert len(compiled(session, slopes).step.order.layout.squashing) == 2


def test_gates_that_others_need_stay(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    """They are a variable, or those of another cell; the memories have no other use."""
    random = np.random.default_rng(3)
    x, state = (
        pg.Variable(random.normal(size=size).astype(np.float32)) for size in ((6, 28), (6, 7))
    )
    computed = x * 0.9
    cells = [(x, state * 0.5), (computed, state + 1.0), (computed, state - 1.0)]
    total = sum(pg.square(value) for cell in cells for value in lstm_cell(*cell))
    fetches = pg.gradients(total, [x, state])
    with using_step_host(None), Session(graph, "cpu") as session:
        expected = session.run(fetches)
    with Session(graph, "cpu") as session:
        before = session.value(x)
        for value, other in zip(session.run(fetches), expected, strict=True):
            np.testing.assert_allclose(value, other, 1e-5, 1e-6)
        np.testing.assert_array_equal(session.value(x), before)
        assert compiled(session, fetches).step.order.emitters


def test_repeated_steps_stop_between_calls(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    w, step = counter()
    with Session(graph, "cpu") as session:
        session.repeat(step, 1)
        calls = host.calls
        session.stop_check = lambda: host.calls - calls >= 3
        done = session.repeat(step, 10**9).steps_done
        session.stop_check = lambda: False
        np.testing.assert_array_equal(session.value(w), np.arange(7) + 1 + done)


def test_a_trap_names_the_operation(
    graph: pg.Graph, host: WasmtimeStepHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    def emit(
        step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
    ) -> None:
        step.f.store(integer(-64), integer(1))

    monkeypatch.setitem(emitters._EMITTERS, "matmul", Emitter(emit, lambda node: True))
    w = pg.Variable(np.ones((2, 2), np.float32))
    step = w.assign(pg.matmul(w * 2.0, w, name="wild"))
    with Session(graph, "cpu") as session:
        with pytest.raises(Exception, match="out of bounds") as caught:
            session.run(step)
        assert any("computing 'wild'" in note for note in caught.value.__notes__)
        np.testing.assert_array_equal(session.value(w), np.ones((2, 2)))


def test_memory_that_cannot_be_had_is_an_error_with_its_size(
    graph: pg.Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_program, "SECONDS_OF_NODE", 0.0)
    w = pg.Variable(np.ones((64, 64), np.float32))
    step = w.assign(w @ w * 0.5)
    with using_step_host(WasmtimeStepHost(1 << 16)), Session(graph, "cpu") as session:
        with pytest.raises(OutOfMemoryError, match=r"no room for [\d,]+ bytes of"):
            session.run(step)
        np.testing.assert_array_equal(session.value(w), np.ones((64, 64)))


def test_closing_a_session_frees_all_memory_of_the_host(host: WasmtimeStepHost) -> None:
    for _ in range(2):
        with pg.Graph().as_default() as graph:
            w = pg.Variable(np.ones((9, 9), np.float32))
            x = pg.placeholder("float32", [None, 9])
            step = w.assign_sub(0.01 * pg.gradients(pg.reduce_mean(pg.tanh(x @ w)), [w])[0])
            with Session(graph, "cpu") as session:
                for rows in (3, 8, 3):
                    for _ in range(100):
                        session.run(step, {x: np.ones((rows, 9), np.float32)})
                assert host.allocated > 0
        del graph, w, x, step, session
        gc.collect()
        assert host.allocated == 0


def test_programs_share_one_block(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    w = pg.Variable(np.ones((100, 100), np.float32))
    x = pg.placeholder("float32", [None, 100])
    result = pg.tanh(pg.tanh(x @ w) @ w) @ w
    with Session(graph, "cpu") as session:
        sizes = []
        for rows in (1, 200, 1000, 200, 1):
            values = session.run(result, {x: np.ones((rows, 100), np.float32)})
            np.testing.assert_allclose(values, 100 * np.tanh(100 * np.tanh(100)), 1e-5)
            gc.collect()
            sizes.append(host.allocated)
        block = 4 * 1000 * 100
        assert 2 * block < sizes[2] < 4 * block  # two results, and scratch memory
        assert sizes[4] < sizes[2] + block / 4


def test_runs_take_no_more_memory_than_the_first(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    w, step = counter()
    with Session(graph, "cpu") as session:
        session.run(step)
        allocated = host.allocated
        for number in range(500):
            if number % 50 == 0:
                session.assign({w: np.zeros(7, np.float32)})
            session.run([step, w * 1.0][: 1 + number % 2])
        gc.collect()
        assert host.allocated <= allocated + 4096


def test_a_program_is_compiled_once_that_is_worth_it(graph: pg.Graph) -> None:
    host, runs = WasmtimeStepHost(), 0
    w, step = counter()
    double = w * 2.0
    with using_step_host(host), Session(graph, "cpu", threads=1) as session:
        session.run(step.node)  # it trains: its digits must not depend on when it began
        assert len(host.loaded) == 1
        while len(host.loaded) == 1:
            np.testing.assert_array_equal(session.run(double), 2.0 * (np.arange(7) + 1))
            runs += 1
    assert 10 < runs < 100


def test_a_training_repeats_its_digits(graph: pg.Graph) -> None:
    """Also if it continues in another process, in which nothing is compiled yet."""
    x = np.linspace(-1, 1, 300, dtype=np.float32).reshape(60, 5)
    w = pg.Variable(np.linspace(-0.5, 0.5, 15, dtype=np.float32).reshape(5, 3))
    loss = pg.reduce_mean(pg.log_softmax(pg.tanh(pg.constant(x) @ w)) ** 2.0)
    step = w.assign_sub(0.3 * pg.gradients(loss, [w])[0])

    def trained(*parts: int) -> Array:
        value = w.node.attrs.get("value")
        for number, count in enumerate(parts):
            with using_step_host(WasmtimeStepHost()), Session(graph, "cpu", threads=1) as session:
                if number:
                    session.assign({w: value})
                session.repeat(step.node, count)
                value = session.value(w)
        assert value is not None
        return value

    np.testing.assert_array_equal(trained(90), trained(1, 30, 59))
