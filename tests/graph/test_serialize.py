"""A graph survives the round trip through JSON text, values included."""

from __future__ import annotations

import json

import numpy as np
import pytest

from playgrad import ops
from playgrad.errors import GraphError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.serialize import graph_from_json, graph_to_json
from playgrad.graph.verify import verify
from playgrad.runtime.session import Session


def through_text(graph: Graph) -> Graph:
    text = json.dumps(graph_to_json(graph), allow_nan=False)
    restored = graph_from_json(json.loads(text))
    verify(restored)
    return restored


def training_graph() -> Graph:
    """Forward, gradient and update nodes of a small classifier."""
    graph = Graph(seed=3)
    with graph.as_default():
        x = ops.placeholder("float32", [None, 5], name="x")
        labels = ops.placeholder("int32", [None], name="labels")
        with graph.name_scope("dense"):
            w = ops.Variable(ops.random_normal([5, 3]), name="kernel")
            b = ops.Variable(np.zeros(3), name="bias")
        logits = ops.matmul(x, w) + b
        loss = ops.reduce_mean(ops.sparse_softmax_cross_entropy(logits, labels), name="loss")
        updates = [
            ops.apply_sgd(v, g, 0.1) for v, g in zip((w, b), gradients(loss, [w, b]), strict=True)
        ]
        with graph.control_dependencies(updates), graph.device("cpu:0"):
            ops.group(*updates, name="train")
    return graph


def test_nodes_are_equal():
    graph = training_graph()
    restored = through_text(graph)
    assert restored.seed == 3
    assert len(restored.nodes) == len(graph.nodes)
    for old, new in zip(graph.nodes, restored.nodes, strict=True):
        assert (old.name, old.op, old.phase, old.device) == (
            new.name,
            new.op,
            new.phase,
            new.device,
        )
        assert old.source == new.source
        assert [t.name for t in old.inputs] == [t.name for t in new.inputs]
        assert [n.name for n in old.control_inputs] == [n.name for n in new.control_inputs]
        assert [t.spec for t in old.outputs] == [t.spec for t in new.outputs]
    assert graph_to_json(restored) == graph_to_json(graph)


def test_training_steps_are_equal():
    feeds = {
        "x": np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32),
        "labels": [0, 2, 1, 2],
    }
    graph = training_graph()
    results = []
    for each in (graph, through_text(graph)):
        with Session(each, device="cpu") as session:
            losses = [session.run(["loss", "train"], feeds)[0] for _ in range(3)]
            results.append((losses, session.value("dense/kernel"), session.value("dense/bias")))
    assert results[0][0] == results[1][0] and results[0][0][0] > results[0][0][2]
    np.testing.assert_array_equal(results[0][1], results[1][1])
    np.testing.assert_array_equal(results[0][2], results[1][2])


def test_new_random_operations_do_not_repeat_old_ones():
    graph = Graph()
    with graph.as_default():
        old = ops.random_uniform([4], name="old")
    restored = through_text(graph)
    with restored.as_default():
        new = ops.random_uniform([4], name="new")
    assert new.node.attrs["seed"] != old.node.attrs["seed"]


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int32", "uint32", "uint8", "int8", "bool"]
)
def test_constants_of_every_type_survive_json(dtype):
    value = np.array([[0, 1, 2], [3, 250, 255]]).astype(dtype)
    graph = Graph()
    with graph.as_default():
        ops.constant(value, dtype=dtype, name="c")
        ops.constant(value[0, :0], dtype=dtype, name="empty")
    restored = through_text(graph)
    array = restored.node("c").attrs["value"]
    assert array.dtype == value.dtype
    np.testing.assert_array_equal(array, value)
    assert restored.node("empty").attrs["value"].shape == (0,)


def test_infinities_survive_json():
    graph = Graph()
    with graph.as_default():
        x = ops.placeholder("float32", [2], name="x")
        ops.pad(x, [[1, 1]], constant_values=float("-inf"), name="padded")
    with Session(through_text(graph), device="cpu") as session:
        np.testing.assert_array_equal(
            session.run("padded", {"x": [1, 2]}), [-np.inf, 1, 2, -np.inf]
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "other"}, "not a playgrad graph"),
        ({"version": 2}, "graph version must be 1, got 2"),
        ({"nodes": [{"name": "x", "phase": "input", "op": "nonsense"}]}, "no operation 'nonsense'"),
        (
            {"nodes": [{"op": "neg", "inputs": ["x:0"], "attrs": {}, "name": "y",
                        "control_inputs": [], "phase": "forward"}]},
            "no node named 'x'",
        ),
        ({"seed": "a"}, "the graph is damaged: ValueError"),
        ({"nodes": [{"op": "neg"}]}, "the graph is damaged: KeyError 'name'"),
        ({"nodes": [None]}, "the graph is damaged"),
        (
            {"nodes": [{"op": "constant", "inputs": [], "name": "c", "control_inputs": [],
                        "phase": "input",
                        "attrs": {"value": {"array": "AAAA", "dtype": "float32", "shape": [3]}}}]},
            "the graph is damaged at the node 'c': ValueError",
        ),
    ],
)  # fmt: skip
def test_foreign_data_is_refused(change, words):
    with pytest.raises(GraphError, match=words):
        graph_from_json({**graph_to_json(Graph()), **change})


@pytest.mark.parametrize("data", [None, [], "graph", {}])
def test_data_other_than_a_graph_is_refused(data):
    with pytest.raises(GraphError, match="not a playgrad graph"):
        graph_from_json(data)
