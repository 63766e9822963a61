"""Variables that compiled steps overwrite: what others have of them stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.wasm.threads import PRIVATE
from tests.runtime.test_compiled_steps import compiling, counter
from tests.wasm.wasmtime_step_host import WasmtimeStepHost

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def host() -> Iterator[None]:
    with compiling():
        yield


def run_in_python(session: Session, fetches: Any) -> Any:
    """Run a program that is not compiled."""
    with using_step_host(None):
        return session.run(fetches)


def test_a_variable_keeps_what_it_got_from_another(graph: pg.Graph) -> None:
    online, step = counter()
    target = pg.Variable(np.zeros(7, np.float32))
    flat = pg.Variable(np.zeros((1, 7), np.float32))
    copy = [target.assign(online), flat.assign(pg.reshape(online, [1, 7]))]
    with Session(graph, "cpu") as session:
        session.run(step.node)
        for number in range(1, 4):
            run_in_python(session, [tensor.node for tensor in copy])
            session.run(step.node)
            session.repeat(step.node, 10)
            session.run(step.node)
            expected = np.arange(7) + 12 * number - 11
            np.testing.assert_array_equal(session.value(target), expected)
            np.testing.assert_array_equal(session.value(flat), expected[None])
            np.testing.assert_array_equal(session.value(online), expected + 12)


def test_an_operation_of_the_users_may_keep_the_value_of_a_variable(graph: pg.Graph) -> None:
    kept: list[Array] = []

    def keep(x: Array) -> Array:
        kept.append(x)
        return x * 2

    kept_twice = pg.register_op("compiled_keep", reference=keep, shape=lambda x: x)
    w, step = counter()
    seen = kept_twice(w)
    with Session(graph, "cpu") as session:
        session.run(step.node)
        for _ in range(3):
            run_in_python(session, seen)
            session.run(step.node)
    for number, value in enumerate(kept):
        np.testing.assert_array_equal(value, np.arange(7) + 1 + number)


def test_a_run_within_a_run_takes_values_of_its_own(graph: pg.Graph) -> None:
    inner: list[Array] = []
    x = pg.placeholder("float32", [3])

    def nested(value: Array) -> Array:
        if len(inner) < 1:
            inner.append(value)
            inner.append(session.run(y, {x: np.full(3, 100.0, np.float32)}))
        return value * 1

    op = pg.register_op("compiled_nested", reference=nested, shape=lambda x: x)
    y = op(x + 1.0) + x * 2.0
    with Session(graph, "cpu") as session:
        result = session.run(y, {x: np.ones(3, np.float32)})
    np.testing.assert_array_equal(inner[1], np.full(3, 301.0))
    np.testing.assert_array_equal(result, np.full(3, 4.0))


def test_a_run_within_a_run_does_not_change_what_the_other_has_read(graph: pg.Graph) -> None:
    w, step = counter()
    other = pg.Variable(np.zeros(7, np.float32))

    def nested(value: Array) -> Array:
        session.run(step.node)
        return value * 1

    op = pg.register_op("compiled_nested_step", reference=nested, shape=lambda x: x)
    # The user's operation comes between two parts that read the variables.
    read = other.assign(op(w * 1.0) + w)
    both = w.assign(op(w * 1.0) * 0.0 + w * 10.0)
    with Session(graph, "cpu") as session:
        session.run(step.node)
        session.run(read.node)
        np.testing.assert_array_equal(session.value(other), 2 * (np.arange(7) + 1))
        np.testing.assert_array_equal(session.value(w), np.arange(7) + 2)
        for _ in range(2):
            session.assign({w: np.arange(7, dtype=np.float32)})
            session.run(both.node)
            np.testing.assert_array_equal(session.value(w), 10 * np.arange(7))
            session.run(step.node)
            np.testing.assert_array_equal(session.value(w), 10 * np.arange(7) + 1)


def test_threads_keep_their_memory_through_a_run_within_a_run(graph: pg.Graph) -> None:
    host, seen, depth = WasmtimeStepHost(threads=2), list[int](), 0
    x = pg.placeholder("float32", [64, 128])
    w = pg.Variable(np.ones((128, 128), np.float32))

    def nested(value: Array) -> Array:
        nonlocal depth
        seen.append(host.control[PRIVATE // 4])
        if depth == 0:
            depth = 1
            session.run(y, {x: np.zeros((64, 128), np.float32)})
        return value * 1

    op = pg.register_op("compiled_nested_threads", reference=nested, shape=lambda x: x)
    y = op(pg.matmul(x, w)) @ w
    with using_step_host(host), Session(graph, "cpu") as session:
        session.run(y, {x: np.ones((64, 128), np.float32)})
        seen.append(host.control[PRIVATE // 4])
    before, within, after = seen
    assert before != within, "each run has memory of its own"
    assert after == before
