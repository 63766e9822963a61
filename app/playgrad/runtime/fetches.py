"""What is asked of a run: tensors and nodes within lists and dictionaries, one inside the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playgrad.graph.tensor import Node, Tensor

Element = Tensor | Node


class Fetches:
    """The leaves of a structure of fetches, and the way back from their values to it.

    Args:
        item: an element, or lists, tuples and dictionaries of items.
        element: what a leaf means.

    Attributes:
        leaves: the elements, from first to last.
    """

    def __init__(self, item: Any, element: Callable[[Any], Element]) -> None:
        self.leaves: list[Element] = []
        self._element = element
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
        self.leaves.append(self._element(item))
        return len(self.leaves) - 1


def _rebuild(structure: Any, results: list[Any]) -> Any:
    if isinstance(structure, (list, tuple)):
        return _like(structure, [_rebuild(part, results) for part in structure])
    if isinstance(structure, dict):
        return {key: _rebuild(part, results) for key, part in structure.items()}
    return results[structure]


def _like(sequence: Any, parts: list[Any]) -> Any:
    """``parts`` as a list, tuple or named tuple, whichever ``sequence`` is."""
    return type(sequence)(*parts) if hasattr(sequence, "_fields") else type(sequence)(parts)
