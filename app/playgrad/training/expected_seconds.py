"""The seconds that a training is likely to take with NumPy, before it begins.

They are rough: memory, and operations other than products, are hardly counted. "auto" weighs them
against the time that a GPU needs to compile.
"""

from __future__ import annotations

from playgrad.compiler.work_estimates import RATE
from playgrad.graph.traversal import ancestors
from playgrad.networks.network import Network
from playgrad.training.layer_costs import arithmetic

PASSES = 3
"""A training step computes a forward pass, and the gradients of inputs and of weights."""
NODE_SECONDS = 5e-6
"""Seconds that NumPy takes for an operation on few numbers."""


def expected_seconds(network: Network, steps: int, batch: int) -> float | None:
    """Return about how long ``steps`` training steps take on ``cpu:0``.

    Args:
        steps: 0 if the number is unknown.
        batch: samples of a step.

    Returns:
        None if the number of steps is unknown.
    """
    if not steps:
        return None
    nodes = len(ancestors([output.node for output in network.outputs]))
    return steps * (arithmetic_seconds(network, batch) + PASSES * nodes * NODE_SECONDS)


def arithmetic_seconds(network: Network, batch: int) -> float:
    """Return about how long the products of one training step take on ``cpu:0``."""
    return PASSES * batch * sum(map(arithmetic, network.structure.items)) / RATE
