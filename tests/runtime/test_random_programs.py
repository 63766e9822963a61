"""Sessions on every device, in any legal order, give the values of the interpreter."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playgrad.graph.graph import Graph
from playgrad.graph.serialize import graph_from_json, graph_to_json
from playgrad.runtime.session import Session
from tests.compiler.interpreter import interpret
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.sweeps import examples


def check(session: Session, sampled: Sampled) -> None:
    """Run twice; compare fetches and variables with the interpreter each time."""
    program, state = sampled.program, dict(sampled.state)
    fetches = {"tensors": program.fetches, "targets": program.targets}
    for _ in range(2):
        expected, state = interpret(program, sampled.feeds, state)
        actual = session.run(fetches, sampled.feed_dict())
        assert actual["targets"] == [None] * len(program.targets)
        for want, have in zip(expected, actual["tensors"], strict=True):
            assert have.dtype == want.dtype and have.shape == want.shape
            np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-5)
        for name, want in state.items():
            np.testing.assert_allclose(
                session.value(program.graph.tensor(name)), want, rtol=1e-4, atol=1e-5, err_msg=name
            )


@examples(60)
@given(sampled_programs(), st.integers(0, 2**16))
def test_random_programs_on_the_cpu_allow_any_legal_order(sampled: Sampled, seed: int) -> None:
    with Session(device="cpu") as session:
        session.executor.choose = random.Random(seed).choice
        check(session, sampled)


@pytest.mark.gpu
@examples(60)
@given(sampled_programs())
def test_random_programs_on_the_gpu_match_the_reference(sampled: Sampled) -> None:
    with Session(device="gpu") as session:
        check(session, sampled)


@pytest.mark.gpu
@examples(60)
@given(sampled_programs(), st.data())
def test_random_programs_over_both_devices_match_the_reference(
    sampled: Sampled, data: st.DataObject
) -> None:
    """Place some of the operations on ``cpu:0`` or ``gpu:0``."""
    free = [
        node
        for node in sampled.program.graph.nodes
        if node.op.name not in ("variable", "read_variable") and not node.op.writes
    ]
    for node in data.draw(st.lists(st.sampled_from(free), max_size=8)):
        node.device = data.draw(st.sampled_from(["cpu:0", "gpu:0"]))
    with Session(device="gpu") as session:
        check(session, sampled)


@examples(40)
@given(sampled_programs())
def test_graphs_survive_json(sampled: Sampled) -> None:
    program = sampled.program
    restored = graph_from_json(graph_to_json(program.graph))
    with Session(restored, device="cpu") as session:
        actual = session.run([t.name for t in program.fetches], dict(sampled.feeds))
    expected, _ = interpret(program, sampled.feeds, sampled.state)
    for want, have in zip(expected, actual, strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)
    assert isinstance(restored, Graph) and restored.nodes[0].graph is restored
