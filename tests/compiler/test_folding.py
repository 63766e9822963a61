"""``specialise``, ``fold`` and ``share``: work done once, at compile time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from playgrad import ops
from playgrad.compiler import fold as folding
from playgrad.compiler.fold import fold
from playgrad.compiler.program import Program
from playgrad.compiler.share import share
from playgrad.compiler.specialise import specialise
from playgrad.errors import ShapeError
from playgrad.graph.autodiff import gradients


def kinds(program: Program) -> Counter:
    return Counter(node.op.name for node in program.order())


class TestSpecialise:
    def test_specialise_makes_all_shapes_known(self, graph):
        x = ops.placeholder("float32", [None, 4], name="x")
        y = ops.matmul(x, ops.constant(np.ones((4, 3)))) + 1.0
        program = specialise(Program(graph, [y], [], {"x:0": x}), {"x:0": (7, 4)})
        assert program.fetches[0].shape == (7, 3)
        assert y.shape == (None, 3)

    def test_specialise_replaces_operations_on_shapes(self, graph):
        x = ops.placeholder("float32", [None, 4], name="x")
        w = ops.Variable(np.ones((4, 3)), name="w")
        (grad,) = gradients(ops.reduce_mean(ops.matmul(x, w) + ops.reshape(x, [-1, 4])[:, :3]), w)
        program = specialise(Program(graph, [grad], [], {"x:0": x}), {"x:0": (5, 4)})
        left = {name for name in kinds(program) if name.endswith("_like") or name == "size"}
        assert not left

    def test_mismatched_feed_shapes_are_an_error_at_the_users_line(self, graph):
        a = ops.placeholder("float32", [None], name="a")
        b = ops.placeholder("float32", [None], name="b")
        c = ops.add(a, b, name="sum")
        program = Program(graph, [c], [], {"a:0": a, "b:0": b})
        with pytest.raises(ShapeError) as caught:
            specialise(program, {"a:0": (2,), "b:0": (3,)})
        assert "sum: shapes (2,) and (3,) do not broadcast together." in str(caught.value)
        assert caught.value.op == "sum" and __file__ in str(caught.value)


class TestFold:
    def test_operations_on_constants_are_folded(self, graph):
        y = ops.sqrt(ops.constant([4.0, 9.0]) * 4.0)
        program = fold(Program(graph, [y]))
        assert kinds(program) == {"constant": 1}
        np.testing.assert_array_equal(program.fetches[0].node.attrs["value"], [4, 6])

    def test_identities_vanish_unless_they_have_control_inputs(self, graph):
        x = ops.placeholder("float32", [2], name="x")
        with graph.control_dependencies([ops.constant(1.0)]):
            waits = ops.identity(x)
        y = ops.neg(ops.stop_gradient(ops.identity(x)))
        program = fold(Program(graph, [y, waits], [], {"x:0": x}))
        assert kinds(program)["identity"] == 1 and kinds(program)["stop_gradient"] == 0

    def test_targets_are_not_folded(self, graph):
        node = (ops.constant(1.0) + 1.0).node
        assert kinds(fold(Program(graph, [], [node])))["add"] == 1

    def test_state_and_control_edges_are_not_folded(self, graph):
        w = ops.Variable(1.0, name="w")
        with graph.control_dependencies([w.assign(2.0)]):
            after = ops.constant(1.0) + 1.0
            reading = w.read_value() * 1.0
        counted = kinds(fold(Program(graph, [after, reading, w])))
        assert counted["add"] == counted["read_variable"] == counted["variable"] == 1

    def test_large_results_are_left_to_the_device(self, graph):
        size = folding.MAX_ELEMENTS
        fits = ops.fill([size], 2.0)
        large = ops.fill([size + 1], 2.0)
        assert kinds(fold(Program(graph, [fits]))) == {"constant": 1}
        assert kinds(fold(Program(graph, [large]))) == {"fill": 1}

    def test_a_folded_constant_keeps_its_device(self, graph):
        with graph.device("cpu:0"):
            y = ops.constant(1.0) + 1.0
        assert fold(Program(graph, [y])).fetches[0].node.device == "cpu:0"


class TestShare:
    def test_equal_subexpressions_are_computed_once(self, graph):
        x = ops.placeholder("float32", [2], name="x")
        y = ops.exp(x * 2.0) + ops.exp(x * 2.0)
        program = share(Program(graph, [y], [], {"x:0": x}))
        assert kinds(program) == {"placeholder": 1, "constant": 1, "mul": 1, "exp": 1, "add": 1}
        add = program.fetches[0].node
        assert add.inputs[0] is add.inputs[1]

    @pytest.mark.parametrize(
        "different",
        [
            lambda x: (ops.reduce_sum(x, axis=0), ops.reduce_sum(x, axis=1)),
            lambda x: (x * 1.0, x * 2.0),
            lambda x: (x * 0.0, x * -0.0),
            lambda x: (ops.sub(x, 1.0), ops.sub(1.0, x)),
            lambda x: (ops.random_uniform([2, 2]), ops.random_uniform([2, 2])),
            lambda x: (ops.constant([1.0]), ops.constant([[1.0]])),
        ],
    )
    def test_different_expressions_are_not_shared(self, graph, different):
        x = ops.placeholder("float32", [2, 2], name="x")
        fetches = list(different(x))
        program = share(Program(graph, fetches, [], {"x:0": x}))
        assert program.fetches[0] is not program.fetches[1]

    def test_devices_and_control_edges_prevent_sharing(self, graph):
        x = ops.placeholder("float32", [2], name="x")
        plain = ops.exp(x)
        with graph.device("cpu:0"):
            placed = ops.exp(x)
        with graph.control_dependencies([x.node]):
            waits, waits_too = ops.exp(x), ops.exp(x)
        fetches = [plain, placed, waits, waits_too]
        program = share(Program(graph, fetches, [], {"x:0": x}))
        assert len(set(program.fetches)) == 3
        assert program.fetches[2] is program.fetches[3]

    def test_random_draws_with_one_seed_are_shared(self, graph):
        fetches = [ops.random_uniform([2], seed=5), ops.random_uniform([2], seed=5)]
        program = share(Program(graph, fetches))
        assert program.fetches[0] is program.fetches[1]

    def test_writes_are_not_shared(self, graph):
        w = ops.Variable(1.0, name="w")
        fetches = [w.assign_add(1.0), w.assign_add(1.0), w.read_value(), w.read_value()]
        assert len(set(share(Program(graph, fetches)).fetches)) == 4


class TestTransposes:
    def test_two_that_undo_each_other_are_removed(self, graph):
        x = ops.Variable(np.arange(24.0).reshape(2, 3, 4))
        there = ops.transpose(x, [1, 0, 2])
        y = ops.sin(ops.transpose(there, [1, 0, 2]))
        program = fold(Program(graph, [y], []))
        assert "transpose" not in kinds(program)
        assert kinds(fold(Program(graph, [y, there], [])))["transpose"] == 1

    def test_two_others_are_one(self, graph):
        x = ops.Variable(np.arange(24.0).reshape(2, 3, 4))
        y = ops.transpose(ops.transpose(x, [1, 2, 0]), [0, 2, 1])
        program = fold(Program(graph, [y], []))
        assert kinds(program)["transpose"] == 1
        (last,) = (node for node in program.order() if node.op.name == "transpose")
        assert last.attrs["perm"] == [1, 0, 2]
        assert program.fetches[0].shape == y.shape
