"""A graph on its way through the compiler, and the tool that passes rewrite it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Protocol

from playgrad.graph.copying import CopyMap
from playgrad.graph.graph import FLOAT32, Graph
from playgrad.graph.opdef import Array
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors

Key = tuple[
    Graph, str, tuple[Tensor, ...], tuple[Node, ...], tuple[tuple[str, tuple[int, ...]], ...]
]


class FeedCheck(Protocol):
    """A check of the feeds, on the host before a run."""

    def run(self, arrays: Mapping[str, Array]) -> None:
        """Check the values of feeds, by the names that they are fed under."""


@dataclass
class Program:
    """A graph with its fetches, targets and feeds.

    Attributes:
        fetches: tensors whose values are returned, in order.
        targets: nodes that are run for their effect.
        feeds: fed tensors, by the name that the caller feeds them under.
        precision: "float32", or "mixed" to round the operands of products to float16.
        fused: the names of the nodes that became part of another one, in order, by its name.
        shared: the name of the node that stands for an equal one, by the name of that one.
        checks: what is checked on the host before a run (compiler/guard.py).
    """

    graph: Graph
    fetches: list[Tensor] = field(default_factory=list)
    targets: list[Node] = field(default_factory=list)
    feeds: dict[str, Tensor] = field(default_factory=dict)
    precision: str = FLOAT32
    fused: dict[str, tuple[str, ...]] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    checks: tuple[FeedCheck, ...] = ()

    @property
    def roots(self) -> list[Node]:
        return [tensor.node for tensor in self.fetches] + self.targets

    def key(self, shapes: Mapping[str, tuple[int, ...]]) -> Key:
        """Return a key among the programs of its session, for feeds of ``shapes``."""
        fed = tuple(sorted(shapes.items()))
        return self.graph, self.precision, tuple(self.fetches), tuple(self.targets), fed

    def order(self) -> list[Node]:
        """Return the nodes that the results need, in topological order."""
        return sorted(ancestors(self.roots), key=attrgetter("id"))

    def consumers(self) -> dict[Tensor, list[Node]]:
        """Return the nodes that read each tensor, once for each input."""
        readers: dict[Tensor, list[Node]] = {}
        for node in self.graph.nodes:
            for tensor in node.inputs:
                readers.setdefault(tensor, []).append(node)
        return readers


Pass = Callable[[Program], Program]


class Rewriter(CopyMap):
    """Builds the next graph of a program, node by node.

    A pass walks ``program.order()`` and for each node either copies it, changed or not, or calls
    ``replace`` with the new tensors that replace its outputs. Names, sources and control edges
    follow.
    """

    def __init__(self, program: Program) -> None:
        super().__init__(program.graph.empty())
        self.program = program

    def finish(self) -> Program:
        """The program over the new graph."""
        targets = (self.nodes[node] for node in self.program.targets)
        return Program(
            self.graph,
            [self[tensor] for tensor in self.program.fetches],
            list(dict.fromkeys(node for node in targets if node is not None)),
            {
                name: self[tensor]
                for name, tensor in self.program.feeds.items()
                if tensor in self.tensors
            },
            self.program.precision,
            dict(self.program.fused),
            dict(self.program.shared),
            self.program.checks,
        )
