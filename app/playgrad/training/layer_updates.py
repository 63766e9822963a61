"""What layers change by themselves while a model is trained: moving averages and their like.

A training step collects these updates while it applies the model, and makes them with the
optimizer's, under the same gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer_calls import notes_of
from playgrad.ops.elementwise.definitions import where
from playgrad.ops.state import Variable

Updates = dict[Variable, Tensor]
"""The value that each variable is to have after the step."""


@contextmanager
def collected_updates(graph: Graph) -> Iterator[Updates]:
    """Collect what the layers called within the block pass to ``Layer.add_update``."""
    notes = notes_of(graph)
    before = notes.updates
    notes.updates = {}
    try:
        yield notes.updates
    finally:
        notes.updates = before


def assign_updates(updates: Updates, gate: Tensor) -> list[Tensor]:
    """Writes of all ``updates``; where ``gate`` (a bool scalar) is false no variable changes."""
    written = []
    for variable, value in updates.items():
        graph = variable.graph
        with (
            graph.reenter_scope(f"{graph.current_scope}{variable.variable_name}/"),
            graph.device(variable.device),
            graph.phase("update"),
        ):
            written.append(variable.assign(where(gate, value, variable)))
    return written
