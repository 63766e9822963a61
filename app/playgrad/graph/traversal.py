"""Graph traversal: ancestors and topological order."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from playgrad.errors import GraphError
from playgrad.graph.tensor import Node


def ancestors(targets: Iterable[Node], *, control: bool = True) -> set[Node]:
    """Return ``targets`` and all nodes that must run before them.

    Args:
        control: whether to follow control edges too.
    """
    seen: set[Node] = set()
    pending = list(targets)
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending.extend(
                node.predecessors if control else (tensor.node for tensor in node.inputs)
            )
    return seen


def topological(
    nodes: Iterable[Node], predecessors: Callable[[Node], Iterable[Node]] | None = None
) -> list[Node]:
    """Return ``nodes`` in topological order; ties are ordered by id.

    Args:
        predecessors: maps a node to the nodes before it; None for ``Node.predecessors``.

    Raises:
        GraphError: there is a cycle.
    """
    before = predecessors or (lambda node: node.predecessors)
    chosen = set(nodes)
    waiting = {node: {other for other in before(node) if other in chosen} for node in chosen}
    followers: dict[Node, list[Node]] = {node: [] for node in chosen}
    for node, others in waiting.items():
        for other in others:
            followers[other].append(node)
    missing = {node: len(others) for node, others in waiting.items()}
    # Nodes that are computed at once may come from several graphs, with the same ids.
    ready = [(n.id, n.name, id(n), n) for n, number in missing.items() if number == 0]
    heapq.heapify(ready)
    order: list[Node] = []
    while ready:
        node = heapq.heappop(ready)[-1]
        order.append(node)
        for follower in followers[node]:
            missing[follower] -= 1
            if missing[follower] == 0:
                heapq.heappush(ready, (follower.id, follower.name, id(follower), follower))
    if len(order) != len(chosen):
        stuck = sorted(node.name for node in chosen - set(order))[:5]
        raise GraphError(f"the graph has a cycle through {', '.join(stuck)}.")
    return order
