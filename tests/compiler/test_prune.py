"""``prune``: needed nodes, cuts at the feeds, and missing feeds."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad import ops
from playgrad.compiler.program import Program
from playgrad.compiler.prune import prune
from playgrad.errors import FeedError
from tests.compiler.interpreter import interpret


def names(program: Program) -> set[str]:
    return {node.name for node in program.graph.nodes}


def test_prune_keeps_only_needed_nodes(graph):
    x = ops.placeholder("float32", [2], name="x")
    y = ops.exp(x, name="y")
    ops.log(y, name="z")
    before = ops.constant(1.0, name="before")
    with graph.control_dependencies([before]):
        last = ops.neg(y, name="last")
    program = prune(Program(graph, [last], [], {"x:0": x}))
    assert names(program) == {"x", "y", "before", "last"}
    assert [n.name for n in program.graph.node("last").control_inputs] == ["before"]


def test_prune_cuts_at_fed_tensors(graph):
    x = ops.placeholder("float32", [2], name="x")
    y = ops.exp(x, name="y")
    z = ops.neg(y, name="z")
    program = prune(Program(graph, [z], [], {"y:0": y}))
    assert names(program) == {"y", "z"}
    assert program.graph.node("y").op.name == "placeholder"
    values, _ = interpret(program, {"y:0": np.array([1.0, 2.0], np.float32)}, {})
    np.testing.assert_array_equal(values[0], [-1, -2])


def test_a_fed_fetch_returns_the_fed_value(graph):
    y = ops.exp(ops.placeholder("float32", [2]), name="y")
    program = prune(Program(graph, [y], [], {"y:0": y}))
    assert names(program) == {"y"} and program.feeds == {"y:0": program.fetches[0]}


def test_feeds_that_nothing_needs_are_dropped(graph):
    x = ops.placeholder("float32", [2], name="x")
    unused = ops.placeholder("float32", [2], name="unused")
    program = prune(Program(graph, [x], [], {"x:0": x, "unused:0": unused}))
    assert list(program.feeds) == ["x:0"] and names(program) == {"x"}


def two_outputs(graph):
    x = ops.placeholder("float32", [1, 2, 2, 1], name="x")
    return ops.max_pool2d(x, name="pool").node.outputs


def test_one_of_several_outputs_can_be_fed(graph):
    pooled, where = two_outputs(graph)
    both = ops.cast(where, "float32") + pooled
    fed = {"x:0": graph.tensor("x"), "pool:0": pooled}
    program = prune(Program(graph, [both], [], fed))
    feeds = {
        "x:0": np.array([1, 5, 2, 3], np.float32).reshape(1, 2, 2, 1),
        "pool:0": np.full((1, 1, 1, 1), 100.0, np.float32),
    }
    assert interpret(program, feeds, {})[0][0].item() == 101


def test_a_node_whose_wanted_output_is_fed_does_not_run(graph):
    pooled, _ = two_outputs(graph)
    program = prune(Program(graph, [pooled * 2.0], [], {"pool:0": pooled}))
    assert "x" not in names(program) and "pool" not in names(program)


def test_an_unneeded_fed_output_gets_no_placeholder(graph):
    pooled, where = two_outputs(graph)
    fed = {"x:0": graph.tensor("x"), "pool:0": pooled}
    program = prune(Program(graph, [where], [], fed))
    assert list(program.feeds) == ["x:0"]
    assert [n.op.name for n in program.graph.nodes].count("placeholder") == 1


def test_control_edges_from_fed_nodes_are_forgotten(graph):
    x = ops.placeholder("float32", [2], name="x")
    y = ops.exp(x, name="y")
    with graph.control_dependencies([y]):
        z = ops.constant(1.0, name="z")
    node = ops.group(y, z)
    program = prune(Program(graph, [z], [node, y.node], {"y:0": y}))
    assert names(program) == {"z", "group"}
    assert [target.name for target in program.targets] == ["group"]


def test_missing_feeds_are_named_with_the_users_line(graph):
    x = ops.placeholder("float32", [None, 4], name="image")
    with pytest.raises(FeedError) as caught:
        prune(Program(graph, [ops.exp(x)]))
    text = str(caught.value)
    assert "the placeholder 'image' is needed, but no value was fed for it" in text
    assert "Pass feed_dict={image: value} with float32(?, 4)." in text and __file__ in text
    assert caught.value.op == "image"


class TestRandomCounter:
    def test_the_counter_advances_in_runs_with_random_draws(self, graph):
        x = ops.random_uniform([2], name="x")
        other = ops.constant(1.0)
        program = prune(Program(graph, [x]))
        assert [target.name for target in program.targets] == ["random/advance"]
        assert prune(Program(graph, [other])).targets == []

    def test_the_counter_advances_once_if_it_is_a_target(self, graph):
        x = ops.random_uniform([2], name="x")
        program = prune(Program(graph, [x], [graph.node("random/advance")]))
        assert [target.name for target in program.targets] == ["random/advance"]

    def test_the_counter_does_not_advance_when_it_is_fed(self, graph):
        x = ops.random_uniform([2], name="x")
        step = graph.tensor("random/step")
        program = prune(Program(graph, [x], [], {"random/step:0": step}))
        assert program.targets == []
