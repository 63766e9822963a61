"""Graphs shared by the tests of Plans and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad import ops
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor

Array = np.ndarray[Any, Any]


@dataclass
class Network:
    """A classifier of two layers with momentum updates."""

    graph: Graph
    x: Tensor
    labels: Tensor
    logits: Tensor
    loss: Tensor
    train: Node

    def feeds(self, batch: int = 6, seed: int = 0) -> dict[Tensor, Array]:
        random = np.random.default_rng(seed)
        return {
            self.x: random.normal(size=(batch, 10)).astype(np.float32),
            self.labels: random.integers(0, 3, batch).astype(np.int32),
        }


def network(hidden: int = 16, seed: int = 1) -> Network:
    """10 inputs, ``hidden`` hidden units, 3 classes."""
    graph = Graph(seed)
    with graph.as_default():
        x = ops.placeholder("float32", [None, 10], name="x")
        labels = ops.placeholder("int32", [None], name="labels")
        variables = []
        h: Tensor = x
        for i, (rows, columns) in enumerate([(10, hidden), (hidden, 3)]):
            with graph.name_scope(f"dense_{i + 1}"):
                w = ops.Variable(ops.random_normal([rows, columns]) * 0.3, name="kernel")
                b = ops.Variable(np.zeros(columns), name="bias")
                h = ops.matmul(h, w) + b
                variables += [w, b]
            if i == 0:
                h = ops.relu(h)
        loss = ops.reduce_mean(ops.sparse_softmax_cross_entropy(h, labels), name="loss")
        updates = []
        for variable, grad in zip(variables, gradients(loss, variables), strict=True):
            zeros = np.zeros(variable.spec.static_shape)
            velocity = ops.Variable(zeros, name=f"{variable.node.name}/velocity", trainable=False)
            updates += ops.apply_momentum(variable, velocity, grad, 0.1, 0.9)
        train = ops.group(*updates, name="train")
    return Network(graph, x, labels, h, loss, train)
