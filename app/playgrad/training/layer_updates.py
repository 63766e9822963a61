"""Updates that layers make to variables themselves in training, such as moving averages.

A training step collects these updates while it applies the network, and makes them with the
optimizer's, under the same gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer_calls import layers_of
from playgrad.ops.elementwise.definitions import where
from playgrad.ops.state import Variable

Updates = dict[Variable, Tensor]
"""The value that each variable gets at the end of the step."""


@contextmanager
def collected_updates(graph: Graph) -> Iterator[Updates]:
    """Collect the updates that layers called in the block pass to ``Layer.add_update``."""
    layers = layers_of(graph)
    before = layers.updates
    layers.updates = {}
    try:
        yield layers.updates
    finally:
        layers.updates = before


def assign_updates(updates: Updates, gate: Tensor | None = None) -> list[Tensor]:
    """Add assignments for ``updates``; where ``gate`` (bool scalar) is false, nothing changes."""
    assignments = []
    for variable, value in updates.items():
        graph = variable.graph
        with (
            graph.reenter_scope(f"{graph.current_scope}{variable.variable_name}/"),
            graph.device(variable.device),
            graph.phase("update"),
        ):
            new = value if gate is None else where(gate, value, variable)
            assignments.append(variable.assign(new))
    return assignments
