"""A cache of the steps that a model has built: it keeps the most recently used ones.

Data of another shape, such as sequences of another length, has a step of its own. The operations of
a discarded step are removed from the graph, so that it does not grow with every shape.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import ancestors
from playgrad.networks.shared_session import shared_session
from playgrad.nn.layer_calls import remove_nodes
from playgrad.ops.state import RANDOM_ADVANCE, Variable, is_variable

MOST_STEPS = 16
"""The most steps of a kind that a model keeps."""
K = TypeVar("K", bound=Hashable)


class BuiltStep(Protocol):
    @property
    def bookkeeping(self) -> tuple[Variable, ...]:
        """The variables whose values matter only while steps are running."""
        ...


S = TypeVar("S", bound=BuiltStep)


class StepCache(dict[K, S], Generic[K, S]):
    """The steps of a kind in a graph, in the order in which they were used last."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph
        self._nodes: dict[K, list[Node]] = {}

    def built(self, key: K, build: Callable[[], S]) -> S:
        """Return the step for ``key``, built if it is not kept."""
        step = self.pop(key, None)
        if step is None:
            before = len(self._graph.nodes)
            step = build()
            self._nodes[key] = self._graph.nodes[before:]
        self[key] = step
        return step

    def drop_oldest(self) -> None:
        """Give up the steps that were used longest ago, if there are too many."""
        while len(self) > MOST_STEPS:
            oldest = next(iter(self))
            of_oldest = {oldest}  # tensors in keys have hashes, but cannot be compared
            gone = [key for key in self if of_oldest & {key, getattr(key, "follows", None)}]
            nodes = {node for key in gone for node in self._nodes.pop(key)}
            self._remove(nodes, [v for key in gone for v in self.pop(key).bookkeeping])

    def _remove(self, own: set[Node], bookkeeping: Sequence[Variable]) -> None:
        """Remove nodes of steps, except what others use and the state of the optimizer."""
        graph, notes = self._graph, {variable.node for variable in bookkeeping}
        kept = {
            node
            for node in graph.nodes
            if node not in own
            or (is_variable(node) and node not in notes)
            or node.name == RANDOM_ADVANCE
        }
        kept = ancestors(kept)
        kept |= ancestors(
            graph.tensor(node.attrs["initializer"]).node for node in kept if is_variable(node)
        )
        unused = own - kept
        session = shared_session(graph).session
        if session is not None:
            session.forget([variable for variable in bookkeeping if variable.node in unused])
        remove_nodes(graph, unused)
