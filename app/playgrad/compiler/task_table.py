"""The tasks of a compiled program, and which tasks each has to wait for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from playgrad.compiler.segments import Segment
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable


@dataclass(frozen=True)
class TaskEntry:
    """A segment, or a node that a lone processor runs by itself.

    Attributes:
        after: positions of the tasks that must end before.
        previous: the one of ``after`` that is the device's previous segment; None for its first.
    """

    nodes: Sequence[Node]
    segment: Segment | None
    after: tuple[int, ...]
    previous: int | None = None

    @property
    def device(self) -> str:
        return self.nodes[0].device or "cpu:0"

    @property
    def is_final(self) -> bool:
        return self.segment is not None and self.segment.final


def task_table(order: Sequence[Node], segments: Mapping[str, Sequence[Segment]]) -> list[TaskEntry]:
    """Return the tasks of a program, in an order that respects all dependencies.

    Args:
        order: the nodes of the program; constants, variables and placeholders outside of segments
            are values, not tasks.
        segments: by device; each device runs its segments in order.
    """
    segment_of = {node: each for row in segments.values() for each in row for node in each.nodes}
    place_of: dict[int, int] = {}  # by the identity of the segment
    position: dict[Node, int] = {}
    parts: list[tuple[Sequence[Node], Segment | None]] = []
    for node in order:
        segment = segment_of.get(node)
        if segment is not None:
            position[node] = place_of.setdefault(id(segment), len(parts))
            if position[node] == len(parts):
                parts.append((segment.nodes, segment))
        elif not is_variable(node) and node.op.name not in ("constant", "placeholder"):
            position[node] = len(parts)
            parts.append(([node], None))
    table = []
    for nodes, segment in parts:
        after = {position[b] for n in nodes for b in n.predecessors if b in position}
        previous = None
        if segment is not None:
            row = [place_of[id(each)] for each in segments[segment.device]]
            after -= set(row)  # implied by the previous one
            if segment.index > 0:
                previous = row[segment.index - 1]
                after.add(previous)
        table.append(TaskEntry(nodes, segment, tuple(sorted(after)), previous))
    return _with_barrier(table)


def _with_barrier(table: list[TaskEntry]) -> list[TaskEntry]:
    """Return ``table`` with final segments that wait for all tasks that do not follow one."""
    final = {number for number, entry in enumerate(table) if entry.is_final}
    if not final:
        return table
    followers: list[list[int]] = [[] for _ in table]
    for number, entry in enumerate(table):
        for before in entry.after:
            followers[before].append(number)
    late: set[int] = set()
    pending = list(final)
    while pending:
        number = pending.pop()
        if number not in late:
            late.add(number)
            pending += followers[number]
    last = {n for n in range(len(table)) if n not in late and late.issuperset(followers[n])}
    result = []
    for number, entry in enumerate(table):
        if number in final:
            elsewhere = {before for before in last if table[before].device != entry.device}
            entry = replace(entry, after=tuple(sorted({*entry.after, *elsewhere})))
        result.append(entry)
    return result
