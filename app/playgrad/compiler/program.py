"""A graph on its way through the passes, and the tool with which a pass rewrites it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node, Tensor, specs_of
from playgrad.graph.traversal import ancestors

Key = tuple[Graph, tuple[Tensor, ...], tuple[Node, ...], tuple[tuple[str, tuple[int, ...]], ...]]


@dataclass
class Program:
    """A graph with what is wanted of it.

    Attributes:
        fetches: tensors whose values are returned, in order.
        targets: nodes that are run for their effect.
        feeds: placeholder tensors by the name under which the caller feeds them.
    """

    graph: Graph
    fetches: list[Tensor] = field(default_factory=list)
    targets: list[Node] = field(default_factory=list)
    feeds: dict[str, Tensor] = field(default_factory=dict)

    @property
    def roots(self) -> list[Node]:
        return [tensor.node for tensor in self.fetches] + self.targets

    def key(self, shapes: Mapping[str, tuple[int, ...]]) -> Key:
        """What tells it from other programs of its session when values of ``shapes`` are fed."""
        fed = tuple(sorted(shapes.items()))
        return self.graph, tuple(self.fetches), tuple(self.targets), fed

    def order(self) -> list[Node]:
        """The nodes that the results need, each after those that it needs."""
        # A node only refers to nodes made before it.
        return sorted(ancestors(self.roots), key=attrgetter("id"))

    def consumers(self) -> dict[Tensor, list[Node]]:
        """For each tensor the nodes that read it, once for each time they do."""
        readers: dict[Tensor, list[Node]] = {}
        for node in self.graph.nodes:
            for tensor in node.inputs:
                readers.setdefault(tensor, []).append(node)
        return readers


Pass = Callable[[Program], Program]


class Rewriter:
    """Builds the next graph of a program, node by node.

    A pass walks ``program.order()`` and for each node either copies it, changed or not, or says
    which new tensors take the place of its outputs. Names, sources and control edges follow.
    """

    def __init__(self, program: Program) -> None:
        self.old = program
        self.graph = Graph(program.graph.seed)
        self.tensors: dict[Tensor, Tensor] = {}
        self.nodes: dict[Node, Node | None] = {}

    def copy(
        self,
        node: Node,
        *,
        op: OpDef | None = None,
        inputs: Sequence[Tensor] | None = None,
        attrs: Mapping[str, Any] | None = None,
        device: str | None = None,
        task: str | None = None,
        controls: Sequence[Node] = (),
    ) -> Node:
        """Add ``node`` to the new graph under its own name, with the parts given changed."""
        if inputs is None:
            inputs = [self.tensors[tensor] for tensor in node.inputs]
        specs = None
        if op is None and attrs is None and specs_of(inputs) == specs_of(node.inputs):
            specs = specs_of(node.outputs)
        new = self.graph.copy(
            node,
            op or node.op,
            inputs,
            node.attrs if attrs is None else dict(attrs),
            control_inputs=self._joined(node, controls),
            device=device,
            task=task,
            specs=specs,
        )
        self.replace(node, new.outputs, new)
        return new

    def _joined(self, node: Node, controls: Sequence[Node]) -> Sequence[Node]:
        """The control inputs of ``node`` in the new graph, and ``controls``."""
        if not node.control_inputs and not controls:
            return ()
        return list(dict.fromkeys([*self.controls(node), *controls]))

    def add(
        self,
        op: OpDef,
        inputs: Sequence[Tensor],
        attrs: Mapping[str, Any],
        *,
        like: Node,
        name: str,
        device: str | None = None,
        task: str | None = None,
        controls: Sequence[Node] = (),
    ) -> Node:
        """Add a node that stands for (part of) ``like``."""
        return self.graph.copy(
            like,
            op,
            inputs,
            dict(attrs),
            name=name,
            control_inputs=controls,
            device=device,
            task=task,
        )

    def replace(self, node: Node, outputs: Sequence[Tensor], by: Node | None) -> None:
        """Let ``outputs`` of the new graph stand for those of ``node``, and ``by`` for its place
        in the order (None: nothing has to wait for it)."""
        self.nodes[node] = by
        self.tensors.update(zip(node.outputs, outputs, strict=True))

    def controls(self, node: Node) -> list[Node]:
        """The control inputs of ``node`` in the new graph."""
        mapped = (self.nodes.get(before) for before in node.control_inputs)
        return list(dict.fromkeys(before for before in mapped if before is not None))

    def finish(self) -> Program:
        """The program over the new graph."""
        return Program(
            self.graph,
            [self.tensors[tensor] for tensor in self.old.fetches],
            list(
                dict.fromkeys(
                    new
                    for new in (self.nodes[node] for node in self.old.targets)
                    if new is not None
                )
            ),
            {
                name: self.tensors[tensor]
                for name, tensor in self.old.feeds.items()
                if tensor in self.tensors
            },
        )
