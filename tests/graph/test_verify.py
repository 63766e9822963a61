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


def test_duplicate_names_are_refused(graph):
    graph.node("x").name = "y"
    refused(graph, "two nodes share a name", None)


def test_edges_from_outside_the_graph_are_refused(graph):
    graph.nodes.remove(graph.node("x"))
    refused(graph, "an edge comes from a node that is not in the graph", "y")


def test_control_edges_from_outside_the_graph_are_refused(graph):
    with Graph().as_default():
        stranger = ops.constant(1.0)
    graph.node("y").control_inputs = (stranger.node,)
    refused(graph, "an edge comes from a node that is not in the graph", "y")


def test_nonexistent_inputs_are_refused(graph):
    x, y = graph.node("x"), graph.node("y")
    y.inputs = (Tensor(x, 1, x.outputs[0].spec), y.inputs[1])
    refused(graph, "input x:1 does not exist", "y")


def test_outputs_that_contradict_the_shape_rule_are_refused(graph):
    y = graph.node("y")
    y.outputs = (Tensor(y, 0, TensorSpec((2, 4), "float32")),)
    refused(graph, "its outputs do not agree with its op's rule", "y")


def test_writes_to_a_node_other_than_a_variable_are_refused(graph):
    graph.node("update").attrs["variables"] = ["x"]
    refused(graph, "it writes 'x', which is not a variable of the graph", "update")


def test_writes_without_a_variable_for_each_output_are_refused(graph):
    graph.node("update").attrs["variables"] = []
    refused(graph, "it does not name one variable for each output", "update")


def test_cycles_are_refused(graph):
    x, y = graph.node("x"), graph.node("y")
    x.control_inputs = (y,)
    with pytest.raises(GraphError, match="the graph has a cycle through update, x, y"):
        verify(graph)
