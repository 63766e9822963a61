"""Arms of a program on two devices work at the same time, whatever the order of their making."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad import ops
from playgrad.devices import registry
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Tensor
from playgrad.runtime.session import Session

PATIENCE = 300.0  # seconds that two arms wait for each other before the test fails
SIZE = 2_000_000  # long enough for segments of their own, by the compiler's estimate
SMALL = 4


@pytest.fixture
def two_processors() -> Iterator[None]:
    pg.set_logical_devices(cpu=2)
    yield
    registry.reset_logical_devices()


@pytest.fixture
def meet(two_processors: None) -> Iterator[OpDef]:
    """An operation of which two must run at the same time, or neither ends."""
    barrier = threading.Barrier(2, timeout=PATIENCE)

    def reference(arrays, attrs):
        barrier.wait()
        return [arrays[0] + np.float32(1)]

    yield OpDef("meet", lambda specs, attrs: [specs[0]], reference)


def arm(graph, meet: OpDef, x: Tensor, device: str) -> Tensor:
    """Work on ``device`` whose result ``cpu:0`` uses at once."""
    with graph.device(device):
        met = graph.add(meet, [x], {}).output
    with graph.device("cpu:0"):
        return ops.reduce_sum(met)


def arms_in_order(graph, meet: OpDef, x: Tensor, order: tuple[str, str]) -> Tensor:
    sums = {device: arm(graph, meet, x, device) for device in order}
    with graph.device("cpu:0"):
        return sums["cpu:0"] - 2.0 * sums["cpu:1"]


ORDERS = [("cpu:0", "cpu:1"), ("cpu:1", "cpu:0")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("source", [None, "cpu:0", "cpu:1"])
def test_two_arms_run_concurrently(graph, meet, order, source) -> None:
    """Each arm ends only beside the other, with an input that is fed or computed on a device."""
    x = ops.placeholder("float32", [SIZE], name="x")
    shared = x
    if source is not None:
        with graph.device(source):
            shared = ops.maximum(x, 0.0)
    y = arms_in_order(graph, meet, shared, order)
    with Session(graph, "cpu", threads=1) as session:
        session.executor.timeout = PATIENCE
        assert session.run(y, {x: np.zeros(SIZE, np.float32)}) == -SIZE


def test_little_work_is_not_cut(graph, two_processors) -> None:
    """A segment more costs more time than waiting for this does."""
    x = ops.placeholder("float32", [SMALL], name="x")
    parts = []
    for number in range(5):
        with graph.device("cpu:1"):
            sent = ops.exp(ops.reduce_sum(x * float(number), keepdims=True))
        with graph.device("cpu:0"):
            parts.append(ops.neg(sent) + x)
    with graph.device("cpu:0"):
        y = parts[0] + parts[1] * parts[2] + parts[3] * parts[4]
    with Session(graph, "cpu") as session:
        runnable = session.compiled(y, {x: np.zeros(SMALL, np.float32)})
        assert runnable is not None
        assert {d: len(row) for d, row in runnable.compiled.segments.items()} in (
            {"cpu:0": 1, "cpu:1": 2},
            {"cpu:0": 2, "cpu:1": 1},
        )
