"""A small program that is run to measure how long a device takes to add up gradients."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from playgrad.graph.graph import Graph
from playgrad.ops.state import Variable, group
from playgrad.runtime.measuring import MeasuredNode
from playgrad.runtime.session import Session
from playgrad.training.recipe import Recipe


def measured_sums(stack: ExitStack, recipe: Recipe, device: str) -> MeasuredNode:
    """Return a program that adds two arrays of the size of each gradient, run once to warm up.

    Args:
        stack: closes its session.
        recipe: of the network whose trainable variables have these gradients.
        device: where it runs.
    """
    graph = Graph()
    with graph.as_default(), graph.device(device):
        sums = []
        for variable in recipe.network.trainable_variables:
            zeros = np.zeros(variable.spec.static_shape, np.float32)
            own, other = (Variable(zeros, trainable=False) for _ in range(2))
            sums.append(own + other)
        step = group(*sums, name="sums")
    session = stack.enter_context(Session(graph, device, threads=1))
    session.run(step)
    return MeasuredNode(session, step)
