"""Products that BLAS adds to the other term of a sum, and factors that are transposed once.

- A product is added to the other term of a sum, where that is, or to rows that are all equal to it.
- BLAS copies a factor before it multiplies, and a transposed one takes longer. What many products
  of a step have as their transposed factor is transposed once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.step_layout import StepLayout, StepValues

_MANY, _MOST_ROWS = 4, 256
"""Products from which a factor is transposed once, and the most rows of each: with more, copying
the factor takes little of its time."""


def lay_out_products(
    values: StepValues, layout: StepLayout, multiplies: Callable[[Node], bool]
) -> None:
    """Add to ``layout`` the products that are added, and the factors that are transposed.

    Args:
        multiplies: whether a product is one call of BLAS.
    """
    _ProductLayout(values, layout, multiplies).lay_out()


class _ProductLayout:
    def __init__(
        self, values: StepValues, layout: StepLayout, multiplies: Callable[[Node], bool]
    ) -> None:
        self._values, self._layout, self._multiplies = values, layout, multiplies

    def lay_out(self) -> None:
        for node in self._values.nodes:
            if node.op.writes:  # a product may be interrupted, and then no variable has changed
                break
            if node.op.name == "add":
                self._add(node)
        self._turn()

    def _add(self, node: Node) -> None:
        """Have a product added to the other term of the sum ``node``."""
        result = node.outputs[0]
        if len(node.inputs) != 2 or result not in self._values.computed:
            return
        for number in (1, 0):
            product, other = node.inputs[number], node.inputs[1 - number]
            if product.shape != result.shape or not self._is_free(self._values.root(product)):
                continue
            if other.shape == result.shape:
                root = self._values.root(other)
                if root is self._values.root(product) or not self._is_own(root):
                    continue
                if not self._same_place(root, result):
                    continue
            elif other.shape[-1:] != result.shape[-1:] or other.spec.size != result.shape[-1]:
                continue
            node_of_product = self._values.root(product).node
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
        for node in self._values.nodes:
            if node.op.writes:  # to a factor, perhaps
                break
            if (
                node.op.name == "matmul"
                and node.attrs["transpose_b"]
                and node.inputs[1].spec.rank == 2
                and prod(node.outputs[0].spec.static_shape[:-1]) <= _MOST_ROWS
                and self._multiplies(node)
            ):
                readers.setdefault(self._values.root(node.inputs[1]), []).append(node)
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
            term in self._values.computed
            and not self._layout.is_shared(term)
            and term not in self._values.lasting
            and len(self._values.users[term]) == 1
        )
