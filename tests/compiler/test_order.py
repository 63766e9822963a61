"""``order_writes``: on a GPU every reader gets the right value, in any legal order."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from playgrad import ops
from playgrad.compiler.compile import compile_program
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from tests.compiler.interpreter import interpret, interpret_in_place

GPU = "gpu:0"


def compiled(program: Program, device: str = GPU) -> Program:
    return compile_program(program, {}, Policy(device, ("cpu:0", GPU))).program


def check(program: Program, state: dict[str, float], copies: int) -> dict[str, np.ndarray]:
    """Check that both interpreters agree for two extreme legal orders, and return the new state."""
    arrays = {name: np.asarray([value], np.float32) for name, value in state.items()}
    expected, after = interpret(program, {}, arrays)
    result = compiled(program)
    counted = Counter(node.op.name for node in result.order())
    assert counted["copy"] == copies
    for choose in (lambda ready: ready[0], lambda ready: ready[-1]):
        actual, buffers = interpret_in_place(result, {}, arrays, choose)
        assert [a.tolist() for a in actual] == [e.tolist() for e in expected]
        assert {k: v.tolist() for k, v in buffers.items()} == {
            k: v.tolist() for k, v in after.items()
        }
    return after


def variable(name: str) -> ops.Variable:
    return ops.Variable([0.0], name=name)


def test_readers_come_before_the_write(graph):
    w = variable("w")
    y = ops.exp(w, name="y")
    update = w.assign_add(1.0, name="update")
    result = compiled(Program(graph, [y], [update.node]))
    assert result.graph.node("y") in result.graph.node("update").control_inputs
    check(Program(graph, [y], [update.node]), {"w": 2.0}, copies=0)


def test_a_fetch_of_the_old_value_reads_a_copy(graph):
    w = variable("w")
    update = w.assign_add(1.0)
    check(Program(graph, [w, update]), {"w": 2.0}, copies=1)


def test_a_reader_that_must_run_after_the_write_reads_a_copy(graph):
    w = variable("w")
    with graph.control_dependencies([w.assign(7.0)]):
        y = w * 10.0
    check(Program(graph, [y]), {"w": 2.0}, copies=1)


def test_several_late_readers_share_one_copy(graph):
    w = variable("w")
    with graph.control_dependencies([w.assign(7.0)]):
        fetches = [ops.exp(w), ops.neg(w), ops.reduce_sum(w)]
    check(Program(graph, [*fetches, w]), {"w": 2.0}, copies=1)


def test_read_value_sees_the_write_it_waits_for(graph):
    w = variable("w")
    before = w.read_value()
    with graph.control_dependencies([before]):
        update = w.assign_add(5.0)
    with graph.control_dependencies([update]):
        after = w.read_value()
    values, _ = interpret_in_place(
        compiled(Program(graph, [before, after])),
        {},
        {"w": np.ones(1, np.float32)},
        lambda ready: ready[0],
    )
    assert [v.item() for v in values] == [1, 6]


def test_two_writers_both_mean_the_old_value_and_the_last_wins(graph):
    w = variable("w")
    first, second = w.assign_add(1.0), w.assign_add(10.0)
    after = check(Program(graph, [w, first, second]), {"w": 2.0}, copies=2)
    assert after["w"].item() == 12


def test_writers_run_in_the_order_of_their_control_edges(graph):
    w = variable("w")
    first = w.assign(1.0)
    with graph.control_dependencies([first]):
        w.assign(2.0, name="second")
    third = ops.group(graph.node("second"))
    assert check(Program(graph, [], [third]), {"w": 0.0}, copies=1)["w"].item() == 2


def test_variables_can_be_swapped(graph):
    a, b = variable("a"), variable("b")
    targets = [a.assign(b).node, b.assign(a).node]
    after = check(Program(graph, [], targets), {"a": 1.0, "b": 2.0}, copies=1)
    assert (after["a"].item(), after["b"].item()) == (2, 1)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_variables_can_be_rotated(graph, order):
    names = [variable(name) for name in "abc"]
    pairs = [(names[i], names[(i + 1) % 3]) for i in order]
    targets = [to.assign(source).node for to, source in pairs]
    state = {"a": 1.0, "b": 2.0, "c": 3.0}
    after = check(Program(graph, [], targets), state, copies=1)
    assert [after[name].item() for name in "abc"] == [2, 3, 1]


def test_readers_through_aliases_are_readers(graph):
    w = variable("w")
    early = ops.reshape(w, [1, 1])
    update = w.assign_add(1.0)
    with graph.control_dependencies([update]):
        late = ops.reduce_sum(ops.reshape(early, [1]))
    check(Program(graph, [early, late]), {"w": 2.0}, copies=1)


def test_an_alias_that_has_to_wait_reads_the_copy(graph):
    w = variable("w")
    with graph.control_dependencies([w.assign_add(1.0)]):
        late = ops.reshape(w, [1, 1])
    check(Program(graph, [late, ops.exp(late)]), {"w": 2.0}, copies=1)


def test_a_value_sent_after_its_update_is_a_copy(graph):
    """A send reads its bytes after all kernels of the segment have run."""
    w = variable("w")
    with graph.device("cpu:0"):
        away = ops.exp(w, name="away")
    update = w.assign_add(1.0)
    result = compiled(Program(graph, [away], [update.node]))
    (send,) = [node for node in result.order() if node.op.name == "send"]
    assert send.inputs[0].node.op.name == "copy"


def test_arrays_of_the_cpu_need_no_copies(graph):
    w = variable("w")
    update = w.assign_add(1.0)
    result = compiled(Program(graph, [w, update]), "cpu:0")
    assert all(node.op.name != "copy" for node in result.order())


def test_an_update_of_several_variables_copies_their_old_values(graph):
    w, velocity = variable("w"), variable("velocity")
    grad = ops.exp(w) + velocity
    new = ops.apply_momentum(w, velocity, grad, 0.5, 0.9)
    with graph.control_dependencies(new):
        late = velocity * 3.0
    check(Program(graph, [late, w, *new]), {"w": 0.0, "velocity": 2.0}, copies=2)
