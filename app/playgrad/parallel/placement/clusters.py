"""What goes to a device as a whole: nodes that nothing is won by dividing."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.compiler.place import variables_of
from playgrad.compiler.program import Program
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable
from playgrad.parallel.placement.heft import Work
from playgrad.parallel.placement.kernel_times import bytes_of

Seconds = Mapping[str, Mapping[Node, float]]
"""Of each node, by device."""


@dataclass
class Cluster:
    """Nodes that one device does without a break, and what they need."""

    nodes: list[Node]
    devices: tuple[str, ...]
    work: Work


@dataclass
class _Joined:
    nodes: list[Node]
    devices: tuple[str, ...]
    seconds: dict[str, float]
    groups: frozenset[Hashable]
    touched: frozenset[Hashable]
    before: set[int] = field(default_factory=set)
    after: set[int] = field(default_factory=set)

    @property
    def fastest(self) -> str:
        return min(self.seconds, key=lambda device: (self.seconds[device], device)).partition(":")[
            0
        ]


@dataclass(frozen=True)
class Groups:
    """Data that is kept somewhere: variables that are written together, and what is fed.

    Attributes:
        of: the group of each variable and placeholder.
        bound: the groups that a node has to be with.
    """

    of: Mapping[Node, Hashable]
    bound: Mapping[Node, frozenset[Hashable]]

    @property
    def sizes(self) -> dict[Hashable, int]:
        """Bytes of the variables of each group."""
        sizes: dict[Hashable, int] = {}
        for node, group in self.of.items():
            own = bytes_of([node.output.spec]) if is_variable(node) else 0
            sizes[group] = sizes.get(group, 0) + own
        return sizes


def find_groups(order: Sequence[Node]) -> Groups:
    """The groups of a program whose nodes are ``order``."""
    variables = {node.name: node for node in order if is_variable(node)}
    leader = {name: name for name in variables}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    used = {node: [n for n in variables_of(node) if n in variables] for node in order}
    for names in used.values():
        for name in names[1:]:
            leader[find(name)] = find(names[0])
    of: dict[Node, Hashable] = {node: find(name) for name, node in variables.items()}
    of.update((node, ("fed", node.name)) for node in order if node.op.name == "placeholder")
    return Groups(of, {n: frozenset(map(find, names)) for n, names in used.items() if names})


def find_clusters(
    program: Program,
    allowed: Mapping[Node, tuple[str, ...]],
    seconds: Seconds,
    groups: Groups,
    cheap: float,
    room: float = math.inf,
) -> list[Cluster]:
    """The nodes of ``program`` that do something, in clusters, each after those that it needs.

    Joined are two that follow each other and wait for nothing in between, and what takes less than
    ``cheap`` seconds with the only one that it needs or is needed by. That makes no circles.

    Args:
        allowed: the devices that each node may go to.
        room: bytes of variables that a cluster may need.
    """
    doing = [n for n in program.order() if n.op.name != "constant" and n not in groups.of]
    joined = {n.id: _single(n, allowed[n], seconds, groups) for n in doing}
    last: dict[str, Node] = {}
    for node in doing:
        for before in (*node.predecessors, *_earlier_users(node, last)):
            if before.id in joined:
                joined[node.id].before.add(before.id)
                joined[before.id].after.add(node.id)
    sizes = groups.sizes

    def joins(first: _Joined, second: _Joined) -> bool:
        touched = first.touched | second.touched
        fits = room == math.inf or sum(sizes[group] for group in touched) <= room
        return fits and _joins(first, second, cheap)

    while _join_once(joined, joins):
        pass
    return _in_order(joined, groups)


def _earlier_users(node: Node, last: dict[str, Node]) -> list[Node]:
    """What uses a variable in place before ``node`` does: their order is that in which they were
    made, so that the last to write is the same wherever they run."""
    names = variables_of(node)
    earlier = [last[name] for name in names if name in last]
    last.update(dict.fromkeys(names, node))
    return earlier


def _single(node: Node, devices: tuple[str, ...], seconds: Seconds, groups: Groups) -> _Joined:
    times = {device: seconds[device][node] for device in devices}
    bound = groups.bound.get(node, frozenset())
    read = {groups.of[tensor.node] for tensor in node.inputs if tensor.node in groups.of}
    return _Joined([node], devices, times, bound, bound | read)


def _join_once(joined: dict[int, _Joined], joins: Callable[[_Joined, _Joined], bool]) -> bool:
    changed = False
    for number in list(joined):
        for follower in sorted(joined[number].after) if number in joined else ():
            if joins(joined[number], joined[follower]):
                _merge(joined, number, follower)
                changed = True
    return changed


def _joins(first: _Joined, second: _Joined, cheap: float) -> bool:
    only_follower, only_source = len(first.after) == 1, len(second.before) == 1
    if not (only_follower or only_source) or first.devices != second.devices:
        return False
    if not (first.groups <= second.groups or second.groups <= first.groups):
        return False
    if only_follower and only_source and first.fastest == second.fastest:
        return True
    small = [only_follower and first, only_source and second]
    return any(max(one.seconds.values()) < cheap for one in small if one)


def _merge(joined: dict[int, _Joined], first: int, second: int) -> None:
    into, gone = joined[first], joined.pop(second)
    into.nodes += gone.nodes
    into.groups |= gone.groups
    into.touched |= gone.touched
    for device, time in gone.seconds.items():
        into.seconds[device] += time
    into.before = (into.before | gone.before) - {first, second}
    into.after = (into.after | gone.after) - {first, second}
    for other in gone.before - {first}:
        joined[other].after = (joined[other].after - {second}) | {first}
    for other in gone.after:
        joined[other].before = (joined[other].before - {second}) | {first}


def _in_order(joined: Mapping[int, _Joined], groups: Groups) -> list[Cluster]:
    missing = {number: len(one.before) for number, one in joined.items()}
    ready = [number for number, count in missing.items() if not count]
    heapq.heapify(ready)
    position: dict[Node, int] = {}
    clusters: list[Cluster] = []
    while ready:
        number = heapq.heappop(ready)
        one = joined[number]
        one.nodes.sort(key=lambda node: node.id)
        work = _work(one, joined, position, groups)
        position.update((node, len(clusters)) for node in one.nodes)
        clusters.append(Cluster(one.nodes, one.devices, work))
        for follower in one.after:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, follower)
    return clusters


def _work(
    one: _Joined, joined: Mapping[int, _Joined], position: Mapping[Node, int], groups: Groups
) -> Work:
    after: dict[int, int] = {}
    held: dict[Hashable, int] = {}
    inside: Collection[Node] = set(one.nodes)
    for tensor in dict.fromkeys(tensor for node in one.nodes for tensor in node.inputs):
        if tensor.node in inside or tensor.node.op.name == "constant":
            continue
        size = bytes_of([tensor.spec])
        if tensor.node in groups.of:
            group = groups.of[tensor.node]
            held[group] = held.get(group, 0) + size
        else:
            place = position[tensor.node]
            after[place] = after.get(place, 0) + size
    for number in one.before:  # also what is only to be waited for
        after.setdefault(position[joined[number].nodes[0]], 0)
    return Work(one.seconds, after, held, tuple(sorted(one.groups, key=repr)))
