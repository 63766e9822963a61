"""Limits of compiled steps: functions with many parameters, and memory of programs side by side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad.runtime.session import Session
from tests.runtime.test_compiled_steps import compiled, compiling
from tests.wasm.wasmtime_step_host import WasmtimeStepHost


@pytest.fixture
def host() -> Iterator[WasmtimeStepHost]:
    with compiling() as host:
        yield host


def test_python_computes_what_has_too_many_operands(
    graph: pg.Graph, host: WasmtimeStepHost
) -> None:
    """A function has at most 1,000 parameters."""
    rows = np.arange(2400, dtype=np.float32).reshape(1200, 2)
    x = pg.placeholder("float32", rows.shape)
    parts = pg.unstack(x + 1.0)
    y = pg.stack(list(reversed(parts))) * 2.0
    with Session(graph, "cpu") as session:
        np.testing.assert_array_equal(session.run(y, {x: rows}), (rows[::-1] + 1) * 2)
        kinds = [part.compiled for part in compiled(session, y, {x: rows}).step.order.parts]
        assert kinds == [True, False, True]


def test_programs_share_one_block(graph: pg.Graph, host: WasmtimeStepHost) -> None:
    """Also those that have not run since it grew."""
    x = pg.placeholder("float32", [None, 1000])
    y = pg.reduce_sum(pg.sort(pg.tanh(x) + 1.0) @ pg.ones([1000, 100]))
    double = pg.register_op("compiled_double", reference=lambda x: x * 2, shape=lambda x: x)
    z = double(y) + 1.0
    with Session(graph, "cpu") as session:
        sizes = []
        for rows in (*range(1, 12), 5, 3):
            session.run(z, {x: np.ones((rows, 1000), np.float32)})
            sizes.append(compiled(session, z, {x: np.ones((rows, 1000), np.float32)})._size)
    assert host.allocated < 1.2 * max(sizes) < 0.2 * sum(sizes)
