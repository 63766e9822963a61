"""Gradients with unknown shapes, with stop_gradient, and of equal maxima."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad.contract.interpreter import evaluate, value
from playgrad.graph.autodiff import gradients
from playgrad.ops import (
    Variable,
    avg_pool2d,
    concat,
    constant,
    conv2d,
    max_pool2d,
    pad,
    placeholder,
    reduce_max,
    reduce_mean,
    reduce_sum,
    relu,
    reshape,
    square,
    stop_gradient,
)
from playgrad.runtime.session import Session


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_gradients_pass_through_unknown_sizes(device: str) -> None:
    image = placeholder("float32", [None, None, None, 2])
    filters = Variable(np.linspace(-1, 1, 36, dtype=np.float32).reshape(3, 3, 2, 2))
    hidden = relu(conv2d(image, filters))
    pooled = concat([max_pool2d(hidden), avg_pool2d(hidden)], 3)
    rows = reshape(pooled, [-1, 4])[1:]
    loss = reduce_mean(square(rows)) + reduce_sum(pad(rows, [[1, 0], [0, 2]])) * 0.1
    grads = gradients(loss, [image, filters])
    assert grads[0] is not None and grads[1] is not None
    second = gradients(reduce_sum(square(grads[1])), [image])[0]
    assert second is not None
    values = np.random.default_rng(0).normal(size=(2, 8, 9, 2)).astype(np.float32)
    references = evaluate(
        [loss, grads[0], grads[1], second], {image: values, filters: value(filters.initial_value)}
    )
    with Session(device=device) as session:
        results = session.run([loss, *grads, second], {image: values})
    for actual, expected in zip(results, references, strict=True):
        scale = float(np.abs(expected).max())
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5 * scale)


def test_stop_gradient_blocks_the_gradient() -> None:
    x = constant([1.0, 2.0])
    assert gradients(stop_gradient(x) * 3.0, x) == [None]
    (grad,) = gradients(stop_gradient(x) * x, x)
    assert grad is not None
    assert value(grad).tolist() == [1.0, 2.0]


def test_equal_maxima_share_the_gradient() -> None:
    x = constant([[3.0, 3.0, 1.0]])
    (grad,) = gradients(reduce_max(x, 1), x)
    assert grad is not None
    assert value(grad).tolist() == [[0.5, 0.5, 0.0]]


@pytest.mark.parametrize("batch", [3, None])
def test_gradients_of_a_value_used_in_every_step_are_one_operation(batch: int | None) -> None:
    """Otherwise the nodes, or what they write, grow with the square of the steps."""
    steps = 6
    random = np.random.default_rng(4)
    values = [random.normal(size=shape) for shape in ((3, steps, 2), (2, 2), (2,))]
    with pg.Graph().as_default() as graph:
        x = pg.placeholder("float64", (batch, steps, 2))
        w, b = pg.placeholder("float64", (2, 2)), pg.placeholder("float64", (2,))
        state = pg.zeros_like(x[:, 0])
        for step in pg.unstack(x, axis=1):
            state = pg.tanh(pg.matmul(state, w) + b + step)
        grads = pg.gradients(pg.reduce_sum(state * state), [x, w, b])
    assert grads[1] is not None and grads[1].node.op.name == "matmul"
    assert grads[2] is not None and grads[2].node.op.name == "sum_to_like"
    assert grads[0] is not None and grads[0].node.op.name == "concat"
    feeds = dict(zip((x, w, b), values, strict=True))
    tensors = [torch.tensor(value, requires_grad=True) for value in values]
    theirs = torch.zeros(3, 2, dtype=torch.float64)
    for t in range(steps):
        theirs = torch.tanh(theirs @ tensors[1] + tensors[2] + tensors[0][:, t])
    (theirs * theirs).sum().backward()
    with pg.Session(graph, "cpu") as session:
        for actual, tensor in zip(session.run(grads, feeds), tensors, strict=True):
            np.testing.assert_allclose(actual, tensor.grad, rtol=1e-9, atol=1e-12)
