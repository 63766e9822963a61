"""How long values are needed on a processor, which keeps them as arrays of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from playgrad.compiler.segments import Segment
from playgrad.dtypes import dtype
from playgrad.graph.tensor import Node, Tensor

_KEPT = {"constant", "placeholder", "variable"}


def last_uses(
    segments: Sequence[Segment], fetches: Collection[Tensor]
) -> dict[Node, tuple[Tensor, ...]]:
    """What is needed no more after each node of a device's segments, which run in order.

    Args:
        fetches: tensors that are kept to the end.
    """
    kept = set(fetches)
    last: dict[Tensor, Node] = {}
    for segment in segments:
        for node in segment.nodes:
            if node.op.name in _KEPT:
                continue
            used = (t for t in node.inputs if t.node.op.name not in _KEPT)
            last.update((tensor, node) for tensor in (*used, *node.outputs))
    dying: dict[Node, list[Tensor]] = {}
    for tensor, node in last.items():
        if tensor not in kept:
            dying.setdefault(node, []).append(tensor)
    return {node: tuple(tensors) for node, tensors in dying.items()}


def peak_bytes(segments: Sequence[Segment], dying: Mapping[Node, Sequence[Tensor]]) -> int:
    """The most bytes of values that a processor holds at the same time; variables not counted.

    What only looks at another array in another shape counts as an array of its own.
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
