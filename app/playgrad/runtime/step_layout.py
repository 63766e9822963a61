"""Values of a compiled step that lie within others: so that cutting, joining and adding to products
moves nothing.

`playgrad.runtime.layout_of_parts`, `layout_of_products` and `layout_in_place` beside it say which.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from playgrad.graph.tensor import Node, Tensor


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
        squashing: the cells that leave their gates squashed, and the gradients of these, with the
            hidden states that the gradients read as well (ops/recurrent/squashed_gates.py).
    """

    within: dict[Tensor, tuple[Tensor, int]] = field(default_factory=dict)
    free: set[Node] = field(default_factory=set)
    products: dict[Node, Node] = field(default_factory=dict)
    joined: set[Tensor] = field(default_factory=set)
    turned: dict[Node, Tensor] = field(default_factory=dict)
    squashing: dict[Node, Tensor] = field(default_factory=dict)

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
        product, hidden = self.products.get(node), self.hidden(node)
        others = () if product is None else product.inputs
        return (*node.inputs, *others, *hidden)

    def hidden(self, node: Node) -> Sequence[Tensor]:
        """Return the hidden state that ``node`` reads as another input."""
        hidden = self.squashing.get(node)
        return () if hidden is None or hidden.node is node else (hidden,)


class StepValues:
    """The values of a step, and who needs them.

    Args:
        nodes: the work of the step, in order.
        root: returns the tensor that has the bytes of a tensor.
        lasting: the tensors, by their roots, that are needed after the step.
        fixed: results whose places are those of variables.

    Attributes:
        users: the nodes that read a value, by its root.
        computed: the values that are results and have no place yet.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        root: Callable[[Tensor], Tensor],
        lasting: Collection[Tensor],
        fixed: Collection[Tensor],
    ) -> None:
        self.nodes, self.root, self.lasting = nodes, root, set(lasting)
        self.users: dict[Tensor, list[Node]] = {}
        self.computed = {t for node in nodes for t in node.outputs} - set(fixed)
        for node in nodes:
            for tensor in node.inputs:
                self.users.setdefault(root(tensor), []).append(node)


def item_of(tensor: Tensor) -> int:
    """Return the bytes of an element."""
    return np.dtype(tensor.dtype).itemsize


def bytes_of(tensor: Tensor) -> int:
    """Return the bytes of a tensor of a known shape."""
    return tensor.spec.size * item_of(tensor)
