"""The work of a program that is done last: its writes to variables in place.

A GPU overwrites a variable's buffer, so a write cannot be undone. With several devices, one can
fail while another has written already. Therefore everything else comes first, on all devices: a run
that fails before changes no variable, and one that fails afterwards changes the variables of all
remaining devices, so that they always hold the values of one step.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from playgrad.devices.kinds import HOST, kind_of
from playgrad.graph.tensor import Node


def final_nodes(work: Sequence[Node], tasks: Mapping[Node, Hashable]) -> set[Node]:
    """Return the nodes that run after all others: in-place writes and all that follows them.

    Nodes that only these use in the same task are among them, unless another device needs them:
    separate, they would be one more segment. There are none in a program on one device.

    Args:
        work: the nodes of a program, in an order of execution.
        tasks: the task of each node that is part of a segment.
    """
    if len({node.device for node in work}) < 2:
        return set()
    final: set[Node] = set()
    users: dict[Node, list[Node]] = {}
    for node in work:
        if _writes_in_place(node) or not final.isdisjoint(node.predecessors):
            final.add(node)
        for before in node.predecessors:
            users.setdefault(before, []).append(node)
    for node in reversed(work):
        later = users.get(node, ())
        if (
            later
            and node in tasks
            and all(user in final and tasks.get(user) == tasks[node] for user in later)
        ):
            final.add(node)
    return final


def _writes_in_place(node: Node) -> bool:
    return node.op.writes > 0 and kind_of(node.device or HOST).updates_in_place
