"""Cuts a placed program into segments: work of one device that waits for no other."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.compiler.final_work import final_nodes
from playgrad.compiler.segment_groups import WORTH, Group, group_nodes
from playgrad.devices.kinds import kind_of
from playgrad.graph.tensor import Node, Tensor

_Task = tuple[str, str | None, bool]
"""Device, task name, and whether it is final. Nodes of different tasks are never in one segment."""


@dataclass
class Segment:
    """Nodes on one device that run together, without waiting for another device.

    Attributes:
        index: its position among the segments of its device, which run in this order.
        task: the task scope of the nodes, if any.
        part: its number among the segments of its task, if other devices come in between.
        final: it writes to variables in place, or follows a segment that does. It begins once all
            segments that are not final have ended, on all devices.
    """

    device: str
    index: int
    nodes: list[Node] = field(default_factory=list)
    task: str | None = None
    part: int = 1
    final: bool = False

    @property
    def name(self) -> str:
        if self.task is None:
            return f"{self.device} segment {self.index}"
        return f"{self.device} {self.task}" + (f", part {self.part}" if self.part > 1 else "")

    @property
    def kind(self) -> str:
        """The phase of most of its nodes; input only if there is no other."""
        phases = [node.phase for node in self.nodes if node.op.name not in _WEIGHTLESS]
        phases = [phase for phase in phases if phase != "input"] or phases
        return max(dict.fromkeys(phases), key=phases.count, default="forward")

    def fetches_all(self, fetches: Sequence[Tensor]) -> bool:
        """Return whether all ``fetches`` can be read after it."""
        return {tensor.node for tensor in fetches} <= set(self.nodes)

    def results(self, fetches: Sequence[Tensor]) -> list[Tensor]:
        """Return the tensors that are read after it: ``fetches``, and the tensors that it sends."""
        inside = set(self.nodes)
        fetched = [tensor for tensor in fetches if tensor.node in inside]
        sent = [node.inputs[0] for node in self.nodes if node.op.name == "send"]
        return list(dict.fromkeys(fetched + sent))


INPUTS = "inputs"
"""The task in which a device sends its variables and feeds to others, before all else."""
_SOURCES = {"constant", "placeholder", "variable"}
_WEIGHTLESS = _SOURCES | {"send", "receive", "no_op"}


def cut_segments(
    order: Sequence[Node], apart: Collection[str] = (), in_segments: bool = False
) -> dict[str, list[Segment]]:
    """Cut the work of each device into segments, in one order that no device deadlocks in.

    This applies to devices with their own memory, and to processors if there are several or if
    nodes have task scopes. A single ``cpu:0`` runs node by node, so that the executor can share
    nodes among threads.

    Args:
        apart: processors with their own memory, as GPUs have, whose segments include variables and
            constants.
        in_segments: cut the work of a single processor, too: other processes wait for it.
    """
    used = {node.device for node in order if node.device}
    remote = {device for device in used if kind_of(device).runs_plans or device in apart}
    processors = [device for device in used if kind_of(device).on_cores]
    whole = in_segments or len(processors) > 1 or any(node.task for node in order)
    work = [node for node in order if node.op.name not in _SOURCES]
    tasks: dict[Node, _Task] = {
        node: (node.device, INPUTS if _sends_source(node) else node.task, False)
        for node in work
        if node.device is not None and (whole or node.device in remote)
    }
    tasks |= {node: (*tasks[node][:2], True) for node in final_nodes(work, tasks) if node in tasks}
    segments: dict[str, list[Segment]] = {}
    for (device, task, final), nodes in _groups(work, tasks):
        earlier = segments.setdefault(device, [])
        part = 1 + sum(segment.task == task for segment in earlier)
        earlier.append(Segment(device, len(earlier), nodes, task, part, final))
    _add_sources(order, segments, remote)
    return segments


def _groups(work: Sequence[Node], tasks: Mapping[Node, _Task]) -> list[tuple[_Task, list[Node]]]:
    """Group nodes by task, cut where they wait for other tasks, in a topological order.

    Each device runs first the group that the estimates let it start first, ties in order of
    creation; if there are task scopes, everything is in the order of creation, since a schedule may
    depend on it. What is final comes last. Since all devices keep to this one order, they cannot
    wait for each other in a circle.
    """
    in_order = any(name not in (None, INPUTS) for _, name, _ in tasks.values())
    cut = {node for node, (_, name, _) in tasks.items() if name is None}
    group_of = group_nodes(work, tasks, _levels(work, tasks), cut)
    before: dict[Group, set[Group]] = {group: set() for group in group_of.values()}
    for node in work:
        before[group_of[node]].update(group_of[n] for n in node.predecessors if n in group_of)
    followers: dict[Group, list[Group]] = {}
    for group, edges in before.items():
        edges.discard(group)
        for edge in edges:
            followers.setdefault(edge, []).append(group)
    missing = {group: len(edges) for group, edges in before.items()}
    number = {group: place for place, group in enumerate(before)}
    clock: dict[str, float] = {}
    end: dict[Group, float] = {}

    def place(group: Group) -> tuple[bool, float, int, int]:
        first = group.nodes[0]
        device, _, final = tasks.get(first, (None, None, False))
        start = 0.0
        if _sends_source(first):
            start = -1.0
        elif not in_order:
            ready = max((end[edge] for edge in before[group]), default=0.0)
            start = ready if device is None else max(ready, clock.get(device, 0.0))
        return final, start, min(node.id for node in group.nodes), number[group]

    by_number = list(before)
    heap = [place(group) for group, count in missing.items() if not count]
    heapq.heapify(heap)
    # By data through a send and a receive, or by a control edge alone.
    awaited = {b for node in work for b in node.predecessors if b.device != node.device}
    result: list[tuple[_Task, list[Node]]] = []
    last: dict[str, tuple[_Task, list[Node]]] = {}
    while heap:
        current = heapq.heappop(heap)
        group = by_number[current[-1]]
        latest = place(group)
        if latest > current:  # its device has got other work in the meantime
            heapq.heappush(heap, latest)
            continue
        end[group] = max(current[1], 0.0) + group.seconds
        if group.nodes[0] in tasks:
            task = tasks[group.nodes[0]]
            device, name, _ = task
            clock[device] = max(clock.get(device, 0.0), end[group])
            previous = last.get(device)
            if (
                previous is not None
                and previous[0] == task
                and _joins(previous[1], group, name, awaited)
            ):
                previous[1].extend(group.nodes)
            else:
                last[device] = (task, group.nodes)
                result.append((task, group.nodes))
        for follower in followers.get(group, ()):
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(heap, place(follower))
    return result


def _levels(work: Sequence[Node], tasks: Mapping[Node, _Task]) -> dict[Node, int]:
    """The largest number of changes of device or task on a path to each node. Nodes of one task
    with the same number wait for nothing in between.

    Nodes on scalars that only their own task needs get the number of their first user, so that a
    learning rate does not become a segment by itself. Larger work begins as early as possible.
    """
    level: dict[Node, int] = {}
    users: dict[Node, list[Node]] = {}
    for node in work:
        earlier = [before for before in node.predecessors if before in level]
        level[node] = max(
            (level[before] + (tasks.get(before) != tasks.get(node)) for before in earlier),
            default=0,
        )
        for before in earlier:
            users.setdefault(before, []).append(node)
    for node in reversed(work):
        later = users.get(node, ())
        if later and _is_scalar(node) and all(tasks.get(user) == tasks.get(node) for user in later):
            level[node] = min(level[user] for user in later)
    return level


def _joins(
    earlier: Sequence[Node], later: Group, task: str | None, awaited: Collection[Node]
) -> bool:
    """Return whether two consecutive pieces of one task on a device become one segment.

    They do if no other device waits for the earlier, or the later one waits for no other device and
    is short or in a task scope.

    Args:
        awaited: nodes that another device waits for.
    """
    sends = any(node in awaited for node in earlier)
    if all(before.device == node.device for node in later.nodes for before in node.predecessors):
        return task is not None or not sends or later.seconds < WORTH
    return task is not None and not sends


def _sends_source(node: Node) -> bool:
    return node.op.name == "send" and node.inputs[0].node.op.name in _SOURCES


def _is_scalar(node: Node) -> bool:
    return all(tensor.spec.size == 1 for tensor in (*node.inputs, *node.outputs))


def _add_sources(
    order: Sequence[Node], segments: dict[str, list[Segment]], remote: Collection[str]
) -> None:
    """Add sources (variables, constants, feeds) of ``remote`` devices to the first segment of their
    device that uses them."""
    first: dict[Node, Segment] = {}
    for of_device in segments.values():
        for segment in reversed(of_device):
            for node in segment.nodes:
                first.update((before, segment) for before in node.predecessors)
    sources: dict[int, list[Node]] = {}
    for node in order:
        if node.op.name not in _SOURCES or node.device not in remote:
            continue
        user = first.get(node)
        if user is None or user.device != node.device:
            assert node.device is not None
            of_device = segments.setdefault(node.device, [])
            if not of_device:
                of_device.append(Segment(node.device, 0))
            user = of_device[0]
        sources.setdefault(id(user), []).append(node)
    for of_device in segments.values():
        for segment in of_device:
            segment.nodes[:0] = sources.get(id(segment), [])
