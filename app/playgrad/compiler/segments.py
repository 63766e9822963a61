"""Cuts a placed program into segments: pieces of one device's work that wait for no other."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.graph.tensor import Node, Tensor

_Lane = tuple[str, str | None]
"""Device and task: nodes that differ in it are never in one segment."""


@dataclass
class Segment:
    """Nodes on one device that run together, without waiting for another device.

    Attributes:
        index: its place among the segments of its device, which run in this order.
        task: the task that the nodes belong to, if they were given one.
        part: which of the segments of its task it is, where other devices come in between.
    """

    device: str
    index: int
    nodes: list[Node] = field(default_factory=list)
    task: str | None = None
    part: int = 1

    @property
    def name(self) -> str:
        if self.task is None:
            return f"{self.device} segment {self.index}"
        return f"{self.device} {self.task}" + (f", part {self.part}" if self.part > 1 else "")

    @property
    def kind(self) -> str:
        """What most of its work is: forward, gradient, update; or input, if there is only that."""
        phases = [node.phase for node in self.nodes if node.op.name not in _WEIGHTLESS]
        phases = [phase for phase in phases if phase != "input"] or phases
        return max(dict.fromkeys(phases), key=phases.count, default="forward")

    def results(self, fetches: Sequence[Tensor]) -> list[Tensor]:
        """What is read after it: those of ``fetches`` that it makes, and what it sends."""
        inside = set(self.nodes)
        made = [tensor for tensor in fetches if tensor.node in inside]
        sent = [node.inputs[0] for node in self.nodes if node.op.name == "send"]
        return list(dict.fromkeys(made + sent))


INPUTS = "inputs"
"""The task of a device that sends its variables and feeds to others, before all else."""
_SOURCES = {"constant", "placeholder", "variable"}
_WEIGHTLESS = _SOURCES | {"send", "receive", "no_op"}


def cut_segments(order: Sequence[Node], apart: Collection[str] = ()) -> dict[str, list[Segment]]:
    """The segments of each device that works segment by segment, in an order that all can keep.

    GPUs do, and so do processors where there are several, or where nodes were given tasks. A lone
    ``cpu:0`` runs node by node, so that the executor can share the nodes out among threads.

    Args:
        apart: processors that, as GPUs, get their segments whole, with variables and constants.
    """
    remote = {
        node.device
        for node in order
        if node.device and (node.device.startswith("gpu") or node.device in apart)
    }
    cpus = {node.device for node in order if node.device and node.device.startswith("cpu")}
    whole = len(cpus) > 1 or any(node.task for node in order)
    work = [node for node in order if node.op.name not in _SOURCES]
    lanes = {
        node: (node.device, INPUTS if _sends_source(node) else node.task)
        for node in work
        if node.device is not None and (whole or node.device in remote)
    }
    segments: dict[str, list[Segment]] = {}
    for (device, task), nodes in _groups(work, lanes):
        own = segments.setdefault(device, [])
        part = 1 + sum(earlier.task == task for earlier in own)
        own.append(Segment(device, len(own), nodes, task, part))
    _add_sources(order, segments, remote)
    return segments


def _groups(work: Sequence[Node], lanes: Mapping[Node, _Lane]) -> list[tuple[_Lane, list[Node]]]:
    """Nodes by lane, cut where they wait for other lanes, in an order that respects all edges.

    Where the order is free it is that in which the first nodes were made. As all devices keep to
    one order, none can wait for another in a circle.
    """
    levels = _levels(work, lanes)
    # A node without a lane (on a lone cpu:0) is a group by itself.
    group_of: dict[Node, Hashable] = {
        node: (lanes[node], levels[node]) if node in lanes else node for node in work
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
        group: (-1 if _sends_source(own[0]) else min(node.id for node in own), number)
        for number, (group, own) in enumerate(members.items())
    }
    # By data through a send and a receive, or by a control edge alone.
    awaited = {b for node in work for b in node.predecessors if b.device != node.device}
    ready = [(place[group], group) for group, count in missing.items() if not count]
    heapq.heapify(ready)
    result: list[tuple[_Lane, list[Node]]] = []
    last: dict[str, tuple[_Lane, list[Node]]] = {}
    while ready:
        _, group = heapq.heappop(ready)
        nodes = members[group]
        if nodes[0] in lanes:
            lane = device, task = lanes[nodes[0]]
            before_it = last.get(device)
            if (
                before_it is not None
                and before_it[0] == lane
                and _joins(before_it[1], nodes, task, awaited)
            ):
                before_it[1].extend(nodes)
            else:
                last[device] = (lane, nodes)
                result.append((lane, nodes))
        for follower in followers.get(group, ()):
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, (place[follower], follower))
    return result


def _levels(work: Sequence[Node], lanes: Mapping[Node, _Lane]) -> dict[Node, int]:
    """How often the way to a node changes device or task: what has the same number in one lane
    never waits for anything in between.

    Work on single numbers that only its own lane needs is counted as late as it is needed there, so
    that a learning rate does not become a segment by itself. Larger work begins as soon as it can.
    """
    level: dict[Node, int] = {}
    users: dict[Node, list[Node]] = {}
    for node in work:
        earlier = [before for before in node.predecessors if before in level]
        level[node] = max(
            (level[before] + (lanes.get(before) != lanes.get(node)) for before in earlier),
            default=0,
        )
        for before in earlier:
            users.setdefault(before, []).append(node)
    for node in reversed(work):
        later = users.get(node, ())
        if later and _is_scalar(node) and all(lanes.get(user) == lanes.get(node) for user in later):
            level[node] = min(level[user] for user in later)
    return level


def _joins(
    earlier: Sequence[Node], later: Sequence[Node], task: str | None, awaited: Collection[Node]
) -> bool:
    """Whether two pieces of one task that follow each other on a device are to be one segment: if
    the later one waits for no other device, or no other device waits for the earlier one.

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
    """Put what waits for nothing (variables, constants, feeds of a ``remote`` device) into the
    first segment of its device that uses it."""
    first: dict[Node, Segment] = {}
    for own in segments.values():
        for segment in reversed(own):
            for node in segment.nodes:
                first.update((before, segment) for before in node.predecessors)
    found: dict[int, list[Node]] = {}
    for node in order:
        if node.op.name not in _SOURCES or node.device not in remote:
            continue
        user = first.get(node)
        if user is None or user.device != node.device:
            assert node.device is not None
            own = segments.setdefault(node.device, [])
            if not own:
                own.append(Segment(node.device, 0))
            user = own[0]
        found.setdefault(id(user), []).append(node)
    for own in segments.values():
        for segment in own:
            segment.nodes[:0] = found.get(id(segment), [])
