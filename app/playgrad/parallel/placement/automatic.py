"""The automatic planner: the faster device, or a cut into stages where that is faster still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from playgrad.compiler.compile import Compiled, placeable, run_passes
from playgrad.compiler.lifetimes import last_uses, peak_bytes
from playgrad.compiler.place import Policy, decide
from playgrad.compiler.planner import Automatic, PlannedPlacement, Shapes
from playgrad.compiler.program import Program
from playgrad.devices import registry
from playgrad.devices.kinds import canonical, kind_of
from playgrad.devices.machines import full_names
from playgrad.errors import DeviceError, OutOfMemoryError
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable
from playgrad.parallel.placement.cut import DECIDED, cut
from playgrad.parallel.placement.operation_times import bytes_of
from playgrad.parallel.placement.predict import CostModel, Prediction
from playgrad.parallel.placement.summary import MeasuredSummary, summarize

WORTHWHILE = 0.9
"""Several devices are used only if they take less than this share of one device's time: the
predictions are not exact, and leave out the memory that several devices cost."""


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
        """Choose the fastest device, or a cut into stages; see `Planner.plan`."""
        devices = _usable_devices(policy, request)
        search = Search(program, shapes, policy, self.costs, request.memory)
        kinds = {kind_of(device): device for device in reversed(devices)}
        singles = [search.alone(device) for device in dict.fromkeys((devices[0], *kinds.values()))]
        # All counts of few devices, and doubling counts of many.
        most = len(devices)
        counts = sorted({n for n in (2, 3, 4, 8, 16, 32, 64, most) if 1 < n <= most})
        divided = [search.divided(devices[:count]) for count in counts]
        return _best(
            [each for each in singles if each.fits],
            [each for each in divided if each is not None and each.fits],
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
        return f"{_ms(self.seconds)} on {full_names(self.prediction.devices)}"


@dataclass
class Search:
    """Finds placements of one program.

    Args:
        policy: the user's decisions.
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
        """Place all nodes on ``device``, unless their device is decided already."""
        pinned = {node.name: home for node, home in self._pinned.items()}
        return self._candidate(PlannedPlacement(device, pinned, dict.fromkeys(pinned, DECIDED)))

    def divided(self, devices: Sequence[str]) -> Candidate | None:
        """Cut the program into stages, one for each of ``devices``; None if they lack room."""
        order = self._placeable.order()
        shared = [n for n in order if all(kind_of(d).unsupported(n) is None for d in devices)]
        seconds = [self.costs.seconds(shared, device, devices) for device in devices]
        stages = cut(order, devices, seconds, self._pinned, self.memory)
        if stages is None:
            return None
        return self._candidate(PlannedPlacement(devices[0], stages.devices, stages.reasons))

    def _candidate(self, placement: PlannedPlacement) -> Candidate:
        compiled = run_passes(self.program, self.shapes, placement.policy(self.policy))
        fits = all(_bytes_used(compiled, device) <= room for device, room in self.memory.items())
        return Candidate(placement, self.costs.predict(compiled), fits)


def _bytes_used(compiled: Compiled, device: str) -> int:
    """Return the bytes that ``device`` needs for variables and temporaries."""
    nodes = [node for node in compiled.order if node.device == device]
    segments = compiled.segments.get(device, [])
    temporaries = peak_bytes(segments, last_uses(segments, compiled.program.fetches))
    return bytes_of(n.output.spec for n in nodes if is_variable(n)) + temporaries


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
        text += "; the cut leaves all of it there"
    elif several.seconds < WORTHWHILE * one.seconds:
        return _concluded(several, f"{several.text}, against {text}")
    elif several.seconds < one.seconds:
        text += f"; {several.text} would save less than 10%"
    else:
        text += f", against {several.text}"
    return _concluded(one, f"one device is best: {text}")


def _concluded(candidate: Candidate, conclusion: str) -> PlannedPlacement:
    return replace(candidate.placement, conclusion=conclusion)


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.3g} ms"
