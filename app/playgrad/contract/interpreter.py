"""An independent interpreter: runs a graph node by node through the ops' NumPy references.

It shares no code with sessions, compiler passes or the executor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playgrad.graph.opdef import Array
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors, topological


def value(tensor: Tensor, known: Mapping[Tensor, Array] | None = None) -> Array:
    """Return the value of one tensor, where other tensors have the values ``known``."""
    return evaluate([tensor], known or {})[0]


def evaluate(fetches: Sequence[Tensor], known: Mapping[Tensor, Array]) -> list[Array]:
    """Return the values of ``fetches`` where the tensors in ``known`` have these values."""
    values = dict(known)
    for node in topological(ancestors(tensor.node for tensor in fetches)):
        if all(tensor in values for tensor in node.outputs):
            continue
        results = node.op.reference([values[tensor] for tensor in node.inputs], node.attrs)
        values.update(zip(node.outputs, results, strict=True))
    return [values[tensor] for tensor in fetches]
