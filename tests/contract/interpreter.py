"""A second opinion: runs a graph node by node through the ops' NumPy references.

It shares no code with the session, its passes or its executor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playgrad.graph.opdef import Array
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors, topological


def value(tensor: Tensor, given: Mapping[Tensor, Array] | None = None) -> Array:
    """The value of one tensor, as ``evaluate`` has it."""
    return evaluate([tensor], given or {})[0]


def evaluate(fetches: Sequence[Tensor], given: Mapping[Tensor, Array]) -> list[Array]:
    """The values of ``fetches`` where placeholders and variables have the values ``given``."""
    values = dict(given)
    for node in topological(ancestors(tensor.node for tensor in fetches)):
        if all(tensor in values for tensor in node.outputs):
            continue
        results = node.op.reference([values[tensor] for tensor in node.inputs], node.attrs)
        values.update(zip(node.outputs, results, strict=True))
    return [values[tensor] for tensor in fetches]
