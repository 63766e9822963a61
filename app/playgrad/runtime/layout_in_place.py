"""Joined values that take the places of parts that are no longer needed.

The gradients by the gates of a recurrent network are joined, and each is computed from the gates of
a step, which are parts of one value and are read for the last time: it overwrites them. So half the
memory of the gates stays in the processor's caches.
"""

from __future__ import annotations

from collections.abc import Callable

from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.step_layout import StepLayout, StepValues, bytes_of


def lay_out_in_place(
    values: StepValues, layout: StepLayout, overwrites: Callable[[Node], bool]
) -> None:
    """Have joined values of ``layout`` take the places of others, where all parts allow it.

    Args:
        overwrites: whether the code of a node may write a result to the place of an input of the
            same shape and dtype.
    """
    position = {node: number for number, node in enumerate(values.nodes)}
    # A product reads its factors when it is added.
    position |= {product: position[total] for total, product in layout.products.items()}
    parts: dict[Tensor, list[tuple[int, int, Tensor]]] = {}
    for tensor in layout.within:
        home, begin = layout.home(tensor)
        parts.setdefault(home, []).append((begin, begin + bytes_of(tensor), tensor))

    def last_use(whole: Tensor, begin: int, end: int) -> int:
        """Return the place of the node that is the last one to read these bytes."""
        readers = [
            position[node]
            for first, last, tensor in [(0, bytes_of(whole), whole), *parts[whole]]
            if first < end and begin < last
            for node in values.users.get(tensor, ())
        ]
        return max(readers, default=0)

    def replaces(begin: int, end: int, part: Tensor) -> Tensor | None:
        """Return the value whose bytes, from ``begin`` to ``end``, ``part`` may overwrite."""
        node = part.node
        if not node.inputs:
            return None
        source = values.root(node.inputs[0])
        whole, place = layout.home(source)
        others = [layout.home(values.root(tensor))[0] for tensor in node.inputs[1:]]
        if (
            part is not node.outputs[0]
            or node.inputs[0].spec != part.spec
            or place != begin
            or whole not in parts
            or whole not in values.computed
            or layout.is_shared(source)
            or any(other is whole for other in others)
            or not overwrites(node)
            or last_use(whole, begin, end) > position[node]
        ):
            return None
        return whole

    for joined in [tensor for tensor in layout.joined if tensor not in layout.within]:
        members = [part for part in parts[joined] if part[2] not in layout.joined]
        wholes = {replaces(*member) for member in members}
        if len(wholes) == 1 and (whole := wholes.pop()) is not None and whole is not joined:
            lasting = any(part in values.lasting for _, _, part in parts[whole])
            if not lasting and bytes_of(whole) == bytes_of(joined):
                layout.within[joined] = whole, 0
