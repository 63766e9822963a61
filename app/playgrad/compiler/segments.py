"""Cuts a placed program into segments: work of one device that waits for no other."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.compiler.final_work import final_nodes
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

    def results(self, fetches: Sequence[Tensor]) -> list[Tensor]:
        """Return the tensors that are read after it: its ``fetches``, and those that it sends."""
        inside = set(self.nodes)
        fetched = [tensor for tensor in fetches if tensor.node in inside]
        sent = [node.inputs[0] for node in self.nodes if node.op.name == "send"]
        return list(dict.fromkeys(fetched + sent))


INPUTS = "inputs"
"""The task in which a device sends its variables and feeds to others, before all else."""
_SOURCES = {"constant", "placeholder", "variable"}
_WEIGHTLESS = _SOURCES | {"send", "receive", "no_op"}


def cut_segments(order: Sequence[Node], apart: Collection[str] = ()) -> dict[str, list[Segment]]:
    """Cut the work of each device into segments, in one order that no device deadlocks in.

    This applies to GPUs, and to processors if there are several or if nodes have task scopes. A
    single ``cpu:0`` runs node by node, so that the executor can share nodes among threads.

    Args:
        apart: processors whose segments include variables and constants, as on GPUs.
    """
    remote = {
        node.device
        for node in order
        if node.device and (node.device.startswith("gpu") or node.device in apart)
    }
    cpus = {node.device for node in order if node.device and node.device.startswith("cpu")}
    whole = len(cpus) > 1 or any(node.task for node in order)
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

    Ties are ordered by the creation of the first nodes, and what is final comes last. Since all
    devices keep to this one order, they cannot wait for each other in a circle.
    """
    levels = _levels(work, tasks)
    # A node without a task (on a single cpu:0) is a group by itself.
    group_of: dict[Node, Hashable] = {
        node: (tasks[node], levels[node]) if node in tasks else node for node in work
    }
    members: dict[Hashable, list[Node]] = {}
    before: dict[Hashable, set[Hashable]] = {}
    for node in work:
        group = group_of[node]
        members.setdefault(group, []).append(node)
        edges = before.setdefault(group, set())
        edges.update(group_of[n] for n in node.predecessors if n in group_of)
        edges.discard(group)
    followers: dict[Hashable, list[Hashable]] = {}
    for group, edges in before.items():
        for edge in edges:
            followers.setdefault(edge, []).append(group)
    missing = {group: len(edges) for group, edges in before.items()}
    place = {
        group: (
            nodes[0] in tasks and tasks[nodes[0]][2],
            -1 if _sends_source(nodes[0]) else min(node.id for node in nodes),
            number,
        )
        for number, (group, nodes) in enumerate(members.items())
    }
    # By data through a send and a receive, or by a control edge alone.
    awaited = {b for node in work for b in node.predecessors if b.device != node.device}
    ready = [(place[group], group) for group, count in missing.items() if not count]
    heapq.heapify(ready)
    result: list[tuple[_Task, list[Node]]] = []
    last: dict[str, tuple[_Task, list[Node]]] = {}
    while ready:
        _, group = heapq.heappop(ready)
        nodes = members[group]
        if nodes[0] in tasks:
            task = tasks[nodes[0]]
            device, name, _ = task
            previous = last.get(device)
            if (
                previous is not None
                and previous[0] == task
                and _joins(previous[1], nodes, name, awaited)
            ):
                previous[1].extend(nodes)
            else:
                last[device] = (task, nodes)
                result.append((task, nodes))
        for follower in followers.get(group, ()):
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, (place[follower], follower))
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
    earlier: Sequence[Node], later: Sequence[Node], task: str | None, awaited: Collection[Node]
) -> bool:
    """Return whether two consecutive pieces of one task on a device become one segment.

    They do if the later one waits for no other device, or no other device waits for the earlier.

    Args:
        awaited: nodes that another device waits for.
    """
    if all(before.device == node.device for node in later for before in node.predecessors):
        return True
    return task is not None and not any(node in awaited for node in earlier)


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
