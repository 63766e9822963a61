"""Processors in other interpreters, as in a page; here both ends are in one process."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import playgrad as pg
from playgrad import ops
from playgrad.devices import registry
from playgrad.devices.pending import Done, Outcome, Result
from playgrad.errors import DeviceLostError, DeviceTimeoutError, UnsupportedOpError, error_from_json
from playgrad.graph.opdef import _REGISTRY
from playgrad.runtime.cpu_server import Server
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Trace
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.parallel.test_random_cuts import check_cut
from tests.sweeps import examples


class LocalConnection:
    """A connection to a server in this process; everything crosses as bytes and text."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.alive = True
        self.calls: list[str] = []

    def call(self, request: dict[str, Any], *data: bytes) -> Outcome:
        if not self.alive:
            raise DeviceLostError("its worker has ended.")
        self.calls.append(request["call"])
        text, payload = self.server.serve(json.dumps(request), data)
        answer = json.loads(text)
        if "error" in answer:
            raise error_from_json(answer["error"])
        return answer["value"], payload

    def begin(self, request: dict[str, Any], *data: bytes) -> Result[Outcome]:
        return Done(self.call(request, *data))

    def give_up(self) -> None:
        self.alive = False


@pytest.fixture
def connections(restore_devices: None) -> Iterator[dict[str, LocalConnection]]:
    """Four processors, three of them in other interpreters: the opened connections by name."""
    opened: dict[str, LocalConnection] = {}

    def connect(name: str) -> LocalConnection:
        opened[name] = LocalConnection(Server())
        return opened[name]

    registry.set_logical_devices(cpu=4)
    with registry.interpreters(connect):
        yield opened


@pytest.fixture
def restore_devices() -> Iterator[None]:
    yield
    registry.reset_logical_devices()


def stats(connections: dict[str, LocalConnection]) -> list[tuple[int, int, int]]:
    counts = []
    for name in sorted(connections):
        value = connections[name].call({"call": "stats"})[0]
        counts.append((value["buffers"], value["bytes"], value["programs"]))
    return counts


def network(devices: list[str], dtype: str = "float32") -> Any:
    """Return a chain of products with a trained variable on each of ``devices``."""
    graph = pg.Graph()
    x = None
    with graph.as_default():
        x = value = ops.placeholder(dtype, [None, 3], name="x")
        variables = []
        for number, device in enumerate(devices):
            with graph.device(device):
                start = np.random.default_rng(number).normal(size=(3, 3))
                weight = ops.Variable(start, name=f"w{number}", dtype=dtype)
                variables.append(weight)
                value = ops.matmul(value, weight) * 0.5 + ops.constant(np.ones(3), dtype=dtype)
        loss = ops.reduce_sum(value * value)
        grads = pg.gradients(loss, variables)
        train = ops.group(*(v.assign_sub(0.01 * g) for v, g in zip(variables, grads, strict=True)))
    return graph, x, loss, train, variables


ALL = ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("traced", [False, True])
def test_values_match_one_processor(connections: Any, dtype: str, traced: bool) -> None:
    batch = np.random.default_rng(9).normal(size=(5, 3)).astype(dtype)
    results = []
    for devices in (["cpu:0"] * 4, ALL, ["cpu:2"] * 4):
        graph, x, loss, train, variables = network(devices, dtype)
        with Session(graph, device="cpu") as session:
            trace = Trace() if traced else None
            runs = [session.run([loss, train], {x: batch}, trace)[0] for _ in range(5)]
            results.append([runs, [session.value(v) for v in variables]])
            if traced and devices == ALL:
                assert {event.device for event in trace.events} == set(ALL)
    for other in results[1:]:
        np.testing.assert_array_equal(other[0], results[0][0])
        np.testing.assert_array_equal(other[1], results[0][1])
    assert stats(connections) == [(0, 0, 0)] * 3


def test_many_steps_are_one_call(connections: dict[str, LocalConnection]) -> None:
    batch = np.ones((5, 3), np.float32)
    values = []
    for devices in (["cpu:0"], ["cpu:1"]):
        graph, x, _, train, variables = network(devices)
        with Session(graph, device=devices[0]) as session:
            session.run(train, {x: batch})
            if connections:
                connections["cpu:1"].calls.clear()
            assert session.repeat(train, 20, {x: batch}).steps_done == 20
            values.append(session.value(variables[0]))
    np.testing.assert_array_equal(*values)
    assert connections["cpu:1"].calls[:2] == ["execute", "read"]


def test_a_stop_ends_steps_in_another_interpreter(connections: dict[str, LocalConnection]) -> None:
    graph, x, _, train, _ = network(["cpu:1"])
    asked = []
    with Session(graph, device="cpu:1") as session:
        session.run(train, {x: np.ones((5, 3))})
        before = session.value("w0")
        connections["cpu:1"].server._stop = lambda: asked.append(1) is None and len(asked) > 40
        done = session.repeat(train, 1000, {x: np.ones((5, 3))}).steps_done
        connections["cpu:1"].server._stop = lambda: False
        assert 0 < done < 40
        with Session(graph, device="cpu") as other:
            other.assign({"w0": before})
            other.repeat(train, done, {x: np.ones((5, 3))})
            np.testing.assert_array_equal(session.value("w0"), other.value("w0"))


def test_asynchronous_runs_take_effect_when_they_end(
    connections: dict[str, LocalConnection],
) -> None:
    graph = pg.Graph()
    with graph.as_default():
        x = ops.placeholder("float32", [2], name="x")
        update = ops.Variable([1.0, 2.0], name="v").assign_add(x)
    with Session(graph, device="cpu:1") as session:
        for count in range(1, 4):
            begun = session.begin([update], {x: [1.0, 1.0]})
            assert begun.result()[0].tolist() == [1 + count, 2 + count]
        assert session.value("v").tolist() == [4, 5]


@pytest.fixture
def failing() -> Iterator[Callable[..., Any]]:
    """An operation that raises an error for negative numbers."""

    def reference(inputs: Any, attrs: Any) -> Any:
        if inputs[0].min() < 0:
            raise pg.ShapeError("it is negative.", hint="Give a positive one.")
        return [inputs[0]]

    op = pg.register(pg.OpDef("careful", lambda inputs, attrs: [inputs[0]], reference))
    yield lambda x: x.graph.add(op, [x]).output
    del _REGISTRY["careful"]


def test_a_failing_run_changes_no_variable_anywhere(connections: Any, failing: Any) -> None:
    graph = pg.Graph()
    with graph.as_default():
        x = ops.placeholder("float32", [2], name="x")
        updates = []
        for device in ALL:
            with graph.device(device):
                variable = ops.Variable(np.zeros(2), name=f"v_{device[-1]}")
                updates.append(variable.assign_add(x))
        with graph.device("cpu:2"), graph.control_dependencies(updates):
            checked = failing(x)
    with Session(graph, device="cpu") as session:
        session.run([checked, *updates], {x: [1.0, 2.0]})
        for _ in range(2):
            with pytest.raises(pg.ShapeError) as caught:
                session.run([checked, *updates], {x: [-1.0, 2.0]})
            assert caught.value.op == "careful" and caught.value.hint == "Give a positive one."
            assert caught.value.source[0] == __file__
            assert "cpu:2 was computing 'careful'." in caught.value.__notes__
        for device in ALL:
            assert session.value(f"v_{device[-1]}").tolist() == [1, 2]
        session.run(updates, {x: [1.0, 1.0]})
        for device in ALL:
            assert session.value(f"v_{device[-1]}").tolist() == [2, 3]


def test_an_operation_of_the_program_runs_in_another_interpreter(
    connections: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    offset = np.float32(2.0)

    def helper(x: Any) -> Any:
        return np.maximum(x, 0) + offset

    shifted = pg.register_op("shifted", reference=lambda x, *, scale=1.0: helper(x) * scale)
    ramp = pg.register_op("ramp", formula=lambda x: pg.expr.where(x > 0.0, x, 0.0))
    graph = pg.Graph()
    with graph.as_default(), graph.device("cpu:1"):
        x = ops.placeholder("float32", [2], name="x")
        y = shifted(x, scale=3.0) + ramp(x)
    for name in ("shifted", "ramp"):  # the other interpreter has not run the program
        monkeypatch.delitem(_REGISTRY, name)
    with Session(graph, device="cpu") as session:
        assert session.run(y, {x: [1.0, -2.0]}).tolist() == [10.0, 6.0]


def test_an_unsendable_operation_names_the_object_it_uses(connections: Any) -> None:
    class Doubler:
        pass

    doubler = Doubler()
    held = pg.register_op("held", reference=lambda x: doubler and x)
    graph = pg.Graph()
    with graph.as_default(), graph.device("cpu:1"):
        y = held(ops.placeholder("float32", [2], name="x") * 2.0)
    unknown = pytest.raises(UnsupportedOpError, match=r"'held' cannot run on cpu:1.*'Doubler'")
    with Session(graph, device="cpu") as session, unknown as caught:
        session.run(y, {"x:0": [1.0, 2.0]})
    assert caught.value.source[0] == __file__ and "cpu:0" in caught.value.hint
    del _REGISTRY["held"]


def test_a_lost_interpreter_is_named_and_opened_anew(
    connections: dict[str, LocalConnection],
) -> None:
    graph, x, loss, train, _ = network(ALL)
    with Session(graph, device="cpu") as session:
        expected = session.run(loss, {x: np.ones((2, 3))})
        connections["cpu:2"].alive = False
        before = session.value("w2")
        connections["cpu:2"].alive = True
        session.run(train, {x: np.ones((2, 3))})
        connections["cpu:2"].alive = False
        with pytest.raises(DeviceLostError, match="cpu:2: its worker has ended"):
            session.run([loss, train], {x: np.ones((2, 3))})
        assert np.array_equal(session.value("w2"), before)
        assert session.run(loss, {x: np.ones((2, 3))}) == expected
    with Session(graph, device="cpu") as session:
        assert session.run(loss, {x: np.ones((2, 3))}) == expected
    assert stats(connections) == [(0, 0, 0)] * 3


class Silence:
    """An answer that never arrives."""

    def __init__(self) -> None:
        self.end = threading.Event()

    def done(self) -> bool:
        return False

    def wait(self) -> None:
        self.end.wait()

    def result(self) -> Outcome:
        raise AssertionError("the answer never arrives")


def test_a_server_hanging_after_a_run_is_named_in_the_next(
    connections: dict[str, LocalConnection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run commits its writes without waiting; a server that hangs then is named by the next
    run."""
    graph, x, _, train, _ = network(ALL)
    silence = Silence()
    with Session(graph, device="cpu") as session:
        session.run(train, {x: np.ones((2, 3))})
        begin = connections["cpu:2"].begin

        def silent(request: dict[str, Any], *data: bytes) -> Any:
            asked.append(request["call"])
            return silence if "commit" in asked else begin(request, *data)

        asked: list[str] = []
        monkeypatch.setattr(connections["cpu:2"], "begin", silent)
        session.run(train, {x: np.ones((2, 3))})
        session.executor.timeout = 0.3
        with pytest.raises(DeviceTimeoutError, match=r"no answer for 0\.3 s from cpu:2"):
            session.run(train, {x: np.ones((2, 3))})
        assert not connections["cpu:2"].alive
        silence.end.set()


@examples(40)
@given(sampled_programs(), st.integers(2, 4), st.data())
def test_randomly_cut_graphs_keep_values(sampled: Sampled, count: int, data: st.DataObject) -> None:
    registry.set_logical_devices(cpu=4)
    try:
        with registry.interpreters(lambda name: LocalConnection(Server())):
            check_cut(sampled, ALL[:count], data, data.draw(st.sampled_from(ALL[:count])))
    finally:
        registry.reset_logical_devices()
