"""What a compiled program will take, by measured times and the simulator."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from playgrad.compiler.compile import Compiled
from playgrad.compiler.segments import Segment
from playgrad.compiler.split import sender_of
from playgrad.devices import registry
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable
from playgrad.parallel.placement.kernel_times import KernelTimes, Kind
from playgrad.parallel.placement.links import DeviceLink, Links
from playgrad.parallel.simulator import Interconnect, Job, Machine, simulate_jobs
from playgrad.runtime.segments import moved_bytes

_WAITING = ("constant", "placeholder")


@dataclass(frozen=True)
class Prediction:
    """Of one run.

    Attributes:
        seconds: from its beginning to its end.
        devices: that take part.
        bytes_moved: between them.
    """

    seconds: float
    devices: tuple[str, ...]
    bytes_moved: int = 0


class CostModel:
    """What operations and transfers take here. Measured when first asked for, then remembered."""

    def __init__(self) -> None:
        self.times = KernelTimes()
        self.links = Links()

    def seconds(
        self, nodes: Sequence[Node], device: str, devices: Sequence[str]
    ) -> dict[Node, float]:
        """What each of ``nodes`` takes on ``device`` while all of ``devices`` are at work."""
        together = sum(name.startswith("cpu") for name in devices)
        if device.startswith("cpu"):
            return self.times.seconds(nodes, Kind("cpu:0", together))
        return self.times.seconds(nodes, Kind(device))

    def predict(self, compiled: Compiled) -> Prediction:
        """What a run of ``compiled`` will take."""
        devices = tuple(sorted({node.device for node in compiled.order if node.device}))
        if not compiled.segments:
            return Prediction(self._one_by_one(compiled.order), devices)
        seconds: dict[Node, float] = {}
        for device in devices:
            own = [node for node in compiled.order if node.device == device]
            seconds.update(self.seconds(own, device, devices))
        links = self._links(compiled.order)
        latency = max((link.latency for link in links), default=0.0)
        jobs = _jobs(compiled, seconds, latency)
        # The simulator has the same link for all, and both ends are busy with a transfer, one after
        # the other.
        slowest = min((link.bandwidth for link in links), default=math.inf)
        trace = simulate_jobs(jobs, Interconnect(latency, 2 * slowest), Machine(_rates(devices)))
        end = max((event.end for event in trace.events), default=0.0)
        end += max((link.start for link in links), default=0.0)
        return Prediction(end, devices, sum(job.received for job in jobs))

    def _one_by_one(self, order: Sequence[Node]) -> float:
        """A lone processor, whose operations have all its cores. That it shares out some among
        threads is left out: it wins with some programs what it loses with others."""
        alone = self.seconds(order, "cpu:0", ("cpu:0",))
        return math.fsum(alone.values()) + self.times.overhead * len(order)

    def _links(self, order: Sequence[Node]) -> list[DeviceLink]:
        pairs = {
            (sender_of(node.attrs["channel"]), node.device)
            for node in order
            if node.op.name == "receive" and node.device
        }
        return [self.links.between(*pair) for pair in sorted(pairs)]


def _rates(devices: Sequence[str]) -> tuple[float, ...]:
    """How fast ``devices`` are while so many of them compute: equally fast as long as each has a
    core. What they do to each other's memory is in the measured times. Empty in a page, where each
    has a worker, and how many cores there are is not known for sure."""
    if sys.platform == "emscripten":
        return ()
    hardware = {entry["device"] for entry in registry.list_devices() if not entry["software"]}
    own = sum(name in hardware and name.startswith("gpu") for name in devices)
    return (1.0,) * ((os.cpu_count() or 1) + own)


def _jobs(compiled: Compiled, seconds: Mapping[Node, float], begin: float) -> list[Job]:
    """The segments of ``compiled``, and what a lone processor does node by node, as jobs.

    Args:
        begin: seconds that it takes to begin a segment, if it waits for no message anyhow.
    """
    segments = {
        node: segment
        for own in compiled.segments.values()
        for segment in own
        for node in segment.nodes
    }
    number: dict[Node, int] = {}
    groups: list[tuple[Segment | None, list[Node]]] = []
    first: dict[int, int] = {}
    for node in compiled.order:
        segment = segments.get(node)
        if segment is not None and id(segment) in first:
            number[node] = first[id(segment)]
        elif segment is not None or not (node.op.name in _WAITING or is_variable(node)):
            number[node] = len(groups)
            groups.append((segment, segment.nodes if segment else [node]))
            if segment is not None:
                first[id(segment)] = number[node]
    jobs = []
    for place, (segment, nodes) in enumerate(groups):
        before = {number[b] for node in nodes for b in node.predecessors if b in number} - {place}
        if segment is not None and segment.index:
            before.add(first[id(compiled.segments[segment.device][segment.index - 1])])
        own = segment or Segment(nodes[0].device or "cpu:0", 0, nodes)
        moved = moved_bytes(own)
        time = math.fsum(seconds[node] for node in nodes)
        if segment is not None and all(groups[b][1][0].device == own.device for b in before):
            time += begin
        jobs.append(
            Job(own.name, own.device, time, own.kind, tuple(sorted(before)), *moved.values())
        )
    return jobs
