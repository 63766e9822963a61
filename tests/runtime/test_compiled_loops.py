"""``while_loop`` in compiled steps: values, swaps, nesting, errors, stops, and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.errors import DataError
from playgrad.ops.control import emit_loop
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from tests.runtime.test_compiled_steps import compiled, compiling
from tests.wasm.wasmtime_step_host import WasmtimeStepHost

SHORT, LONG = 1e9, 1.0
"""Work of a call with which every limited loop is within a run, and with which each iteration is a
call of its own."""


@pytest.fixture
def host() -> Iterator[WasmtimeStepHost]:
    with compiling() as host:
        yield host


@pytest.fixture(params=[SHORT, LONG], ids=["within", "early"])
def work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> float:
    monkeypatch.setattr(emit_loop, "WORK_OF_CALL", request.param)
    return float(request.param)


def loops_of(session: Session, fetches: Any, feeds: Any = None) -> list[bool]:
    """Return for each loop of a program whether it is compiled."""
    order = compiled(session, fetches, feeds).step.order
    return [node in order.emitters for node in order.nodes if node.op.name == "while_loop"]


def in_python_and_compiled(fetches: list[Any]) -> tuple[list[Any], list[Any]]:
    with using_step_host(None), Session(device="cpu") as session:
        expected = session.run(fetches)
    with compiling(), Session(device="cpu") as session:
        result = session.run(fetches)
        assert all(loops_of(session, fetches)) and loops_of(session, fetches)
    return expected, result


def test_loops_compute_what_numpy_computes(graph: pg.Graph, work: float) -> None:
    """Swapped and kept variables, captures, limits, no iteration, and branches."""
    w = pg.Variable(np.full((5, 5), 0.2, np.float32))
    fetches = [
        pg.while_loop(lambda i, a, b: i < 30, lambda i, a, b: (i + 1, b, a + b), (0, 0, 1)),
        pg.while_loop(lambda a, b, c: a < 7, lambda a, b, c: (b, a + 1, c), (0, 3, 2.5), 9),
        pg.while_loop(lambda n: n > 0, lambda n: n - 1, 5, maximum_iterations=0),
        pg.while_loop(lambda n: n > 9.0, lambda n: n * n, 5.0),
        pg.while_loop(
            lambda n, steps: n > 1,
            lambda n, steps: (
                pg.cond(pg.equal(n % 2, 0), lambda: n // 2, lambda: 3 * n + 1),
                steps + 1,
            ),
            [27, 0],
        ),
    ]
    expected, result = in_python_and_compiled(fetches)
    assert repr(result) == repr(expected)
    y = pg.while_loop(
        lambda i, y: i < 9, lambda i, y: (i + 1, pg.tanh(y @ w) + 0.1), (0, w[:2]), 20
    )
    expected, result = in_python_and_compiled([*y])
    assert result[0] == expected[0] == 9
    np.testing.assert_allclose(result[1], expected[1], 1e-5)


def test_each_iteration_draws_other_numbers(graph: pg.Graph, work: float) -> None:
    drawn = pg.while_loop(
        lambda i, rows: i < 4,
        lambda i, rows: (i + 1, pg.concat([rows[1:], pg.random_uniform((1, 3))], 0)),
        (0, pg.zeros((4, 3))),
    )
    expected, result = in_python_and_compiled([drawn[1]])
    np.testing.assert_array_equal(result[0], expected[0])
    assert len(np.unique(result[0], axis=0)) == 4


def test_loops_within_loops(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    def triangle(limit: int | None) -> Any:
        return pg.while_loop(
            lambda i, a: i < 4,
            lambda i, a: (i + 1, a + pg.while_loop(lambda j: j < i, lambda j: j + 1, 0, limit)),
            (0, 0),
        )

    w = pg.Variable(1.0)
    # A loop in a loop cannot return early, so one without a limit is left to Python.
    for limit, is_compiled in ((10, [True]), (None, [])):
        fetches = [*triangle(limit), w * 2.0]
        with Session(graph, "cpu") as session:
            assert session.run(fetches)[:2] == [4, 6]
            assert [each for each in loops_of(session, fetches) if each] == is_compiled


def test_a_loop_of_a_branch_that_is_not_taken(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    x = pg.placeholder("float32", ())
    y = pg.cond(x > 0, lambda: pg.while_loop(lambda q: q < 9.0, lambda q: q * 2.0, x), lambda: x)
    with Session(graph, "cpu") as session:
        for value, expected in ((3.0, 12.0), (0.0, 0.0), (-1.0, -1.0)):
            assert session.run(y, {x: np.float32(value)}) == expected


def test_an_index_outside_is_the_error_of_the_reference(
    graph: pg.Graph, host: WasmtimeStepHost, work: float
) -> None:
    """It is found in the third iteration, and changes no variable; then the program works."""
    places = pg.placeholder("int32", (4,))
    w = pg.Variable(np.float32([1, 2, 3, 4]))
    walked = pg.while_loop(
        lambda i, s: i < 4, lambda i, s: (i + 1, s + pg.take(w, pg.take(places, i))), (0, 0.0), 8
    )
    step = w.assign(w + walked[1])
    with Session(graph, "cpu") as session:
        with pytest.raises(DataError, match=r"7.*test_compiled_loops\.py, line"):
            session.run(step, {places: np.int32([0, 1, 7, 2])})
        np.testing.assert_array_equal(session.value(w), [1, 2, 3, 4])
        feeds = {places: np.int32([0, 1, 3, 2])}
        session.run(step, feeds)
        assert loops_of(session, step, feeds) == [True]
        np.testing.assert_array_equal(session.value(w), [11, 12, 13, 14])


def test_a_stop_ends_an_endless_loop(
    graph: pg.Graph, host: WasmtimeStepHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emit_loop, "WORK_OF_CALL", 1e3)
    w = pg.Variable(np.zeros(8, np.float32))
    limit = pg.placeholder("float32", ())
    looped = pg.while_loop(lambda v: pg.reduce_max(v) < limit, lambda v: v + 1.0, w * 1.0)
    step = w.assign(looped)
    with Session(graph, "cpu") as session:
        asked: list[int] = []
        session.stop_check = lambda: bool(asked.append(1)) or len(asked) > 20
        with pytest.raises(KeyboardInterrupt):
            session.run(step, {limit: np.float32(np.inf)})
        assert len(asked) == 21 and host.calls > 15
        session.stop_check = lambda: False
        np.testing.assert_array_equal(session.value(w), np.zeros(8))
        session.run(step, {limit: np.float32(5000)})
        np.testing.assert_array_equal(session.value(w), np.full(8, 5000))


def test_a_run_within_a_loop_does_not_disturb_it(
    graph: pg.Graph, host: WasmtimeStepHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check for a stop may answer a question, by a run of the same program."""
    monkeypatch.setattr(emit_loop, "WORK_OF_CALL", 1e3)
    x = pg.placeholder("float32", ())
    y = pg.while_loop(lambda v: v < 500.0, lambda v: v + 1.0, x)
    with Session(graph, "cpu") as session:
        answers: list[float] = []

        def stop() -> bool:
            if len(answers) < 3:
                answers.append(0.0)
                answers[-1] = float(session.run(y, {x: np.float32(100.5)}))
            return False

        session.stop_check = stop
        assert session.run(y, {x: np.float32(0.25)}) == 500.25
        assert 500.5 in answers


def test_training_through_a_loop(graph: pg.Graph) -> None:
    """The gradient is unrolled, the loop itself is not; both are one function."""

    def losses() -> list[float]:
        with pg.Graph(seed=1).as_default() as inner:
            w = pg.Variable(np.full((3, 3), 0.3, np.float32))
            x = pg.constant(np.arange(6, dtype=np.float32).reshape(2, 3) / 6)
            _, y = pg.while_loop(
                lambda i, y: pg.sum(y) < 4.0, lambda i, y: (i + 1, pg.tanh(y @ w + 0.5)), (0, x), 6
            )
            loss = pg.reduce_mean(pg.square(y - 0.25))
            step = w.assign_sub(0.2 * pg.gradients(loss, [w])[0])
            with Session(inner, "cpu") as session:
                found = [float(session.run([loss, step])[0]) for _ in range(5)]
                session.repeat(step, 5)
                return [*found, float(session.run(loss))]

    with using_step_host(None):
        expected = losses()
    with compiling():
        result = losses()
    np.testing.assert_allclose(result, expected, 1e-5)
    assert result[-1] < result[0]
