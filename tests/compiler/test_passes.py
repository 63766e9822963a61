"""Each pass, and all of them together, preserve the results of a program."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playgrad.compiler.compile import compile_program
from playgrad.compiler.fold import fold
from playgrad.compiler.fuse import fuse
from playgrad.compiler.guard import guard
from playgrad.compiler.join_rows import join_rows
from playgrad.compiler.order import order_writes
from playgrad.compiler.place import Policy, place
from playgrad.compiler.program import Program
from playgrad.compiler.prune import prune
from playgrad.compiler.roll import roll
from playgrad.compiler.share import share
from playgrad.compiler.sort_once import sort_once
from playgrad.compiler.specialise import specialise
from playgrad.compiler.split import split
from playgrad.devices.target import Limits, Target
from playgrad.graph.verify import verify
from tests.compiler.interpreter import Array, Values, interpret, interpret_in_place
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.sweeps import examples

GPU = "gpu:0"
AVAILABLE = ("cpu:0", GPU)
HARD = Target(is_software=False, limits=Limits())


def passes(sampled: Sampled) -> list[tuple[str, Callable[[Program], Program]]]:
    return [
        ("prune", prune),
        ("specialise", lambda p: specialise(p, sampled.shapes)),
        ("fold", fold),
        ("share", share),
        ("place", lambda p: place(p, Policy(GPU, AVAILABLE))),
        ("guard", guard),
        ("sort_once", sort_once),
        ("roll", lambda p: roll(p, lambda device: HARD)),
        ("split", split),
        ("fuse", fuse),
        ("join_rows", lambda p: join_rows(p, lambda device: HARD)),
        ("order", order_writes),
    ]


def assert_same(
    before: tuple[list[Array], Values], after: tuple[list[Array], Values], what: str
) -> None:
    for old, new in zip(before[0], after[0], strict=True):
        np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6, err_msg=what)
    for name in before[1]:
        np.testing.assert_allclose(
            after[1][name], before[1][name], rtol=1e-5, atol=1e-6, err_msg=f"{name} after {what}"
        )


@examples(150)
@given(sampled_programs())
def test_each_pass_keeps_values(sampled: Sampled) -> None:
    program = sampled.program
    expected = interpret(program, sampled.feeds, sampled.state)
    for name, run in passes(sampled):
        program = run(program)
        verify(program.graph, after=name)
        assert_same(expected, interpret(program, sampled.feeds, sampled.state), name)


@examples(150)
@given(sampled_programs(), st.integers(0, 2**16))
def test_in_place_updates_keep_values_in_any_legal_order(sampled: Sampled, seed: int) -> None:
    expected = interpret(sampled.program, sampled.feeds, sampled.state)
    compiled = compile_program(sampled.program, sampled.shapes, Policy(GPU, AVAILABLE))
    choose = random.Random(seed).choice
    actual = interpret_in_place(compiled.program, sampled.feeds, sampled.state, choose)
    assert_same(expected, actual, "in place")


@pytest.mark.parametrize("name", ["prune", "specialise", "fold", "share", "place", "fuse"])
@examples(20)
@given(sampled_programs())
def test_passes_do_not_modify_their_input_program(name: str, sampled: Sampled) -> None:
    program = sampled.program
    for pass_name, run in passes(sampled):
        nodes = list(program.graph.nodes)
        edges = [(node.inputs, node.control_inputs, dict(node.attrs)) for node in nodes]
        result = run(program)
        if pass_name == name:
            assert program.graph.nodes == nodes
            for node, (inputs, controls, attrs) in zip(nodes, edges, strict=True):
                assert (node.inputs, node.control_inputs) == (inputs, controls)
                assert node.attrs.keys() == attrs.keys()
            assert result.graph is not program.graph
            return
        program = result
