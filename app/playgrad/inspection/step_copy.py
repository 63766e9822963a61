"""A copy of a training step that computes the same numbers and changes nothing.

Variables become placeholders, so that the caller decides their values; updates become the values
that they would write. The batch is cut off where it is taken from the data set, which therefore
need not be copied. Autodiff can add nodes to the copy; the program's graph stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from playgrad.dtypes import dtype
from playgrad.errors import GraphError
from playgrad.graph.copying import CopyMap
from playgrad.graph.graph import at_top
from playgrad.graph.opdef import OpDef, lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors
from playgrad.ops.state import holds_data, is_variable, value_of

_SEED = re.compile(r"(^|/)gradients(_\d+)?/ones_like(_\d+)?$")
"""The name of the node at which the program's own differentiation of a loss begins."""


class StepCopy:
    """The copy of everything that ``targets`` need.

    Attributes:
        graph: of the copy.
        sources: the tensors whose values have to be fed, by the placeholders of the copy:
            variables, placeholders, and the arrays of the batch.
        batch: the part of ``sources`` that holds the arrays of the batch.
        losses: the tensors of the program that it differentiates.
    """

    def __init__(self, targets: Sequence[Node]) -> None:
        needed = sorted(ancestors(targets), key=attrgetter("id"))
        self.graph = targets[0].graph.empty()
        self.sources: dict[Tensor, Tensor] = {}
        self.batch: list[Tensor] = []
        self._copies = CopyMap(self.graph)
        self._nodes = {node.name: node for node in needed}
        self._writes: dict[str, Tensor] = {}
        with at_top(self.graph):
            for node in needed:
                self._take(node)
        seeds = [n.inputs[0] for n in needed if n.op.name == "ones_like" and _SEED.search(n.name)]
        self.losses = [t for t in dict.fromkeys(seeds) if not t.shape and dtype(t.dtype).floating]

    def node(self, name: str) -> Node | None:
        """Return the node of the program with this name, if the step has it."""
        return self._nodes.get(name)

    @property
    def originals(self) -> list[Node]:
        """The nodes of the program that were copied, in topological order."""
        return list(self._nodes.values())

    def __getitem__(self, original: Tensor) -> Tensor:
        return self._copies[original]

    def copy_of(self, original: Node) -> Node:
        """Return the copy of a node with outputs."""
        return self._copies[original.outputs[0]].node

    def feeds_of(self, tensors: Sequence[Tensor]) -> dict[Tensor, Tensor]:
        """Return the part of ``sources`` that tensors of the copy depend on."""
        nodes = ancestors([tensor.node for tensor in tensors])
        return {fed: source for fed, source in self.sources.items() if fed.node in nodes}

    def _take(self, node: Node) -> None:
        if is_variable(node) or node.op.name == "placeholder" or _takes_batch(node):
            self._cut(node)
        elif node.op.name == "read_variable":
            name = node.attrs["variable"]
            before = ancestors(node.control_inputs)
            written = self._writes.get(name)
            if written is None or written.node not in before:
                written = node.graph.node(name).outputs[0]
            self._copies.replace(node, [self._copies[written]], self._copies.node(written.node))
        elif node.op.writes:
            attrs = {key: value for key, value in node.attrs.items() if key != "variables"}
            self._placed(self._copies.copy(node, op=_without_writes(node.op), attrs=attrs))
            for name, tensor in zip(node.attrs["variables"], node.outputs, strict=False):
                self._writes[name] = tensor
        else:
            self._placed(self._copies.copy(node))

    def _placed(self, copy: Node) -> None:
        """Leave the place and the time of a node to the session of the copy."""
        copy.device = copy.task = None

    def _cut(self, node: Node) -> None:
        outputs = []
        for tensor in node.outputs:
            name = node.name if len(node.outputs) == 1 else f"{node.name}_{tensor.index}"
            attrs = {"shape": list(tensor.shape), "dtype": tensor.dtype}
            copy = self.graph.copy(node, [], op=lookup("placeholder"), attrs=attrs, name=name)
            self._placed(copy)
            outputs.append(copy.output)
            self.sources[copy.output] = tensor
            if _takes_batch(node):
                self.batch.append(tensor)
        self._copies.replace(node, outputs, outputs[0].node)


def _takes_batch(node: Node) -> bool:
    """Return whether a node takes samples from a data set."""
    return any(is_variable(t.node) and holds_data(t.node) for t in node.inputs)


def _without_writes(op: OpDef) -> OpDef:
    """Return an op that computes what ``op`` writes."""
    try:
        return value_of(op)
    except GraphError:
        return replace(op, writes=False)
