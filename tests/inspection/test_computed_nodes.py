"""Which nodes of a step are compiled, and why Python computes the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler.program import Program
from playgrad.inspection.computed_nodes import computed_nodes
from playgrad.page.node_view import NodeViews
from playgrad.page.session_runs import SessionRuns
from playgrad.page.shown_model import LiveModel
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from tests.wasm.wasmtime_step_host import WasmtimeStepHost


@pytest.fixture
def host() -> Iterator[WasmtimeStepHost]:
    host = WasmtimeStepHost()
    with using_step_host(host):
        yield host


def operation_of_a_program() -> Any:
    return pg.register_op(
        "own_running_sum",
        reference=lambda x: np.cumsum(x, axis=1),
        shape=lambda x: x,
        gradient=lambda g, y, x: pg.flip(pg.cumsum(pg.flip(g, 1), 1), 1),
    )


def test_a_training_with_an_operation_of_its_own(host: WasmtimeStepHost) -> None:
    own = operation_of_a_program()

    class RunningSum(nn.Layer):
        kind = "own_running_sum"

        def call(self, x: Any) -> Any:
            return own(x)

    model = pg.Sequential([nn.Dense(5, "tanh"), RunningSum(), nn.Dense(2)])
    model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    x = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
    model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=8, epochs=1, verbose=0)
    form = NodeViews().computed(cast(LiveModel, model), [])
    assert form["python"] == {"own_running_sum_1/own_running_sum_1": "own"}
    assert form["problem"] is None
    assert form["compiled_operations"] == form["operations"] - 1 > 20
    compiled = set(form["compiled"])
    step = Program(model.graph, targets=model.training_targets).order()
    products = {node.name for node in step if node.op.name == "matmul"}
    assert len(products & compiled) == 5
    fused = next(node for node in step if node.op.name == "sqrt")  # into another node
    assert fused.name in compiled


def test_reasons(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    x = pg.placeholder("float32", [2, 4])
    w = pg.Variable(np.zeros((2, 4), np.float32))
    wide = pg.stack([w[0] * float(number) for number in range(1000)])
    several = w.assign(pg.reshape(pg.reduce_sum(wide, 0), [1, 4]) + w)
    with Session(graph, "cpu") as session:
        feeds = {x: np.zeros((2, 4), np.float32)}
        found = computed_nodes(session, [several.node], feeds)
        assert found is not None and found.problem is None
        assert found.python == {wide.node.name: "operands"}
        # A program that changes nothing waits for some runs.
        waiting = computed_nodes(session, [x * 2.0], feeds)
        assert waiting is not None and waiting.problem == "waits" and not waiting.operations


def test_without_a_host_nothing_is_compiled(graph: pg.Graph) -> None:
    w = pg.Variable(np.zeros(3, np.float32))
    step = w.assign_add(pg.ones([3]))
    with using_step_host(None), Session(graph, "cpu") as session:
        session.run(step)
        found = computed_nodes(session, [step.node])
        assert found is not None and found.problem == "apart" and not found.compiled


def test_programs_of_sessions(host: WasmtimeStepHost) -> None:
    """Each graph with its scope, of the largest run."""
    runs, programs = SessionRuns(), []
    sessions = []
    for _ in range(2):
        with pg.Graph().as_default() as graph:
            w = pg.Variable(np.zeros(3, np.float32))
            step = w.assign(pg.tanh(w) + 1.0)
            session = Session(graph, "cpu")
            sessions.append(session)
            session.run(step)
            program = Program(graph, targets=[step.node])
            runs.add(session, program, {})
            programs.append(program)
    form = NodeViews(runs).computed(None, programs)
    assert form["operations"] == form["compiled_operations"] > 0
    assert {name.split("/")[0] for name in form["compiled"]} == {"graph_1", "graph_2"}
    for session in sessions:
        session.close()
