"""Cuts a program into stages: contiguous work, one stage for each device."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from playgrad.compiler.place import variables_of
from playgrad.devices.kinds import HOST, kind_of
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable
from playgrad.parallel.placement.operation_times import bytes_of

DECIDED = "where it has been since its first use"
_SOURCES = {"constant", "placeholder", "variable"}
_BACKWARD = {"gradient", "update"}


@dataclass(frozen=True)
class Cut:
    """Devices of nodes by name, and the reason for each. The compiler places all other nodes."""

    devices: Mapping[str, str]
    reasons: Mapping[str, str]


def cut(
    order: Sequence[Node],
    devices: Sequence[str],
    seconds: Sequence[Mapping[Node, float]],
    pinned: Mapping[Node, str],
    memory: Mapping[str, int],
) -> Cut | None:
    """Cut the forward work of a program, in its order, into a stage for each of ``devices``.

    The gradient of a node runs in the node's stage, and a variable lives in that of its first user.
    Each stage gets the share of the work that corresponds to the speed of its device. If a device
    then has no room for its variables, each device is filled before the next one is used.

    Args:
        order: the nodes of the program.
        seconds: the seconds of nodes on each of ``devices``; missing nodes take none.
        pinned: the devices of nodes that are decided already.
        memory: bytes available by device; unlimited for devices not listed.

    Returns:
        None if the variables have no room.
    """
    rates = [1 / max(math.fsum(each.values()), 1e-12) for each in seconds]
    shares = [rate / math.fsum(rates) for rate in rates]
    for ends in (list(accumulate(shares)), [1.0] * len(devices)):
        homes = _Homes(order, devices, pinned, memory)
        stages = _stages(order, seconds[0], ends, homes)
        if stages is not None:
            return _named(stages, devices, homes, pinned)
    return None


def _stages(
    order: Sequence[Node], seconds: Mapping[Node, float], ends: Sequence[float], homes: _Homes
) -> dict[Node, int] | None:
    """Return the stage of each node.

    Args:
        seconds: the seconds of each node.
        ends: the end of each stage, as a part of all forward work with its gradients.
        homes: takes the variables.
    """
    forward = {node: _forward_node(node) for node in order if node.op.name not in _SOURCES}
    load: dict[Node, float] = defaultdict(float)
    for node, origin in forward.items():
        load[origin or node] += seconds.get(node, 0.0)
    total = math.fsum(load.values())
    stages: dict[Node, int] = {}
    current, done = 0, 0.0
    for node, origin in forward.items():
        if node.phase in _BACKWARD:
            earlier = (stages[each] for each in node.predecessors if each in stages)
            stage = stages.get(origin or node, next(earlier, 0))
        else:
            done += load[node]
            while current < len(ends) - 1 and done - load[node] / 2 > ends[current] * total:
                current += 1
            stage = current
        settled = homes.settle(node, stage)
        if settled is None:
            return None
        stages[node] = settled
        if node.phase not in _BACKWARD:
            current = settled
    return stages


def _named(
    stages: Mapping[Node, int], devices: Sequence[str], homes: _Homes, pinned: Mapping[Node, str]
) -> Cut:
    """Return the devices and reasons; nodes that use variables in place follow these."""
    placed = homes.by_variable()
    chosen = {name: device for name, (device, _) in placed.items()}
    reasons = {name: f"with its first user '{user}'" for name, (_, user) in placed.items()}
    for node, stage in stages.items():
        if not variables_of(node) and kind_of(devices[stage]).unsupported(node) is None:
            chosen[node.name] = devices[stage]
            reasons[node.name] = f"stage {stage + 1} of {len(devices)}"
    fixed = {node.name: device for node, device in pinned.items()}
    return Cut({**chosen, **fixed}, {**reasons, **dict.fromkeys(fixed, DECIDED)})


def _forward_node(node: Node) -> Node | None:
    """Return the node whose gradient ``node`` computes, by the name that `gradients` gives it."""
    name = re.sub(r"^(.*/)?gradients(_\d+)?/", "", node.name) if node.phase == "gradient" else ""
    while "/" in name:
        name = name.rpartition("/")[0]
        if name in node.graph:
            return node.graph.node(name)
    return None


class _Homes:
    """The devices of variables. Variables that are written together share a device.

    Args:
        order, devices, pinned, memory: as for `cut`.
    """

    def __init__(
        self,
        order: Sequence[Node],
        devices: Sequence[str],
        pinned: Mapping[Node, str],
        memory: Mapping[str, int],
    ) -> None:
        self._devices = devices
        self._leaders = _leaders(order)
        self._members: dict[str, list[Node]] = defaultdict(list)
        for node in order:
            for leader in self._groups(node, in_place=True):
                self._members[leader].append(node)
        self._homes: dict[str, tuple[str, str]] = {}
        self._room = dict(memory)
        for node, device in pinned.items():
            for leader in self._groups(node, in_place=True):
                if leader not in self._homes:
                    self._take(leader, device, node)

    def settle(self, node: Node, stage: int) -> int | None:
        """Give the variables that ``node`` uses a home: the first device with room from ``stage``
        on. Return its stage; None if there is no room."""
        new = [leader for leader in self._groups(node) if leader not in self._homes]
        needed = sum(map(self._size, new))
        while needed > self._room.get(self._devices[stage], needed):
            stage += 1
            if stage == len(self._devices):
                return None
        for leader in new:
            self._take(leader, self._devices[stage], node)
        return stage

    def by_variable(self) -> dict[str, tuple[str, str]]:
        """Return the device of each variable by name, and the node that decided it."""
        homes = {name: self._homes.get(leader) for name, leader in self._leaders.items()}
        return {name: home for name, home in homes.items() if home is not None}

    def _take(self, leader: str, device: str, user: Node) -> None:
        able = all(kind_of(device).unsupported(each) is None for each in self._members[leader])
        home = device if able else HOST
        self._homes[leader] = home, user.name
        if home in self._room:
            self._room[home] -= self._size(leader)

    def _size(self, leader: str) -> int:
        return bytes_of(n.output.spec for n in self._members[leader] if is_variable(n))

    def _groups(self, node: Node, in_place: bool = False) -> Iterable[str]:
        """Return the groups of the variables that ``node`` uses, or uses in place."""
        names = [node.name, *variables_of(node)]
        names += [] if in_place else [tensor.node.name for tensor in node.inputs]
        return dict.fromkeys(self._leaders[name] for name in names if name in self._leaders)


def _leaders(order: Sequence[Node]) -> dict[str, str]:
    """Return, for each variable, the first variable that is written together with it."""
    groups = {node.name: [node.name] for node in order if is_variable(node)}
    for node in order:
        first, *others = [groups[name] for name in variables_of(node) if name in groups] or [[]]
        for other in others:
            if other is not first:
                first += other
                groups.update(dict.fromkeys(other, first))
    return {name: group[0] for name, group in groups.items()}
