"""Fetches: the tensors and nodes requested from a run, in nested lists and dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.compiler.program import Program
from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.feeds import FeedDict, resolve_feeds

Array = np.ndarray[Any, Any]

Element = Tensor | Node


class Fetches:
    """The leaves of a nested structure of fetches, which can be rebuilt from their values.

    Args:
        item: a tensor, a node, the name of either, or lists, tuples and dictionaries of items.
        graph: the graph in which names are looked up.

    Attributes:
        leaves: the tensors and nodes in order.

    Raises:
        GraphError: a leaf is not a tensor or node, or its name is not in ``graph``.
    """

    def __init__(self, item: Any, graph: Graph) -> None:
        self.leaves: list[Element] = []
        self._graph = graph
        self._structure = self._flatten(item)

    @property
    def tensors(self) -> list[Tensor]:
        """The tensors among the leaves."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]

    @property
    def nodes(self) -> list[Node]:
        """The nodes among the leaves."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Node)]

    def results(self, values: list[Any]) -> Any:
        """Return the structure with ``values`` for its tensors, in order, and None for nodes."""
        rest = iter(values)
        return _rebuild(
            self._structure,
            [next(rest) if isinstance(leaf, Tensor) else None for leaf in self.leaves],
        )

    def _flatten(self, item: Any) -> Any:
        """Return the structure of ``item``, with positions in place of leaves."""
        if isinstance(item, (list, tuple)):
            return _like(item, [self._flatten(part) for part in item])
        if isinstance(item, dict):
            return {key: self._flatten(part) for key, part in item.items()}
        self.leaves.append(_element(item, self._graph))
        return len(self.leaves) - 1


def requested_program(
    fetches: Sequence[Tensor],
    targets: Sequence[Node],
    feed_dict: FeedDict,
    default: Graph,
    precision: str,
) -> tuple[Program, dict[str, Array]]:
    """Return the program that a run requests, and the arrays fed to it by tensor name.

    Args:
        default: the graph if there are no fetches and no targets.
        precision: "float32" or "mixed".

    Raises:
        GraphError: fetches and targets belong to several graphs.
        FeedError: a feed is unknown or does not fit.
    """
    graphs = [tensor.graph for tensor in fetches] + [node.graph for node in targets]
    graph = graphs[0] if graphs else default
    for other in graphs:
        if other is not graph:
            raise GraphError(
                "one run cannot fetch from two graphs.", hint="Use a run for each graph."
            )
    tensors, arrays = resolve_feeds(graph, feed_dict or {})
    return Program(graph, list(fetches), list(targets), tensors, precision), arrays


def _element(item: Any, graph: Graph) -> Element:
    if isinstance(item, (Tensor, Node)):
        return item
    if not isinstance(item, str):
        raise GraphError(
            f"cannot fetch {type(item).__name__} {item!r:.60}.",
            hint="Fetch tensors, nodes, or their names.",
        )
    if ":" in item:
        return graph.tensor(item)
    node = graph.node(item)
    return node.outputs[0] if len(node.outputs) == 1 else node


def _rebuild(structure: Any, results: list[Any]) -> Any:
    if isinstance(structure, (list, tuple)):
        return _like(structure, [_rebuild(part, results) for part in structure])
    if isinstance(structure, dict):
        return {key: _rebuild(part, results) for key, part in structure.items()}
    return results[structure]


def _like(sequence: Any, parts: list[Any]) -> Any:
    """Return ``parts`` as a list, tuple or named tuple, like ``sequence``."""
    return type(sequence)(*parts) if hasattr(sequence, "_fields") else type(sequence)(parts)
