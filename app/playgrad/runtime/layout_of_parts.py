"""Parts of values that stay where they are, and values that are computed where they are joined.

All of these are neighbours in rows: along the first axis whose size is not 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.step_layout import StepLayout, StepValues, bytes_of, item_of


def lay_out_parts(values: StepValues, layout: StepLayout) -> None:
    """Add to ``layout`` the parts of values, and the values that are joined."""
    _PartLayout(values, layout).lay_out()


class _PartLayout:
    def __init__(self, values: StepValues, layout: StepLayout) -> None:
        self._values, self._layout = values, layout

    def lay_out(self) -> None:
        for tensor, users in self._values.users.items():
            self._cut(tensor, users)
        joins = [node for node in self._values.nodes if node.op.name == "concat"]
        for node in sorted(joins, key=lambda node: -len(node.inputs)):  # then parts of these
            self._join(node)

    def _cut(self, whole: Tensor, users: Sequence[Node]) -> None:
        """Leave parts where they are if they are all that is needed of ``whole``."""
        if whole not in self._values.computed or whole in self._values.lasting:
            return
        parts: list[tuple[int, int, Node]] = []
        for node in users:
            part = rows_of(node)
            if part is None or node.outputs[0] not in self._values.computed:
                return
            parts.append((*part, node))
        parts.sort(key=lambda part: part[:2])
        end = 0
        for begin, size, _ in parts:
            if begin < end:
                return
            end = begin + size
        if 2 * sum(size for _, size, _ in parts) < bytes_of(whole):
            return  # it would be kept for a small part
        for begin, _, node in parts:
            self._layout.within[node.outputs[0]] = whole, begin
            self._layout.free.add(node)

    def _join(self, node: Node) -> None:
        """Compute the inputs of ``node`` where they are in its result."""
        layout, result = self._layout, node.outputs[0]
        if result not in self._values.computed or result in layout.within:
            return
        if prod(result.spec.static_shape[: node.attrs["axis"]]) != 1 or not result.spec.size:
            return
        parts = list(map(self._values.root, node.inputs))
        if any(part not in self._values.computed or not part.spec.size for part in parts):
            return
        offset, places = 0, []
        for part in parts:
            places.append(offset)
            offset += bytes_of(part)
        if all(part not in layout.within for part in parts):
            if len(set(parts)) < len(parts):
                return
            for part, place in zip(parts, places, strict=True):
                layout.within[part] = result, place
            layout.joined.add(result)
        else:
            homes = [layout.home(part) for part in parts]
            first, before = homes[0]
            neighbours = [(first, before + place) for place in places]
            if first not in layout.joined or any(
                home is not expected or at != place
                for (home, at), (expected, place) in zip(homes, neighbours, strict=True)
            ):
                return
            layout.within[result] = first, before
            layout.joined.add(result)
        layout.free.add(node)


def rows_of(node: Node) -> tuple[int, int] | None:
    """Return the place and the size in bytes of what a ``slice`` takes, if that is one run."""
    if node.op.name != "slice":
        return None
    shape, size = node.inputs[0].spec.static_shape, node.outputs[0].spec.static_shape
    if not node.outputs[0].spec.size:
        return None
    axis = next((axis for axis, count in enumerate(size) if count > 1), len(size))
    if size[axis + 1 :] != shape[axis + 1 :]:
        return None
    begin = 0
    for first, count in zip(node.attrs["begin"], shape, strict=True):
        begin = begin * count + first
    return begin * item_of(node.outputs[0]), bytes_of(node.outputs[0])
