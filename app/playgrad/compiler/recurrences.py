"""Finds the steps of recurrent layers in a graph.

A layer's steps are unrolled, forwards and backwards: each is a product of the state with the same
weights, and nodes that compute the next state from it. Such products are a *chain*: each needs the
one before it. Between two of them are the same nodes in every step, whatever the layer or the
user's program computes: gates, masks, dropout, other activations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.compiler.program import Program
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.recurrent.blockwise import BLOCKWISE

LEAST_STEPS = 4
"""The fewest products that are worth a kernel of their own."""
DTYPES = ("float32", "int32", "uint32", "bool")
"""Dtypes of tensors from outside, each element of which is a word."""


Read = tuple[str, int, int] | None
"""Of an input of a node: ("value", i, j) for output j of node number i of the same step,
("before", i, j) for that of the step before, None for a tensor from outside."""


@dataclass(frozen=True)
class Steps:
    """Consecutive steps that compute the same.

    Attributes:
        nodes: those of each step, in the same order; the first is the product of the chain.
        reads: where the inputs of each node come from, the same in every step.
    """

    nodes: Sequence[Sequence[Node]]
    reads: Sequence[Sequence[Read]]

    def part(self, first: int, last: int) -> Steps:
        """Return the steps from number ``first`` to before number ``last``."""
        return Steps(self.nodes[first:last], self.reads)

    def inputs(self, node: int, operand: int) -> list[Tensor]:
        """Return an input of a node in each step."""
        return [each[node].inputs[operand] for each in self.nodes]


def find_steps(program: Program, order: Sequence[Node], devices: Container[str]) -> list[Steps]:
    """Return the steps of each chain, longest first.

    Args:
        order: the nodes of the program, in topological order.
        devices: whose chains are of interest.
    """
    readers = defaultdict(list)
    for node in order:
        for tensor in dict.fromkeys(node.inputs):
            readers[tensor].append(node)
    fixed = set(program.targets) | {before for node in order for before in node.control_inputs}
    groups: dict[Any, list[Node]] = defaultdict(list)
    for node in order:
        if is_product(node) and node.device in devices:
            key = (node.inputs[1], repr(node.attrs), node.inputs[0].shape, node.device, node.task)
            groups[key].append(node)
    found = []
    for products in groups.values():
        if len(products) >= LEAST_STEPS:
            for chain, position in _chains(order, set(products)):
                if len(chain) >= LEAST_STEPS:
                    steps = _Matcher(chain, position, readers, fixed).steps()
                    if steps is not None:
                        found.append(steps)
    return sorted(found, key=lambda steps: -len(steps.nodes))


def is_product(node: Node) -> bool:
    """Return whether ``node`` multiplies rows by a matrix."""
    return (
        node.op.name == "matmul"
        and node.inputs[0].spec.rank == node.inputs[1].spec.rank == 2
        and not node.attrs["transpose_a"]
        and node.outputs[0].dtype == "float32"
    )


def _chains(order: Sequence[Node], products: set[Node]) -> list[tuple[list[Node], dict[Node, int]]]:
    """Return the chains among ``products``, and by chain the number of the last product that a
    node depends on."""
    chains: list[list[Node]] = []
    positions: list[dict[Node, int]] = []
    last: dict[Node, dict[int, int]] = {}  # by node: number of the last product, by chain
    for node in order:
        reached: dict[int, int] = {}
        for before in node.predecessors:
            for chain, number in last.get(before, {}).items():
                reached[chain] = max(number, reached.get(chain, -1))
        if node in products:
            extended = [
                chain for chain, number in reached.items() if number + 1 == len(chains[chain])
            ]
            if len(reached) == 1 and extended:
                (chain,) = extended
            else:
                chain = len(chains)
                chains.append([])
                positions.append({})
            chains[chain].append(node)
            reached[chain] = len(chains[chain]) - 1
        if reached:
            last[node] = reached
            for chain, number in reached.items():
                positions[chain][node] = number
    return list(zip(chains, positions, strict=True))


class _Matcher:
    """Compares the steps of a chain with one in the middle."""

    def __init__(
        self,
        chain: Sequence[Node],
        position: Mapping[Node, int],
        readers: Mapping[Tensor, Sequence[Node]],
        fixed: Iterable[Node],
    ) -> None:
        self.chain = chain
        self.position = position
        self.readers = readers
        self.fixed = set(fixed)
        self.middle = (len(chain) - 1) // 2

    def steps(self) -> Steps | None:
        """Return the longest run of equal steps around the middle; None if it is too short."""
        template = self._template()
        if template is None:
            return None
        places = {node: number for number, node in enumerate(template)}
        matched = [self._match(number, template, places) for number in range(len(self.chain))]
        before = matched[self.middle - 1]
        if before is None:
            return None
        origin = {node: number for number, node in enumerate(before)}
        first = last = self.middle
        while first > 0 and self._follows(
            matched[first - 1], matched[first], template, places, origin
        ):
            first -= 1
        while last + 1 < len(matched) and self._follows(
            matched[last], matched[last + 1], template, places, origin
        ):
            last += 1
        nodes = [each for each in matched[first : last + 1] if each is not None]
        if len(nodes) < LEAST_STEPS:
            return None

        def read(tensor: Tensor) -> Read:
            for kind, numbers in (("value", places), ("before", origin)):
                if tensor.node in numbers:
                    return kind, numbers[tensor.node], tensor.index
            return None

        return Steps(nodes, [[read(x) for x in node.inputs] for node in template])

    def _template(self) -> list[Node] | None:
        """Return the nodes of the step in the middle that the last product needs; None if one of
        them cannot be part of a kernel, or needs more than the step before."""
        needed: set[Node] = set()
        pending = [self.chain[-1]]
        while pending:
            for tensor in pending.pop().inputs:
                node = tensor.node
                if node in self.position and node not in needed:
                    needed.add(node)
                    pending.append(node)
        template = [node for node in needed if self.position[node] == self.middle]
        template.sort(key=lambda node: node.id)
        for node in template:
            if not self._is_simple(node):
                return None
            for tensor in node.inputs:
                if self.position.get(tensor.node, self.middle) < self.middle - 1:
                    return None
        return template

    def _is_simple(self, node: Node) -> bool:
        """Return whether ``node`` computes rows by rows, for nothing but its results."""
        product = self.chain[self.middle]
        rows = product.outputs[0].shape[0]
        if node in self.fixed or node.control_inputs or node.op.writes:
            return False
        if (node.device, node.task) != (product.device, product.task):
            return False
        if any(
            y.dtype != "float32" or y.spec.rank != 2 or y.shape[0] != rows for y in node.outputs
        ):
            return False
        if is_product(node):
            return node.inputs[0].node in self.position and node.inputs[1].node not in self.position
        inner = [x for x in node.inputs if x.node in self.position]
        if any(x.dtype not in DTYPES for x in node.inputs):
            return False
        if node.op.name == "slice":
            return len(inner) == 1 and node.attrs["begin"][0] == 0
        if node.op.name == "concat":
            shapes = {x.shape for x in node.inputs}
            return node.attrs["axis"] == 1 and len(shapes) == 1 and len(inner) == len(node.inputs)
        if node.op.name in BLOCKWISE:
            return True
        return node.op.elementwise is not None and len(node.outputs) == 1

    def _match(
        self, number: int, template: Sequence[Node], places: Mapping[Node, int]
    ) -> list[Node] | None:
        """Return the nodes of step ``number`` that compute the same as the template."""
        images = [self.chain[number]]
        used = set(images)
        for node in template[1:]:
            anchor, where = next((x, i) for i, x in enumerate(node.inputs) if x.node in places)
            tensor = images[places[anchor.node]].outputs[anchor.index]
            image = next(
                (
                    each
                    for each in self.readers.get(tensor, ())
                    if each not in used
                    and where < len(each.inputs)
                    and each.inputs[where] is tensor
                    and self._is_equal(node, each, number, images, places)
                ),
                None,
            )
            if image is None:
                return None
            images.append(image)
            used.add(image)
        return images

    def _is_equal(
        self,
        node: Node,
        other: Node,
        number: int,
        images: Sequence[Node],
        places: Mapping[Node, int],
    ) -> bool:
        """Return whether ``other`` computes in step ``number`` as ``node`` does in the template."""
        if (
            node.op is not other.op
            or repr(node.attrs) != repr(other.attrs)
            or len(node.inputs) != len(other.inputs)
            or (node.device, node.task) != (other.device, other.task)
            or other in self.fixed
            or other.control_inputs
            or [y.spec for y in node.outputs] != [y.spec for y in other.outputs]
        ):
            return False
        for x, y in zip(node.inputs, other.inputs, strict=True):
            if x.spec != y.spec:
                return False
            if x.node in places:
                if y is not images[places[x.node]].outputs[x.index]:
                    return False
            elif x.node not in self.position:
                if y.node in self.position and self.position[y.node] >= number:
                    return False
            elif y.node in self.position and self.position[y.node] >= number:
                return False
        return True

    def _follows(
        self,
        earlier: list[Node] | None,
        later: list[Node] | None,
        template: Sequence[Node],
        places: Mapping[Node, int],
        origin: Mapping[Node, int],
    ) -> bool:
        """Return whether ``later`` reads of ``earlier`` what the template reads of the step before
        it, and nothing else of the chain."""
        if earlier is None or later is None:
            return False
        for node, other in zip(template, later, strict=True):
            for x, y in zip(node.inputs, other.inputs, strict=True):
                if x.node in places:
                    continue
                if x.node in self.position:
                    if x.node not in origin or y is not earlier[origin[x.node]].outputs[x.index]:
                        return False
                elif y.node in self.position:
                    return False
        return True
