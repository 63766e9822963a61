"""Nothing is left behind: buffers, programs, threads, sessions."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from playgrad import ops
from playgrad.devices import registry
from playgrad.devices.null import NullHost
from playgrad.errors import FeedError, OutOfMemoryError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.runtime.open_sessions import close_abandoned
from playgrad.runtime.programs import MOST_RUNNABLES
from playgrad.runtime.session import Session
from tests.compiler.programs import network
from tests.sweeps import slow


@pytest.fixture(params=["null", pytest.param("wgpu", marks=pytest.mark.gpu)])
def gpu(request):
    """The name of the device, and its host."""
    if request.param == "wgpu":
        gc.collect()
        close_abandoned()  # what other tests have left is not counted
        yield "gpu:0", registry.gpu(0).host
        return
    host = NullHost()
    with registry.attached(host) as name:
        yield name, host


def alive(host) -> dict[str, int]:
    stats = dict(host.stats())
    del stats["peak_bytes"]
    return stats


def test_closing_frees_everything(gpu):
    name, host = gpu
    before = alive(host)
    net = network()
    with Session(net.graph, device=name) as session:
        for batch in (2, 6, 2):
            session.run([net.loss, net.train], net.feeds(batch))
        session.repeat(net.train, 5, net.feeds())
        assert alive(host)["buffers"] > before["buffers"]
        assert alive(host)["programs"] > before["programs"]
    assert alive(host) == before


def test_two_hundred_runs_take_no_more_than_one(gpu):
    name, host = gpu
    net = network()
    with Session(net.graph, device=name) as session:
        session.run([net.loss, net.train], net.feeds())
        session.value("dense_1/kernel")
        stats = host.stats()
        for i in range(200):
            session.run([net.loss, net.train], net.feeds(seed=i % 5))
            if i % 20 == 0:
                session.assign({"dense_1/bias": session.value("dense_1/bias")})
        assert host.stats() == stats


@pytest.mark.parametrize("gpu", ["null", *slow("wgpu")], indirect=True)
def test_only_the_programs_used_last_are_kept(gpu):
    name, host = gpu
    net = network()
    with Session(net.graph, device=name) as session:
        session.run(net.loss, net.feeds(1))
        before = alive(host)["programs"]
        for batch in range(2, MOST_RUNNABLES + 5):
            session.run(net.loss, net.feeds(batch))
            session.run(net.loss, net.feeds(1))  # in constant use, it is kept
        assert alive(host)["programs"] == before + MOST_RUNNABLES - 1
        loaded = alive(host)
        session.run(net.loss, net.feeds(1))
        session.run(net.loss, net.feeds(MOST_RUNNABLES + 4))
        assert alive(host) == loaded
        session.run(net.loss, net.feeds(2))  # evicted, so compiled again
        assert alive(host)["programs"] == loaded["programs"]


def test_forgotten_variables_are_freed(gpu):
    name, host = gpu
    with Graph().as_default() as graph, Session(graph, device=name) as session:
        kept = ops.Variable(np.ones(10), name="kept")
        session.run(kept + 1.0)
        before = alive(host)
        big = ops.Variable(np.zeros(1000), name="big")
        session.assign({big: np.ones(1000)})
        session.run(ops.reduce_sum(big))
        assert session.value(big).sum() == 1000
        session.forget([big])
        assert alive(host) == before
        assert session.value(big).sum() == 0  # its initial value
        assert session.value(kept).sum() == 10


def test_initialization_leaves_only_the_variables(gpu):
    name, host = gpu
    before = alive(host)
    net = network()
    with Session(net.graph, device=name) as session:
        session.initialize()
        assert alive(host)["programs"] == before["programs"]
        assert alive(host)["buffers"] == before["buffers"] + 1
    assert alive(host) == before


def test_failed_runs_leave_nothing(gpu):
    name, host = gpu
    net = network()
    with Session(net.graph, device=name) as session:
        session.run(net.train, net.feeds())
        before = alive(host)
        for _ in range(3):
            with pytest.raises(FeedError):
                session.run(net.train, {net.x: np.ones((2, 10))})
            with pytest.raises(FeedError):
                session.run(net.train, {**net.feeds(), net.labels: [9] * 6})
            with pytest.raises(PlaygradError):
                session.run(net.loss, {**net.feeds(6), net.labels: [0]})
        assert alive(host) == before


def test_runs_out_of_memory_leave_nothing(graph):
    host = NullHost(memory=3000)
    with registry.attached(host) as name, Session(graph, device=name) as session:
        x = ops.placeholder("float32", [None, 4], name="x")
        y = ops.reduce_sum(ops.matmul(x, ops.Variable(np.ones((4, 4)), name="w")))
        session.run(y, {x: np.ones((2, 4))})
        before = alive(host)
        for _ in range(3):
            with pytest.raises(OutOfMemoryError):
                session.run(y, {x: np.ones((90, 4))})
            assert alive(host) == before


def test_sessions_and_graphs_can_be_collected(gpu):
    name, _ = gpu
    net = network()
    session = Session(net.graph, device=name)
    session.run(net.train, net.feeds())
    session.close()
    references = [weakref.ref(session), weakref.ref(net.graph)]
    del session, net
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_sessions_end_their_threads(graph):
    before = threading.active_count()
    x = ops.placeholder("float32", [400, 400], name="x")
    fetches = [ops.matmul(x, x), ops.matmul(x, x, transpose_a=True)]
    with Session(graph, device="cpu", threads=2) as session:
        session.run(fetches, {x: np.ones((400, 400))})
        assert threading.active_count() == before + 1
    assert threading.active_count() == before


def test_values_of_a_run_are_let_go(graph):
    x = ops.placeholder("float32", [10], name="x")
    y = ops.exp(x) * 2.0
    with Session(graph, device="cpu") as session:
        session.run(y, {x: np.ones(10)})
        runnable = session.compiled(y, {x: np.ones(10)})
        assert not (
            runnable.values.tensors or runnable.values.written or runnable.transport._arrays
        )
