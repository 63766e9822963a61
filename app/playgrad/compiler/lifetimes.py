"""Lifetimes of values on a processor, where each value is a separate array."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from playgrad.compiler.segments import Segment
from playgrad.dtypes import dtype
from playgrad.graph.tensor import Node, Tensor

_PERSISTENT = {"constant", "placeholder", "variable"}


def last_uses(
    segments: Sequence[Segment], fetches: Collection[Tensor]
) -> dict[Node, tuple[Tensor, ...]]:
    """Return for each node the tensors that nothing needs after it.

    Args:
        segments: the segments of a device, which run in order.
        fetches: tensors that are kept to the end.
    """
    fetched = set(fetches)
    last: dict[Tensor, Node] = {}
    for segment in segments:
        for node in segment.nodes:
            if node.op.name in _PERSISTENT:
                continue
            used = (t for t in node.inputs if t.node.op.name not in _PERSISTENT)
            last.update((tensor, node) for tensor in (*used, *node.outputs))
    dying: dict[Node, list[Tensor]] = {}
    for tensor, node in last.items():
        if tensor not in fetched:
            dying.setdefault(node, []).append(tensor)
    return {node: tuple(tensors) for node, tensors in dying.items()}


def peak_bytes(segments: Sequence[Segment], dying: Mapping[Node, Sequence[Tensor]]) -> int:
    """Return the most bytes of values, without variables, that a processor holds at a time.

    A view of another array counts as a separate array.

    Args:
        dying: the result of `last_uses`.
    """
    held = peak = 0
    for segment in segments:
        for node in segment.nodes:
            held += sum(map(_bytes, node.outputs))
            peak = max(peak, held)
            held -= sum(map(_bytes, dying.get(node, ())))
    return peak


def _bytes(tensor: Tensor) -> int:
    return dtype(tensor.dtype).device_bytes(tensor.spec.size)
