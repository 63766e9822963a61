"""What is asked of a run: tensors and nodes within lists and dictionaries, one inside the other."""

from __future__ import annotations

from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor

Element = Tensor | Node


class Fetches:
    """The leaves of a structure of fetches, and the way back from their values to it.

    Args:
        item: a tensor, a node, the name of either, or lists, tuples and dictionaries of items.
        graph: whose tensors and nodes names mean.

    Attributes:
        leaves: the elements, from first to last.

    Raises:
        GraphError: a leaf is neither, or there is none of its name.
    """

    def __init__(self, item: Any, graph: Graph) -> None:
        self.leaves: list[Element] = []
        self._graph = graph
        self._structure = self._flatten(item)

    @property
    def tensors(self) -> list[Tensor]:
        return [leaf for leaf in self.leaves if isinstance(leaf, Tensor)]

    @property
    def nodes(self) -> list[Node]:
        """Those that are asked for by themselves."""
        return [leaf for leaf in self.leaves if isinstance(leaf, Node)]

    def results(self, values: list[Any]) -> Any:
        """The structure with the values of its tensors, in order, and None for nodes."""
        rest = iter(values)
        return _rebuild(
            self._structure,
            [next(rest) if isinstance(leaf, Tensor) else None for leaf in self.leaves],
        )

    def _flatten(self, item: Any) -> Any:
        """The structure of ``item``, with positions for leaves."""
        if isinstance(item, (list, tuple)):
            return _like(item, [self._flatten(part) for part in item])
        if isinstance(item, dict):
            return {key: self._flatten(part) for key, part in item.items()}
        self.leaves.append(_element(item, self._graph))
        return len(self.leaves) - 1


def _element(item: Any, graph: Graph) -> Element:
    if isinstance(item, (Tensor, Node)):
        return item
    if not isinstance(item, str):
        raise GraphError(f"cannot fetch {type(item).__name__} {item!r:.60}.")
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
    """``parts`` as a list, tuple or named tuple, whichever ``sequence`` is."""
    return type(sequence)(*parts) if hasattr(sequence, "_fields") else type(sequence)(parts)
