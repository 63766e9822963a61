"""A program as one generated function: the same values, errors and stops as node by node."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg
from playgrad.errors import DataError
from playgrad.runtime.python_program import STOP_EVERY
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Trace


def test_compiled_python_matches_node_by_node_execution(graph: pg.Graph) -> None:
    x = pg.placeholder("float32", [None, 3], name="x")
    w = pg.Variable(np.ones((3, 2), np.float32))
    loss = pg.reduce_mean(pg.tanh(x @ w) ** 2.0)
    (grad,) = pg.gradients(loss, [w])
    step = w.assign_sub(0.1 * grad)
    feeds = {x: np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)}
    results = []
    for trace in (None, Trace()):  # a trace times each node, so it needs tasks
        with Session(graph, "cpu", threads=1) as session:
            losses = [session.run([loss, step], feeds, trace=trace)[0] for _ in range(5)]
            runnable = session.compiled([loss, step], feeds)
            assert runnable is not None and runnable.host_program is not None
            results.append((np.array(losses).tobytes(), session.value(w).tobytes()))
    assert results[0] == results[1]


def test_fetched_arrays_belong_to_the_caller(graph: pg.Graph) -> None:
    w = pg.Variable([1.0, 2.0])
    step = w.assign(w * 2.0)
    with Session(graph, "cpu") as session:
        before, after = session.run([w, step])
        before[:] = after[:] = 9.0
        np.testing.assert_array_equal(session.value(w), [2.0, 4.0])


def test_an_error_names_its_operation_and_changes_nothing(graph: pg.Graph) -> None:
    rows = pg.placeholder("float32", [3, 2], name="rows")
    w = pg.Variable(np.int32(7))
    step = w.assign(w + 1)
    picked = pg.gather(rows * 1.0, w + 0, name="picked")
    with Session(graph, "cpu") as session:
        with pytest.raises(DataError, match=r"must lie in \[0, 3\), but there is 7") as caught:
            session.run([picked, step], {rows: np.zeros((3, 2))})
        assert caught.value.op == "picked"
        assert any("cpu:0 was computing 'picked'" in note for note in caught.value.__notes__)
        assert session.value(w) == 7


def test_a_stop_is_looked_for_in_the_middle(graph: pg.Graph) -> None:
    w = pg.Variable([1.0])
    x = w * 1.0
    for _ in range(2 * STOP_EVERY):  # reductions, which are not fused
        x = pg.reduce_sum(x, keepdims=True)
    step = w.assign(x + 1.0)
    asked: list[int] = []
    with Session(graph, "cpu") as session:
        session.initialize()
        session.stop_check = lambda: bool(asked.append(1)) or len(asked) == 3
        with pytest.raises(KeyboardInterrupt):
            session.run(step)
        session.stop_check = lambda: False
        assert session.value(w) == 1
