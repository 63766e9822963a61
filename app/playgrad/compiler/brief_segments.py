"""Segments that are over sooner than a call of compiled code, by estimates from shapes.

A pipeline with many micro-batches has hundreds of them. What is compiled rounds otherwise, and
replicas must stay equal to the bit: so updates, which replicas make alike, are never among them,
and nothing counts that one replica may do for all, such as recording a loss.
"""

from __future__ import annotations

from playgrad.compiler.segments import Segment
from playgrad.compiler.work_estimates import is_product, operations
from playgrad.graph.tensor import Node

_CALL = 5e-5
"""Seconds of a call of compiled code with all that belongs to it, beside the work."""
_NODE = 4e-6
"""Seconds that NumPy takes for a node besides its arithmetic."""
_PRODUCTS, _OTHERS = 3e10, 2e9
"""Multiplications and additions in a second of BLAS, and of NumPy's other functions."""
_FREE = {"constant", "placeholder", "variable", "read_variable", "no_op", "send", "receive"}
_MOVES = {"gather", "slice"}
_PHASES = {"input", "forward", "gradient"}


def is_brief(segment: Segment) -> bool:
    """Return whether NumPy needs less time for the nodes of ``segment`` than a call takes."""
    nodes = [node for node in segment.nodes if node.op.name not in _FREE]
    if segment.task is None or any(n.op.writes or n.phase not in _PHASES for n in nodes):
        return False
    return sum(map(_seconds, nodes)) < _CALL


def _seconds(node: Node) -> float:
    size = sum(tensor.spec.size for tensor in node.outputs)
    if node.op.alias or size <= 1:
        return 0.0
    work = size if node.op.name in _MOVES else operations(node)
    return _NODE + work / (_PRODUCTS if is_product(node) else _OTHERS)
