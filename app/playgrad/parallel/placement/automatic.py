"""Placement by a cost model: divides a program among devices where that makes it faster."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from playgrad.compiler.compile import Compiled, placeable, run_passes
from playgrad.compiler.lifetimes import last_uses, peak_bytes
from playgrad.compiler.place import (
    HOST,
    Automatic,
    PlannedStart,
    Policy,
    canonical,
    decide,
    unsupported,
)
from playgrad.compiler.program import Program
from playgrad.devices import registry
from playgrad.errors import DeviceError, OutOfMemoryError
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable
from playgrad.parallel.placement.clusters import Cluster, Groups, find_clusters, find_groups
from playgrad.parallel.placement.heft import Option, Placed, schedule
from playgrad.parallel.placement.predict import CostModel, Prediction
from playgrad.parallel.placement.slots import slots_of

WORTH = 0.9
"""Share of one device's time that several must do with. The model leaves out what they cost in
memory and in surprises, and errs."""
Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Planned:
    """Where a cost model puts the nodes of a program, by name, and why.

    Attributes:
        default: the device of all others.
        reasons: for what is in ``devices``.
        slots: when they are to begin, and in which task of their device.
        conclusion: what came of the comparison with one device.
    """

    default: str
    devices: Mapping[str, str]
    reasons: Mapping[str, str]
    conclusion: str = ""
    slots: Mapping[str, PlannedStart] = field(default_factory=dict)

    def policy(self, base: Policy) -> Policy:
        """``base`` with this plan in the place of its choice."""
        return replace(
            base,
            default=self.default,
            chosen=lambda node: self.devices.get(node.name),
            why=lambda node: self.reasons[node.name],
            slot=lambda node: self.slots.get(node.name),
            why_default=f"all on one device: {self.default}",
        )


@dataclass(frozen=True)
class _Candidate:
    planned: Planned
    compiled: Compiled
    prediction: Prediction


@dataclass
class _Planner:
    program: Program
    shapes: Shapes
    base: Policy
    costs: CostModel
    memory: Mapping[str, int]
    ready: Program = field(init=False)

    def __post_init__(self) -> None:
        self.ready = placeable(self.program, self.shapes)
        decide(self.ready, self.base)  # what cannot be is an error, whatever is best

    def candidate(self, planned: Planned) -> _Candidate:
        compiled = run_passes(self.program, self.shapes, planned.policy(self.base))
        return _Candidate(planned, compiled, self.costs.predict(compiled))

    def alone(self, device: str) -> _Candidate:
        """All on ``device``, but for what has to be elsewhere."""
        pinned = {n.name: w for n in self.ready.order() if (w := self.base.wish(n)) is not None}
        reasons = dict.fromkeys(pinned, "where it is since it was used first")
        return self.candidate(Planned(device, pinned, reasons))

    def divided(self, devices: Sequence[str]) -> _Candidate:
        """Over ``devices``, each cluster of nodes where it ends first."""
        order = self.ready.order()
        pinned = {node: wish for node in order if (wish := self.base.wish(node)) is not None}
        seconds = {}
        for device in dict.fromkeys((*devices, *pinned.values(), HOST)):
            able = [node for node in order if unsupported(node, device) is None]
            seconds[device] = self.costs.seconds(able, device, devices)
        groups = find_groups(order)
        homes = _homes(pinned, groups)
        allowed = {node: self._allowed(node, pinned, groups, homes, devices) for node in order}
        cheap = min(self._transfer(a, b, 0) for a in seconds for b in seconds if a != b)
        room = min(self.memory.values(), default=math.inf)
        clusters = find_clusters(self.ready, allowed, seconds, groups, cheap, room)
        placed, where = schedule(
            [cluster.work for cluster in clusters],
            self._transfer,
            homes,
            groups.sizes,
            self.memory,
        )
        planned = _planned(clusters, placed, groups, where, homes, devices[0])
        return self.candidate(replace(planned, slots=slots_of(clusters, placed, cheap)))

    def _transfer(self, source: str, target: str, size: int) -> float:
        return self.costs.links.seconds(source, target, size)

    def _allowed(
        self,
        node: Node,
        pinned: Mapping[Node, str],
        groups: Groups,
        homes: Mapping[Hashable, str],
        devices: Sequence[str],
    ) -> tuple[str, ...]:
        bound = [homes[group] for group in groups.bound.get(node, ()) if group in homes]
        if bound or node in pinned:
            return (bound[0] if bound else pinned[node],)
        able = tuple(device for device in devices if unsupported(node, device) is None)
        return able or (HOST,)

    def fits(self, candidate: _Candidate) -> bool:
        """Whether each device has room for its variables and what it computes."""
        return all(self._needs(candidate.compiled, d) <= room for d, room in self.memory.items())

    def _needs(self, compiled: Compiled, device: str) -> int:
        own = [node for node in compiled.order if node.device == device]
        segments = compiled.segments.get(device, [])
        sizes = find_groups(own).sizes
        values = peak_bytes(segments, last_uses(segments, compiled.program.fetches))
        return sum(sizes.values()) + values


def plan(
    program: Program, shapes: Shapes, policy: Policy, wish: Automatic, costs: CostModel
) -> Planned:
    """Where the nodes of ``program`` should go.

    Args:
        policy: what the user has decided; it stays as it is.

    Raises:
        DeviceError: a device is wished for that does not exist.
        UnsupportedOpError: a device is wished for that cannot run the operation.
        OutOfMemoryError: there is no room for the variables.
    """
    devices = _candidates(policy, wish)
    planner = _Planner(program, shapes, policy, costs, wish.memory)
    kinds = {device.partition(":")[0]: device for device in reversed(devices)}
    alone = [planner.alone(device) for device in dict.fromkeys((devices[0], *kinds.values()))]
    several = [planner.divided(devices[:count]) for count in _counts(len(devices))]
    single = [one for one in alone if planner.fits(one)]
    divided = [one for one in several if planner.fits(one)]
    if not single and not divided:
        raise OutOfMemoryError("the devices have no room for the program, together or alone.")
    return _better(single, divided)


def _better(single: Sequence[_Candidate], divided: Sequence[_Candidate]) -> Planned:
    one = single[0] if single else None
    for other in single[1:]:
        if one is not None and _time(other) < WORTH * _time(one):
            one = other
    many = min(divided, key=_time, default=None)
    if one is None:
        assert many is not None
        text = f"{_shown(many)}; no device has room for all of it"
        return replace(many.planned, conclusion=text)
    text = f"{_ms(_time(one))} on {one.planned.default} alone"
    if many is None:
        return replace(one.planned, conclusion=f"one device: {text}; there is no other")
    if many.prediction.devices == one.prediction.devices:
        text += "; no part of it would end earlier on another"
        return replace(one.planned, conclusion=f"one device is best: {text}")
    if _time(many) < WORTH * _time(one):
        return replace(many.planned, conclusion=f"{_shown(many)}, against {text}")
    if _time(many) < _time(one):
        text += f"; {_shown(many)} would save less than 10 %"
    else:
        text += f", against {_shown(many)}"
    return replace(one.planned, conclusion=f"one device is best: {text}")


def _time(candidate: _Candidate) -> float:
    return candidate.prediction.seconds


def _shown(candidate: _Candidate) -> str:
    devices = candidate.prediction.devices
    return f"{_ms(_time(candidate))} on {', '.join(devices)}"


def _counts(most: int) -> list[int]:
    """How many devices are tried: all of few, and doubling numbers of many."""
    return sorted({n for n in (2, 3, 4, 8, 16, 32, 64, most) if 1 < n <= most})


def _candidates(policy: Policy, wish: Automatic) -> list[str]:
    """The devices that may be used, the session's own first. Of GPUs on one adapter only one: they
    take turns at it."""
    kind = policy.default.partition(":")[0]
    names = [name for name in policy.available if name.startswith(kind)]
    if wish.devices is not None:
        names = [canonical(name) for name in wish.devices]
    for name in names:
        if name not in policy.available:
            raise DeviceError(
                f"there is no {name} here to place operations on.",
                hint=f"There are: {', '.join(policy.available)}.",
            )
    own = [policy.default] if policy.default in names else []
    adapters: set[str] = set()
    chosen = []
    by_name = {entry["device"]: entry["adapter"] for entry in registry.list_devices()}
    for name in dict.fromkeys([*own, *names]):
        if name.startswith("cpu") or by_name[name] not in adapters:
            chosen.append(name)
            adapters.add(by_name[name])
    return chosen


def _homes(pinned: Mapping[Node, str], groups: Groups) -> dict[Hashable, str]:
    """The devices of groups that the user has decided."""
    homes = {groups.of[node]: device for node, device in pinned.items() if node in groups.of}
    for node, device in pinned.items():
        for group in groups.bound.get(node, ()):
            homes.setdefault(group, device)
    return homes


def _planned(
    clusters: Sequence[Cluster],
    placed: Sequence[Placed],
    groups: Groups,
    where: Mapping[Hashable, str],
    homes: Mapping[Hashable, str],
    default: str,
) -> Planned:
    devices: dict[str, str] = {}
    reasons: dict[str, str] = {}
    reader: dict[Hashable, str] = {}
    for cluster, own in zip(clusters, placed, strict=True):
        for node in cluster.nodes:
            devices[node.name] = own.device
            reasons[node.name] = _reason(node, cluster, own, groups)
            for tensor in node.inputs:
                if tensor.node in groups.of:
                    reader.setdefault(groups.of[tensor.node], node.name)
    for node, group in groups.of.items():
        if group in where:
            devices[node.name] = where[group]
            reasons[node.name] = _kept(node, group, group in homes, reader.get(group))
    return Planned(default, devices, reasons)


def _kept(node: Node, group: Hashable, decided: bool, reader: str | None) -> str:
    if decided:
        return "where it is since it was used first"
    if reader is None or (is_variable(node) and node.name != group):
        return f"with the variable {group}"
    return f"with '{reader}', which reads it first"


def _reason(node: Node, cluster: Cluster, placed: Placed, groups: Groups) -> str:
    bound = groups.bound.get(node) or cluster.work.groups
    if bound:
        return f"with the variable {sorted(map(str, bound))[0]}"
    if len(cluster.devices) == 1:
        return f"only {placed.device} can run it"
    others = [
        f"{_finish(device, o)}" for device, o in placed.options.items() if device != placed.device
    ]
    best = _finish(placed.device, placed.options[placed.device])
    return f"earliest finish: {best} against {' and '.join(others)}"


def _finish(device: str, option: Option) -> str:
    text = f"{_ms(option.end)} on {device}"
    if option.moving > 0:
        text += f" ({_ms(option.moving)} of it for {_size(option.bytes)} from {option.source})"
    return text


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.3g} kB" if count < 1_000_000 else f"{count / 1e6:.3g} MB"
