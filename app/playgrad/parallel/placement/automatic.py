"""The automatic planner: divides a program among devices where that makes it faster."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from playgrad.compiler.compile import Compiled, placeable, run_passes
from playgrad.compiler.lifetimes import last_uses, peak_bytes
from playgrad.compiler.place import Policy, decide
from playgrad.compiler.planner import Automatic, PlannedPlacement, Shapes
from playgrad.compiler.program import Program
from playgrad.devices import registry
from playgrad.devices.kinds import HOST, canonical, kind_of
from playgrad.errors import DeviceError, OutOfMemoryError
from playgrad.graph.tensor import Node
from playgrad.parallel.placement.clusters import Cluster, Groups, find_clusters, find_groups
from playgrad.parallel.placement.heft import Assigned, ListScheduler, Option
from playgrad.parallel.placement.predict import CostModel, Prediction
from playgrad.parallel.placement.summary import MeasuredSummary, summarize
from playgrad.parallel.placement.tasks import planned_starts

WORTHWHILE = 0.9
"""Several devices are used only if they take less than this share of one device's time: the
predictions are not exact, and leave out what several devices cost in memory."""
_DECIDED = "where it has been since its first use"


class AutomaticPlanner:
    """The `Planner` of sessions with automatic placement.

    Attributes:
        costs: the measured times it decides by, shared by all sessions.
    """

    def __init__(self) -> None:
        self.costs = CostModel()

    def plan(
        self, program: Program, shapes: Shapes, policy: Policy, request: Automatic
    ) -> PlannedPlacement:
        """Choose the faster of one device and several; see `Planner.plan`."""
        devices = _usable_devices(policy, request)
        search = Search(program, shapes, policy, self.costs, request.memory)
        kinds = {kind_of(device): device for device in reversed(devices)}
        singles = [search.alone(device) for device in dict.fromkeys((devices[0], *kinds.values()))]
        # All counts of few devices, and doubling counts of many.
        most = len(devices)
        counts = sorted({n for n in (2, 3, 4, 8, 16, 32, 64, most) if 1 < n <= most})
        divided = [search.divided(devices[:count]) for count in counts]
        return _best(
            [each for each in singles if each.fits], [each for each in divided if each.fits]
        )

    def summarize(
        self, program: Program, shapes: Shapes, policy: Policy, conclusion: str | None
    ) -> MeasuredSummary:
        """Explain the placement of ``program`` under ``policy``."""
        return summarize(program, shapes, policy, conclusion, self.costs)


@dataclass(frozen=True)
class Candidate:
    """A placement, its predicted cost, and whether each device has enough memory for it."""

    placement: PlannedPlacement
    prediction: Prediction
    fits: bool

    @property
    def seconds(self) -> float:
        return self.prediction.seconds

    @property
    def text(self) -> str:
        return f"{_ms(self.seconds)} on {', '.join(self.prediction.devices)}"


@dataclass
class Search:
    """Finds placements of one program.

    Args:
        policy: what the user has decided.
        memory: bytes available by device; unlimited for devices not listed.
    """

    program: Program
    shapes: Shapes
    policy: Policy
    costs: CostModel
    memory: Mapping[str, int]
    _placeable: Program = field(init=False)
    _pinned: dict[Node, str] = field(init=False)

    def __post_init__(self) -> None:
        self._placeable = placeable(self.program, self.shapes)
        decide(self._placeable, self.policy)  # report impossible requests before measuring
        self._pinned = {
            node: device
            for node in self._placeable.order()
            if (device := self.policy.requested_device(node)) is not None
        }

    def alone(self, device: str) -> Candidate:
        """Place all nodes on ``device``, except those that must be elsewhere."""
        pinned = {node.name: home for node, home in self._pinned.items()}
        return self._candidate(PlannedPlacement(device, pinned, dict.fromkeys(pinned, _DECIDED)))

    def divided(self, devices: Sequence[str]) -> Candidate:
        """Place each cluster of nodes on the one of ``devices`` where it finishes first."""
        groups = find_groups(self._placeable.order())
        homes = self._homes(groups)
        seconds = self._seconds(devices, groups, homes)
        used = list(dict.fromkeys((*devices, *self._pinned.values(), HOST)))
        transfer = self.costs.links.seconds
        cheap = min(transfer(a, b, 0) for a in used for b in used if a != b)
        room = min(self.memory.values(), default=math.inf)
        clusters = find_clusters(self._placeable, seconds, groups, room)
        scheduler = ListScheduler(clusters, transfer, dict(homes), groups.sizes, self.memory)
        assigned = scheduler.run()
        placement = _placement(clusters, assigned, groups, scheduler.homes, homes, devices[0])
        starts = planned_starts(clusters, assigned, cheap)
        return self._candidate(replace(placement, starts=starts))

    def _candidate(self, placement: PlannedPlacement) -> Candidate:
        compiled = run_passes(self.program, self.shapes, placement.policy(self.policy))
        fits = all(_bytes_used(compiled, device) <= room for device, room in self.memory.items())
        return Candidate(placement, self.costs.predict(compiled), fits)

    def _homes(self, groups: Groups) -> dict[Hashable, str]:
        """Return the devices of groups that the user has decided."""
        homes = {groups.of[n]: device for n, device in self._pinned.items() if n in groups.of}
        for node, device in self._pinned.items():
            for group in groups.bound.get(node, ()):
                homes.setdefault(group, device)
        return homes

    def _seconds(
        self, devices: Sequence[str], groups: Groups, homes: Mapping[Hashable, str]
    ) -> dict[Node, dict[str, float]]:
        """Return the seconds of each node on each of ``devices`` that it may run on."""
        allowed: dict[str, list[Node]] = {}
        for node in self._placeable.order():
            bound = [homes[group] for group in groups.bound.get(node, ()) if group in homes]
            pinned = [*bound, *([self._pinned[node]] if node in self._pinned else [])]
            able = [device for device in devices if kind_of(device).unsupported(node) is None]
            for device in pinned[:1] or able or [HOST]:
                allowed.setdefault(device, []).append(node)
        seconds: dict[Node, dict[str, float]] = {n: {} for n in self._placeable.order()}
        for device in dict.fromkeys((*devices, *allowed)):  # of equals, the first is preferred
            nodes = allowed.get(device, [])
            for node, time in self.costs.seconds(nodes, device, devices).items():
                seconds[node][device] = time
        return seconds


def _bytes_used(compiled: Compiled, device: str) -> int:
    """Return the bytes that ``device`` needs for variables and temporaries."""
    nodes = [node for node in compiled.order if node.device == device]
    segments = compiled.segments.get(device, [])
    temporaries = peak_bytes(segments, last_uses(segments, compiled.program.fetches))
    return sum(find_groups(nodes).sizes.values()) + temporaries


def _usable_devices(policy: Policy, request: Automatic) -> list[str]:
    """Return the devices to consider, the session's default first. Of several GPUs on one adapter
    only one counts, because they share it."""
    kind = kind_of(policy.default)
    names = [name for name in policy.available if kind_of(name) is kind]
    if request.devices is not None:
        names = [canonical(name) for name in request.devices]
    for name in names:
        if name not in policy.available:
            raise DeviceError(
                f"there is no {name} here to place operations on.",
                hint=f"Available: {', '.join(policy.available)}.",
            )
    names.sort(key=lambda name: name != policy.default)
    adapters = {entry["device"]: entry["adapter"] for entry in registry.list_devices()}
    hardware = {name if kind_of(name).on_cores else adapters[name]: name for name in names[::-1]}
    return [name for name in dict.fromkeys(names) if name in hardware.values()]


def _best(alone: Sequence[Candidate], divided: Sequence[Candidate]) -> PlannedPlacement:
    """Return the fastest placement, but prefer the first unless another is worthwhile."""
    several = min(divided, key=lambda each: each.seconds, default=None)
    if not alone:
        if several is None:
            raise OutOfMemoryError("the program fits neither on one device nor on all together.")
        return _concluded(several, f"{several.text}; no device has room for all of it")
    one = alone[0]
    for other in alone[1:]:
        if other.seconds < WORTHWHILE * one.seconds:
            one = other
    text = f"{_ms(one.seconds)} on {one.placement.default} alone"
    if several is None:
        return _concluded(one, f"one device: {text}; there is no other")
    if several.prediction.devices == one.prediction.devices:
        text += "; no part of it would finish earlier on another"
    elif several.seconds < WORTHWHILE * one.seconds:
        return _concluded(several, f"{several.text}, against {text}")
    elif several.seconds < one.seconds:
        text += f"; {several.text} would save less than 10%"
    else:
        text += f", against {several.text}"
    return _concluded(one, f"one device is best: {text}")


def _concluded(candidate: Candidate, conclusion: str) -> PlannedPlacement:
    return replace(candidate.placement, conclusion=conclusion)


def _placement(
    clusters: Sequence[Cluster],
    assigned: Sequence[Assigned],
    groups: Groups,
    homes: Mapping[Hashable, str],
    decided: Collection[Hashable],
    default: str,
) -> PlannedPlacement:
    """Return the devices and reasons of nodes.

    Args:
        homes: the devices of all groups.
        decided: the groups whose device was decided before.
    """
    devices: dict[str, str] = {}
    reasons: dict[str, str] = {}
    first_user: dict[Hashable, str] = {}
    for cluster, choice in zip(clusters, assigned, strict=True):
        for node in cluster.nodes:
            devices[node.name] = choice.device
            reasons[node.name] = _reason(node, cluster, choice, groups)
            read = [groups.of[tensor.node] for tensor in node.inputs if tensor.node in groups.of]
            for group in (*read, *groups.bound.get(node, ())):
                first_user.setdefault(group, node.name)
    for node, group in groups.of.items():
        if group in homes:
            devices[node.name] = homes[group]
            user = f"with its first user '{first_user.get(group)}'"
            reasons[node.name] = _DECIDED if group in decided else user
    return PlannedPlacement(default, devices, reasons)


def _reason(node: Node, cluster: Cluster, choice: Assigned, groups: Groups) -> str:
    bound = groups.bound.get(node) or cluster.groups
    if bound:
        return f"with the variable {min(map(str, bound))}"
    if len(cluster.seconds) == 1:
        return f"only {choice.device} can run it"
    best = _finish(choice.device, choice.options[choice.device])
    others = [_finish(d, option) for d, option in choice.options.items() if d != choice.device]
    return f"earliest finish: {best} against {' and '.join(others)}"


def _finish(device: str, option: Option) -> str:
    text = f"{_ms(option.end)} on {device}"
    if option.moving > 0:
        text += f" ({_ms(option.moving)} for {option.bytes:,} bytes from {option.source})"
    return text


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"
