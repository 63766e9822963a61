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


def peak_bytes(
    segments: Sequence[Segment],
    dying: Mapping[Node, Sequence[Tensor]],
    apart: Collection[Tensor] = (),
) -> int:
    """Return the most bytes of values, without variables, that a processor holds at a time.

    A view of another array counts as a separate array.

    Args:
        dying: the result of `last_uses`.
        apart: values that do not count.
    """
    held = peak = 0
    for segment in segments:
        for node in segment.nodes:
            held += sum(_bytes(tensor) for tensor in node.outputs if tensor not in apart)
            peak = max(peak, held)
            held -= sum(_bytes(tensor) for tensor in dying.get(node, ()) if tensor not in apart)
    return peak


def compiled_bytes(segments: Sequence[Segment], fetches: Collection[Tensor]) -> int:
    """Return the most bytes of values, without variables, that the compiled segments of a device
    hold at a time.

    What nothing needs after its segment is in a block, which all segments share. The other results
    of a segment are in one array, which is freed once none of them is needed. If the segment writes
    variables, their new values are in that array, too, so it lasts until the next run has ended.

    Args:
        fetches: tensors that are kept to the end.
    """
    end = len(segments)
    last = dict.fromkeys(fetches, end)  # the number of the segment that needs a tensor last
    for number, segment in enumerate(segments):
        for node in segment.nodes:
            until = number + (node.op.name == "send")  # by then the receiver has it, as a rule
            last.update((tensor, max(until, last.get(tensor, 0))) for tensor in node.inputs)
    arrays = [0] * (end + 1)  # bytes while each segment runs, and after the last one
    apart: set[Tensor] = set()
    for number, segment in enumerate(segments):
        outputs = [tensor for node in segment.nodes for tensor in node.outputs]
        received = [[tensor] for tensor in outputs if tensor.node.op.name == "receive"]
        kept = [
            tensor
            for tensor in outputs
            if tensor.node.op.name != "receive" and last.get(tensor, number) > number
        ]
        writes = any(node.op.writes for node in segment.nodes)
        for array in (*received, kept):
            apart.update(array)
            size = sum(map(_bytes, array))
            until = max((last.get(tensor, number) for tensor in array), default=number)
            for later in range(number, (end if writes else until) + 1):
                arrays[later] += size
        if writes:  # the array of the last run
            arrays = [size + sum(map(_bytes, kept)) for size in arrays]
    return max(arrays) + peak_bytes(segments, last_uses(segments, ()), apart)


def _bytes(tensor: Tensor) -> int:
    return dtype(tensor.dtype).device_bytes(tensor.spec.size)
