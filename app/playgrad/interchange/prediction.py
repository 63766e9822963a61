"""The part of a graph that predicts, which formats translate operation by operation."""

from __future__ import annotations

from collections.abc import Iterable

from playgrad.errors import ExportError
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors


def needed(inputs: Iterable[Tensor], outputs: Iterable[Tensor]) -> list[Node]:
    """Return the nodes between inputs and outputs, variables and constants too, in order."""
    nodes = ancestors((tensor.node for tensor in outputs), control=False)
    nodes -= {tensor.node for tensor in inputs}
    return sorted(nodes, key=lambda node: node.id)


def variables_of(inputs: Iterable[Tensor], outputs: Iterable[Tensor]) -> list[Tensor]:
    """Return the variables that ``outputs`` depend on."""
    return [node.output for node in needed(inputs, outputs) if node.op.name == "variable"]


def refusal(node: Node, why: str) -> ExportError:
    """Return the error of an operation that a format cannot express."""
    layer, _, _ = node.name.rpartition("/")
    place = f"layer '{layer}', operation '{node.name}'" if layer else f"operation '{node.name}'"
    return ExportError(f"{place} ({node.op.name}): {why}", op=node.name, source=node.source)
