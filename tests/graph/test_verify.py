"""``verify`` detects graphs that a pass has broken, and names the node and the pass."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad import ops
from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.graph.verify import verify


@pytest.fixture
def graph():
    graph = Graph()
    with graph.as_default():
        x = ops.placeholder("float32", [2, 3], name="x")
        w = ops.Variable(np.ones((2, 3)), name="w")
        y = ops.add(x, w, name="y")
        w.assign(y, name="update")
        verify(graph)
        yield graph


def refused(graph, words, op):
    with pytest.raises(GraphError) as caught:
        verify(graph, after="prune")
    assert f"the graph is not well formed after prune: {words}" in str(caught.value)
    assert caught.value.op == op


def test_shared_names(graph):
    graph.node("x").name = "y"
    refused(graph, "two nodes share a name", None)


def test_edges_from_elsewhere(graph):
    graph.nodes.remove(graph.node("x"))
    refused(graph, "an edge comes from a node that is not in the graph", "y")


def test_control_edges_from_elsewhere(graph):
    with Graph().as_default():
        stranger = ops.constant(1.0)
    graph.node("y").control_inputs = (stranger.node,)
    refused(graph, "an edge comes from a node that is not in the graph", "y")


def test_inputs_that_do_not_exist(graph):
    x, y = graph.node("x"), graph.node("y")
    y.inputs = (Tensor(x, 1, x.outputs[0].spec), y.inputs[1])
    refused(graph, "input x:1 does not exist", "y")


def test_outputs_that_are_not_what_the_rule_gives(graph):
    y = graph.node("y")
    y.outputs = (Tensor(y, 0, TensorSpec((2, 4), "float32")),)
    refused(graph, "its outputs do not agree with its op's rule", "y")


def test_writes_to_what_is_no_variable(graph):
    graph.node("update").attrs["variables"] = ["x"]
    refused(graph, "it writes 'x', which is not a variable of the graph", "update")


def test_writes_without_a_name_for_each_output(graph):
    graph.node("update").attrs["variables"] = []
    refused(graph, "it does not name one variable for each output", "update")


def test_cycles(graph):
    x, y = graph.node("x"), graph.node("y")
    x.control_inputs = (y,)
    with pytest.raises(GraphError, match="the graph has a cycle through update, x, y"):
        verify(graph)
