"""Fetches: the tensors and nodes requested from a run, in nested lists and dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any, NamedTuple

import numpy as np

from playgrad.compiler.program import Program
from playgrad.errors import FeedError, GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.feeds import FeedDict, fed_array, fed_tensor, resolve_feeds

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
    def is_flat_list(self) -> bool:
        """Whether the item is a list of leaves."""
        return type(self._structure) is list and self._structure == list(range(len(self.leaves)))

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
    graph = _common_graph(fetches, targets, default)
    tensors, arrays = resolve_feeds(graph, feed_dict or {})
    program = Program(graph, list(fetches), list(targets), tensors, precision=precision)
    return program, arrays


class RepeatedProgram:
    """A program that is requested again and again, with other arrays.

    Args:
        item, default: as for `Fetches`.
        precision: as for `requested_program`.
        feed_list: the tensors that are fed, or their names.

    Attributes:
        fetches: the fetches.
        program: the program.

    Raises:
        GraphError: there is nothing to fetch, or it belongs to several graphs.
        FeedError: a feed is unknown, or in the list twice.
    """

    def __init__(self, item: Any, feed_list: Sequence[Any], default: Graph, precision: str) -> None:
        self.fetches = Fetches(item, default)
        if not self.fetches.leaves:
            raise GraphError("there is nothing to fetch.", hint="Name a tensor or a node.")
        tensors, nodes = self.fetches.tensors, self.fetches.nodes
        graph = _common_graph(tensors, nodes, default)
        self._fed = [fed_tensor(graph, key) for key in feed_list]
        feeds = {tensor.name: tensor for tensor in self._fed}
        if len(feeds) < len(self._fed):
            raise FeedError("a tensor is in the list of feeds twice.")
        self.program = Program(graph, tensors, nodes, feeds, precision=precision)

    def arrays(self, values: Sequence[Any]) -> dict[str, Array]:
        """Return the arrays of the feeds by tensor name.

        Raises:
            FeedError: their number is wrong, or a value does not fit its tensor.
        """
        if len(values) != len(self._fed):
            raise FeedError(f"{len(self._fed)} values must be fed, got {len(values)}.")
        pairs = zip(self.program.feeds.items(), values, strict=True)
        return {name: fed_array(tensor, value) for (name, tensor), value in pairs}


class UnfedRun(NamedTuple):
    """A flat list of fetches, with the program that computes them without feeds.

    A loop requests the same values again and again, in which case nothing is looked up.
    """

    fetches: Fetches
    program: Program

    def is_requested_by(self, item: Any, precision: str) -> bool:
        """Return whether ``item`` is a list of the same tensors and nodes, in this precision."""
        leaves = self.fetches.leaves
        return (
            type(item) is list
            and len(item) == len(leaves)
            and all(map(is_, item, leaves))
            and precision == self.program.precision
        )


def _common_graph(fetches: Sequence[Tensor], targets: Sequence[Node], default: Graph) -> Graph:
    """Return the graph of the fetches and targets, or ``default`` if there are none.

    Raises:
        GraphError: they belong to several graphs.
    """
    graphs = [tensor.graph for tensor in fetches] + [node.graph for node in targets]
    graph = graphs[0] if graphs else default
    for other in graphs:
        if other is not graph:
            raise GraphError(
                "one run cannot fetch from two graphs.", hint="Use a run for each graph."
            )
    return graph


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
