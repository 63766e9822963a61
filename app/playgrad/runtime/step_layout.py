"""Values of a compiled step that lie within others: so that cutting, joining and adding to products
moves nothing.

- The parts that a value is cut into are where they are in it, if nothing else reads it.
- Values that are joined are computed where they are in the joined one.
- A product is added by BLAS to the other term of a sum, where that is, or to rows that are all
  equal to it.
- BLAS copies a factor before it multiplies, and a transposed one takes longer. What many products
  of a step have as their transposed factor is transposed once.

All of these are neighbours only in rows: along the first axis whose size is not 1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from playgrad.graph.tensor import Node, Tensor

_MANY, _MOST_ROWS = 4, 256
"""Products from which a factor is transposed once, and the most rows of each: with more, copying
the factor takes little of its time."""


@dataclass
class StepLayout:
    """Which values of a step lie within others.

    All tensors are roots, which have bytes.

    Attributes:
        within: the value that a value is a part of, and the bytes before it there.
        free: nodes that need no code, since their results are where they belong.
        products: for a sum, the node of the product that is added to the sum's other term, or to
            copies of that, a row.
        joined: values that consist of others, which may be needed as well.
        turned: for a product, its second factor, of which it reads a transposed copy.
    """

    within: dict[Tensor, tuple[Tensor, int]] = field(default_factory=dict)
    free: set[Node] = field(default_factory=set)
    products: dict[Node, Node] = field(default_factory=dict)
    joined: set[Tensor] = field(default_factory=set)
    turned: dict[Node, Tensor] = field(default_factory=dict)

    def home(self, root: Tensor) -> tuple[Tensor, int]:
        """Return the value that has memory for ``root``, and the bytes before it there."""
        offset = 0
        while root in self.within:
            root, before = self.within[root]
            offset += before
        return root, offset

    @property
    def unplaced(self) -> set[Tensor]:
        """The products that are computed as parts of sums."""
        return {product.outputs[0] for product in self.products.values()}

    def is_shared(self, root: Tensor) -> bool:
        """Return whether ``root`` has bytes of values that may be needed as well."""
        while root not in self.joined:
            if root not in self.within:
                return False
            root, _ = self.within[root]
        return True

    def turned_by(self, node: Node) -> Tensor | None:
        """Return the factor of which the code of ``node`` reads a transposed copy."""
        return None if node in self.free else self.turned.get(self.products.get(node, node))

    def reads(self, node: Node) -> Sequence[Tensor]:
        """Return the tensors that the code of ``node`` reads."""
        product = self.products.get(node)
        return node.inputs if product is None else (*node.inputs, *product.inputs)


def plan_layout(
    nodes: Sequence[Node],
    root: Callable[[Tensor], Tensor],
    lasting: Collection[Tensor],
    fixed: Collection[Tensor],
    multiplies: Callable[[Node], bool],
) -> StepLayout:
    """Return the layout of a step.

    Args:
        nodes: its work, in order.
        root: returns the tensor that has the bytes of a tensor.
        lasting: the tensors, by their roots, that are needed after the step.
        fixed: results whose places are those of variables.
        multiplies: whether a product is added to what is in its place by BLAS.
    """
    return _Planner(nodes, root, set(lasting), set(fixed), multiplies).plan()


class _Planner:
    def __init__(
        self,
        nodes: Sequence[Node],
        root: Callable[[Tensor], Tensor],
        lasting: set[Tensor],
        fixed: set[Tensor],
        multiplies: Callable[[Node], bool],
    ) -> None:
        self._nodes, self._root = nodes, root
        self._lasting, self._multiplies = lasting, multiplies
        self._layout = StepLayout()
        self._users: dict[Tensor, list[Node]] = {}
        self._computed = {t for node in nodes for t in node.outputs} - fixed
        for node in nodes:
            for tensor in node.inputs:
                self._users.setdefault(root(tensor), []).append(node)

    def plan(self) -> StepLayout:
        for tensor, users in self._users.items():
            self._cut(tensor, users)
        joins = [node for node in self._nodes if node.op.name == "concat"]
        for node in sorted(joins, key=lambda node: -len(node.inputs)):  # then parts of these
            self._join(node)
        for node in self._nodes:
            if node.op.writes:  # a product may be interrupted, and then no variable has changed
                break
            if node.op.name == "add":
                self._add(node)
        self._turn()
        return self._layout

    def _cut(self, whole: Tensor, users: Sequence[Node]) -> None:
        """Leave parts where they are if they are all that is needed of ``whole``."""
        if whole not in self._computed or whole in self._lasting:
            return
        parts: list[tuple[int, int, Node]] = []
        for node in users:
            part = _rows_of(node)
            if part is None or node.outputs[0] not in self._computed:
                return
            parts.append((*part, node))
        parts.sort(key=lambda part: part[:2])
        end = 0
        for begin, size, _ in parts:
            if begin < end:
                return
            end = begin + size
        if 2 * sum(size for _, size, _ in parts) < _bytes(whole):
            return  # it would be kept for a small part
        for begin, _, node in parts:
            self._layout.within[node.outputs[0]] = whole, begin
            self._layout.free.add(node)

    def _join(self, node: Node) -> None:
        """Compute the inputs of ``node`` where they are in its result."""
        layout, result = self._layout, node.outputs[0]
        if result not in self._computed or result in layout.within:
            return
        if prod(result.spec.static_shape[: node.attrs["axis"]]) != 1 or not result.spec.size:
            return
        parts = list(map(self._root, node.inputs))
        if any(part not in self._computed or not part.spec.size for part in parts):
            return
        offset, places = 0, []
        for part in parts:
            places.append(offset)
            offset += _bytes(part)
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

    def _add(self, node: Node) -> None:
        """Have a product added to the other term of the sum ``node``."""
        result = node.outputs[0]
        if len(node.inputs) != 2 or result not in self._computed:
            return
        for number in (1, 0):
            product, other = node.inputs[number], node.inputs[1 - number]
            if product.shape != result.shape or not self._is_free(self._root(product)):
                continue
            if other.shape == result.shape:
                root = self._root(other)
                if root is self._root(product) or not self._is_own(root):
                    continue
                if not self._same_place(root, result):
                    continue
            elif other.shape[-1:] != result.shape[-1:] or other.spec.size != result.shape[-1]:
                continue
            node_of_product = self._root(product).node
            self._layout.products[node] = node_of_product
            self._layout.free.add(node_of_product)
            return

    def _same_place(self, a: Tensor, b: Tensor) -> bool:
        """Give two values of one size the same place; return whether that is possible."""
        within = self._layout.within
        for one, other in ((b, a), (a, b)):
            if one not in within:
                within[one] = other, 0
                return True
        return False

    def _turn(self) -> None:
        """Find the factors that are transposed once."""
        readers: dict[Tensor, list[Node]] = {}
        for node in self._nodes:
            if node.op.writes:  # to a factor, perhaps
                break
            if (
                node.op.name == "matmul"
                and node.attrs["transpose_b"]
                and node.inputs[1].spec.rank == 2
                and prod(node.outputs[0].spec.static_shape[:-1]) <= _MOST_ROWS
                and self._multiplies(node)
            ):
                readers.setdefault(self._root(node.inputs[1]), []).append(node)
        for factor, products in readers.items():
            if len(products) >= _MANY and len({x.inputs[1].shape for x in products}) == 1:
                self._layout.turned.update(dict.fromkeys(products, factor))

    def _is_free(self, product: Tensor) -> bool:
        """Return whether ``product`` can be computed when it is added."""
        layout = self._layout
        return (
            product.node.op.name == "matmul"
            and self._is_own(product)
            and product not in layout.within
            and product.node not in layout.free
            and self._multiplies(product.node)
        )

    def _is_own(self, term: Tensor) -> bool:
        """Return whether ``term`` is a result that is only needed as a term of one sum."""
        return (
            term in self._computed
            and not self._layout.is_shared(term)
            and term not in self._lasting
            and len(self._users[term]) == 1
        )


def _rows_of(node: Node) -> tuple[int, int] | None:
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
    return begin * _item(node.outputs[0]), _bytes(node.outputs[0])


def _item(tensor: Tensor) -> int:
    return np.dtype(tensor.dtype).itemsize


def _bytes(tensor: Tensor) -> int:
    return tensor.spec.size * _item(tensor)
