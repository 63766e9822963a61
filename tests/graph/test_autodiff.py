"""Gradients are graph operations; their values are checked against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad import ops
from playgrad.errors import DTypeError, GraphError, ShapeError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Tensor
from playgrad.runtime.session import Session


@pytest.fixture
def session(graph):
    with Session(graph, device="cpu") as session:
        yield session


def double(value, name):
    return ops.placeholder("float64", np.shape(value), name=name)


def check(session, y, x, value, feeds=None):
    """Compare dy/dx with central differences in float64, along random directions."""
    value = np.asarray(value, np.float64)
    feeds = feeds or {}
    (dx,) = gradients(y, x)
    assert isinstance(dx, Tensor) and (dx.dtype, dx.shape) == (x.dtype, x.shape)
    got = session.run(dx, {**feeds, x: value})
    random = np.random.default_rng(0)
    for _ in range(3):
        direction = random.normal(size=value.shape)
        step = 1e-6
        ends = [
            np.sum(session.run(y, {**feeds, x: value + sign * step * direction}))
            for sign in (1, -1)
        ]
        expected = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(np.sum(got * direction), expected, rtol=1e-6, atol=1e-8)


VALUE = np.array([[0.3, -0.7, 1.1], [0.9, 0.2, -1.3]])


def test_a_chain_of_operations_is_differentiated(session):
    x = double(VALUE, "x")
    check(session, ops.tanh(ops.square(x) * 2.0 + x), x, VALUE)


def test_tensors_used_several_times_are_summed(session):
    x = double(VALUE, "x")
    shared = ops.exp(x)
    check(session, shared * x + ops.square(shared) - x, x, VALUE)


def test_gradient_nodes_are_built_once_a_tensor(graph):
    """The gradients that flow into a tensor are summed once, not once for each use."""
    x = ops.placeholder("float32", [3], name="x")
    shared = ops.exp(x)
    total = shared + shared * 2.0 + shared * 3.0
    before = len(graph.nodes)
    gradients(total, x)
    grown = [node for node in graph.nodes[before:] if "/exp/" in node.name]
    assert len([node for node in grown if node.op.name == "mul"]) == 1


def test_gradients_of_broadcasts_are_summed(session):
    x = double([0.5], "x")
    other = ops.constant(VALUE, dtype="float64")
    check(session, ops.tanh(x * other), x, [0.5])


def test_matmul_with_an_unknown_batch_is_differentiated(session, graph):
    x = ops.placeholder("float64", [None, 3], name="x")
    w = double(np.ones((3, 2)), "w")
    y = ops.sigmoid(ops.matmul(x, w))
    check(session, y, w, [[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]], {x: VALUE})


def test_gradients_of_gradients_are_correct(session):
    x = double(VALUE, "x")
    (first,) = gradients(ops.tanh(x) * ops.exp(x), x)
    (second,) = gradients(first, x)
    check(session, first, x, VALUE)
    check(session, second, x, VALUE)


def test_derivatives_up_to_fourth_order_are_correct(session):
    x = double(2.0, "x")
    y = ops.square(ops.square(x))
    values = []
    for _ in range(4):
        (y,) = gradients(y, x)
        values.append(float(session.run(y, {x: 2.0})))
    assert values == [32.0, 48.0, 48.0, 24.0]


def test_unconnected_tensors_have_the_gradient_none(graph):
    x = ops.placeholder("float32", [2])
    y = ops.placeholder("float32", [2])
    assert gradients(ops.exp(x), [x, y])[1] is None
    assert gradients(x, [y]) == [None]


def test_the_gradient_of_a_tensor_by_itself_is_one(session):
    x = double(VALUE, "x")
    (grad,) = gradients(x, x)
    np.testing.assert_array_equal(session.run(grad, {x: VALUE}), np.ones((2, 3)))


def test_several_ys_are_added(session):
    x = double(3.0, "x")
    (grad,) = gradients([ops.square(x), x * 5.0], [x])
    assert float(session.run(grad, {x: 3.0})) == 11.0


def test_gradients_by_intermediate_tensors_are_correct(session):
    x = double(0.5, "x")
    hidden = ops.square(x)
    y = ops.exp(hidden) * 2.0
    for_hidden, for_x = gradients(y, [hidden, x])
    values = session.run([for_hidden, for_x, y], {x: 0.5})
    np.testing.assert_allclose(values[0], values[2])
    np.testing.assert_allclose(values[1], values[2] * 2 * 0.5)


def test_initial_gradients_are_multiplied_in(session, graph):
    x = double(VALUE, "x")
    seed = ops.constant(np.arange(6.0).reshape(2, 3), dtype="float64")
    (grad,) = gradients(ops.square(x), x, [seed])
    np.testing.assert_allclose(
        session.run(grad, {x: VALUE}), 2 * VALUE * np.arange(6).reshape(2, 3)
    )
    mixed = gradients([x * 2.0, x * 3.0], x, [None, seed])[0]
    np.testing.assert_allclose(session.run(mixed, {x: VALUE}), 2 + 3 * np.arange(6.0).reshape(2, 3))


def test_given_gradients_have_to_fit(graph):
    x = ops.placeholder("float32", [2, 3], name="x")
    y = ops.exp(x, name="y")
    with pytest.raises(ShapeError, match=r"of 'y:0' must have shape \(2, 3\), got \(3,\)"):
        gradients(y, x, [ops.constant(np.ones(3))])
    with pytest.raises(ShapeError, match=r"of 'y:0' must have shape \(2, 3\), got \(2, 4\)"):
        gradients(y, x, [ops.constant(np.ones((2, 4)))])
    with pytest.raises(DTypeError, match="of 'y:0' must be float32, got int32"):
        gradients(y, x, [ops.constant(np.ones((2, 3), np.int32))])
    with pytest.raises(GraphError, match="got 1 ys but 2 grad_ys"):
        gradients(y, x, [None, None])
    with pytest.raises(GraphError, match="at least one tensor"):
        gradients([], x)


def test_stop_gradient_blocks_the_gradient(session):
    x = double(3.0, "x")
    (grad,) = gradients(x * ops.stop_gradient(x), x)
    assert float(session.run(grad, {x: 3.0})) == 3.0
    assert gradients(ops.stop_gradient(x) * 2.0, x) == [None]


def test_comparisons_and_integer_casts_block_the_gradient(session):
    x = ops.placeholder("float32", [3], name="x")
    assert gradients(ops.cast(x > 0.0, "float32"), x) == [None]
    whole = ops.cast(ops.cast(x, "int32"), "float32")
    assert gradients(whole, x) == [None]


def test_whole_numbers_are_refused(graph):
    x = ops.placeholder("int32", [2], name="x")
    with pytest.raises(DTypeError, match="cannot differentiate 'x:0': it is int32"):
        gradients(x, x)


def test_other_graphs_are_refused(graph):
    x = ops.placeholder("float32", [2])
    with Graph().as_default():
        stranger = ops.placeholder("float32", [2], name="stranger")
    with pytest.raises(GraphError, match="got 'stranger:0', which belongs to another graph"):
        gradients(x, stranger)


def test_operations_without_gradient_are_named(graph):
    x = ops.placeholder("float32", [2], name="x")
    hard = OpDef("hard_step", lambda inputs, attrs: inputs, lambda inputs, attrs: inputs)
    y = graph.add(hard, [x], name="layer/step").output * 2.0
    with pytest.raises(GraphError) as caught:
        gradients(y, x)
    assert "layer/step: the operation 'hard_step' has no gradient." in str(caught.value)
    assert "stop_gradient()" in str(caught.value) and __file__ in str(caught.value)
    # The gradient with respect to its output does not need its rule.
    assert gradients(y, y.node.inputs[0])[0] is not None


def test_gradient_nodes_are_named_after_their_operation(graph):
    with graph.name_scope("dense"):
        w = ops.Variable(np.ones((3, 2)), name="kernel")
        y = ops.matmul(ops.constant(np.ones((1, 3))), w)
    before = len(graph.nodes)
    gradients(y, w)
    added = graph.nodes[before:]
    assert added and all(node.phase == "gradient" for node in added if node.op.name != "constant")
    assert all(node.name.startswith("gradients/") for node in added)
    assert any(node.name.startswith("gradients/dense/matmul/") for node in added)


def test_gradient_nodes_share_the_device_of_their_operation(graph):
    x = ops.placeholder("float32", [2], name="x")
    with graph.device("gpu:0"):
        y = ops.tanh(x)
    before = len(graph.nodes)
    gradients(y * 2.0, x)
    nodes = [node for node in graph.nodes[before:] if "/tanh/" in node.name]
    assert nodes and all(node.device == "gpu:0" for node in nodes)
