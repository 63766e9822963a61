"""Groups of nodes that can run together: of one device, task and level, cut where waiting costs.

A segment starts when all that it receives has arrived, and sends its results when it is complete.
Work that needs something late is therefore kept apart from work that does not, and work that
another device waits for from work that it does not wait for; but only where the estimated time
that this saves is worth another segment.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.compiler.work_estimates import estimated_seconds
from playgrad.graph.tensor import Node

WORTH = 1e-3
"""Seconds that a segment more must save. It costs about a tenth of that on a processor."""


@dataclass(eq=False)
class Group:
    """Nodes of one group.

    Attributes:
        ready: estimated seconds after which all that the group needs has arrived.
        seconds: estimated duration.
    """

    nodes: list[Node] = field(default_factory=list)
    ready: float = 0.0
    seconds: float = 0.0


@dataclass
class _Part:
    """Nodes that wait for the same arrivals, and are needed for the same departures.

    Attributes:
        arrivals: bits of the nodes of other groups that it directly or indirectly waits for.
        departures: bits of the nodes of the group that need it and that another device waits for.
        sends: another device waits for one of its nodes.
    """

    arrivals: int
    departures: int
    sends: bool = False
    nodes: list[Node] = field(default_factory=list)
    ready: float = 0.0
    seconds: float = 0.0


def group_nodes(
    work: Sequence[Node],
    tasks: Mapping[Node, Hashable],
    levels: Mapping[Node, int],
    cut: Collection[Node],
) -> dict[Node, Group]:
    """Return the group of each node of ``work``; a node without a task is a group by itself.

    Args:
        tasks: the device, the task scope and more; nodes of different tasks are never in a group.
        levels: as nodes of a group have the same, groups cannot wait for each other in a circle.
        cut: nodes whose groups may be cut.
    """
    arrivals, ready = _arrivals(work, tasks, levels)
    departures, awaited = _departures(work, tasks, levels)
    rows: dict[Hashable, dict[tuple[int, int], _Part]] = {}
    group_of: dict[Node, Group] = {}
    for node in work:
        seconds = estimated_seconds(node)
        if node not in tasks:
            group_of[node] = Group([node], ready[node], seconds)
            continue
        key = (arrivals[node], departures[node]) if node in cut else (0, 0)
        row = rows.setdefault((tasks[node], levels[node]), {})
        part = row.setdefault(key, _Part(*key))
        part.nodes.append(node)
        part.sends = part.sends or node in awaited
        part.ready = max(part.ready, ready[node])
        part.seconds += seconds
    for row in rows.values():
        for group in _merged(list(row.values())):
            group_of.update((node, group) for node in group.nodes)
    return group_of


def _arrivals(
    work: Sequence[Node], tasks: Mapping[Node, Hashable], levels: Mapping[Node, int]
) -> tuple[dict[Node, int], dict[Node, float]]:
    """Return, for each node, the bits of its arrivals from other groups, and when the last of
    that arrives, in estimated seconds."""
    arrivals: dict[Node, int] = {}
    ready: dict[Node, float] = {}
    end: dict[Node, float] = {}
    bit_of: dict[Node, int] = {}
    users: dict[Node, list[Node]] = {}
    for node in work:
        bits, start, when = 0, 0.0, 0.0
        for before in node.predecessors:
            if before not in end:
                continue
            users.setdefault(before, []).append(node)
            when = max(when, end[before])
            if (tasks.get(before), levels[before]) == (tasks.get(node), levels[node]):
                bits |= arrivals[before]
                start = max(start, ready[before])
            else:
                bits |= bit_of.setdefault(before, 1 << len(bit_of))
                start = max(start, end[before])
        arrivals[node], ready[node] = bits, start
        end[node] = when + estimated_seconds(node)
    return arrivals, ready


def _departures(
    work: Sequence[Node], tasks: Mapping[Node, Hashable], levels: Mapping[Node, int]
) -> tuple[dict[Node, int], set[Node]]:
    """Return, for each node, the bits of the nodes of its group that need it and that another
    device waits for; and these nodes."""
    awaited = {before for n in work for before in n.predecessors if before.device != n.device}
    departures = dict.fromkeys(work, 0)
    count = 0
    for node in reversed(work):
        if node in awaited:
            departures[node] |= 1 << count
            count += 1
        for before in node.predecessors:
            key = tasks.get(before), levels.get(before)
            if before in departures and key == (tasks.get(node), levels[node]):
                departures[before] |= departures[node]
    return departures, awaited


def _merged(parts: list[_Part]) -> list[Group]:
    """Merge parts in the order of their arrivals, except where that would cost time."""
    # A part has all arrivals of the parts that it waits for, and they have all of its departures,
    # so this is an order of execution. Among equals, the shortest is first.
    parts.sort(key=lambda p: (-p.departures.bit_count(), p.seconds))
    parts.sort(key=lambda p: (p.ready, p.arrivals.bit_count()))
    groups: list[Group] = []
    sends = False
    for part in parts:
        group = groups[-1] if groups else None
        if group is not None:
            waits = part.ready - group.ready
            delay = waits + part.seconds if sends else min(waits, group.seconds)
            if delay >= WORTH:
                group = None
        if group is None:
            group, sends = Group(), False
            groups.append(group)
        group.nodes += part.nodes
        group.ready = max(group.ready, part.ready)
        group.seconds += part.seconds
        sends = sends or part.sends
    return groups
