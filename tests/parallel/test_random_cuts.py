"""Graphs divided at random among devices, with delays and in any order, give the same values."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import playgrad as pg
from playgrad.compiler.planner import registered_planner
from playgrad.parallel import collectives
from playgrad.parallel.placement.links import Links
from playgrad.parallel.placement.predict import CostModel
from tests.compiler.interpreter import interpret
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.sweeps import examples

DELAYS = st.sampled_from([0.0, 0.001, 0.004])


def fetches_of(sampled: Sampled) -> dict[str, Any]:
    return {"tensors": sampled.program.fetches, "targets": sampled.program.targets}


def expect_interpreted(session: pg.Session, sampled: Sampled) -> None:
    """Compare two runs with the interpreter's: results, and variables after each."""
    program, state = sampled.program, dict(sampled.state)
    for _ in range(2):
        expected, state = interpret(program, sampled.feeds, state)
        actual = session.run(fetches_of(sampled), sampled.feed_dict())
        for want, have in zip(expected, actual["tensors"], strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
        for name, want in state.items():
            value = session.value(program.graph.tensor(name))
            np.testing.assert_allclose(value, want, rtol=1e-4, atol=1e-5, err_msg=name)


def check_cut(sampled: Sampled, devices: list[str], data: st.DataObject, default: str) -> None:
    """Compare two runs with scattered nodes and variables with the interpreter."""
    places = st.sampled_from([None, *devices])
    for node in sampled.program.graph.nodes:
        if node.op.name != "read_variable" and not node.op.writes:
            node.device = data.draw(places)
    with pg.Session(device=default) as session:
        session.executor.timeout = 60.0
        session.executor.choose = random.Random(data.draw(st.integers(0, 999))).choice
        session.executor.delays = {device: data.draw(DELAYS) for device in devices}
        expect_interpreted(session, sampled)


@examples(60)
@given(sampled_programs(), st.integers(2, 4), st.data())
def test_random_cuts_over_processors_keep_values(
    sampled: Sampled, count: int, data: st.DataObject
) -> None:
    pg.set_logical_devices(cpu=4)
    check_cut(sampled, [f"cpu:{i}" for i in range(count)], data, "cpu")


class DrawnCosts(CostModel):
    """Random times of operations, so that any placement may seem the best."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.links = LINKS
        self.seed = seed

    def seconds(
        self, nodes: Sequence[pg.Node], device: str, devices: Sequence[str]
    ) -> dict[pg.Node, float]:
        drawn = {n: random.Random(f"{self.seed} {n.name} {device}").random() for n in nodes}
        return {node: 0.01 * number**4 for node, number in drawn.items()}


LINKS = Links()
"""The real links, measured once for all examples."""


@examples(25, night=1_000)
@given(sampled_programs(), st.integers(2, 4), st.integers(0, 9), st.data())
def test_automatic_placement_keeps_values(
    sampled: Sampled, count: int, seed: int, data: st.DataObject
) -> None:
    """The values do not depend on costs, or on which nodes the user has placed."""
    pg.set_logical_devices(cpu=count)
    devices = [f"cpu:{i}" for i in range(count)]
    pinned = data.draw(st.sampled_from([0, 0, 1, 3]))
    free = [
        n for n in sampled.program.graph.nodes if n.op.name != "read_variable" and not n.op.writes
    ]
    for node in data.draw(st.permutations(free))[:pinned]:
        node.device = data.draw(st.sampled_from(devices))
    costs = DrawnCosts(seed)
    with (
        mock.patch.object(registered_planner(), "costs", costs),
        pg.Session(device="cpu", placement="auto") as session,
    ):
        session.executor.timeout = 60.0
        session.executor.delays = {device: data.draw(DELAYS) for device in devices}
        expect_interpreted(session, sampled)
        summary = session.placement_summary(fetches_of(sampled), sampled.feed_dict())
        event(f"{len(summary.prediction.devices)} devices")


@pytest.mark.gpu
@examples(40)
@given(sampled_programs(), st.integers(2, 4), st.data())
def test_random_cuts_over_processors_and_gpus_keep_values(
    sampled: Sampled, count: int, data: st.DataObject
) -> None:
    pg.set_logical_devices(cpu=2, gpu=2)
    mixed = ["gpu:0", "cpu:1", "gpu:1", "cpu:0"]
    check_cut(sampled, mixed[:count], data, data.draw(st.sampled_from(["cpu", "gpu"])))


@examples(40)
@given(
    st.lists(st.sampled_from(["ring", "tree", "central"]), min_size=1, max_size=3),
    st.integers(2, 4),
    st.data(),
)
def test_collectives_give_the_same_bits_under_delays(
    ways: list[str], count: int, data: st.DataObject
) -> None:
    """Several collectives at once, in tasks or not, give the same bits and no deadlock."""
    pg.set_logical_devices(cpu=4)
    devices = [f"cpu:{i}" for i in range(count)]
    rng = np.random.default_rng(0)
    graph = pg.Graph()
    with graph.as_default():
        tensors = []
        for device in devices:
            with pg.device(device):
                tensors.append(pg.Variable(rng.normal(size=9).astype(np.float32)) * 1.0)
        sums = []
        for number, way in enumerate(ways):
            task = data.draw(st.sampled_from([None, f"reduce {number}"]))
            with graph.task(task):
                sums += collectives.get(way).all_reduce(tensors, devices)
    with pg.Session(graph, device="cpu") as session:
        before = session.run(sums)
    with pg.Session(graph, device="cpu") as session:
        session.executor.timeout = 60.0
        session.executor.choose = random.Random(data.draw(st.integers(0, 999))).choice
        session.executor.delays = {device: data.draw(DELAYS) for device in devices}
        after = session.run(sums)
    for first, second in zip(before, after, strict=True):
        assert first.tobytes() == second.tobytes()
    for start in range(0, len(after), count):
        assert len({value.tobytes() for value in after[start : start + count]}) == 1
