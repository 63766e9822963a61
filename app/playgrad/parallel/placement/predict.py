"""Predicts how long a compiled program takes, from measured times and the simulator."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from playgrad.compiler.compile import Compiled
from playgrad.compiler.segments import Segment
from playgrad.compiler.split import sender_of
from playgrad.compiler.task_table import task_table
from playgrad.devices import registry
from playgrad.devices.kinds import HOST, kind_of
from playgrad.graph.tensor import Node
from playgrad.parallel.placement.links import Links
from playgrad.parallel.placement.operation_times import OperationTimes
from playgrad.parallel.simulator import Interconnect, Job, Machine, segment_job, simulate_jobs


@dataclass(frozen=True)
class Prediction:
    """The predicted cost of one run.

    Attributes:
        seconds: from the beginning of the run to its end.
        devices: the devices that take part.
        bytes_moved: between devices.
    """

    seconds: float
    devices: tuple[str, ...]
    bytes_moved: int = 0


class CostModel:
    """Times of operations and transfers on this machine, each measured when first needed."""

    def __init__(self) -> None:
        self.times = OperationTimes()
        self.links = Links()

    def seconds(
        self, nodes: Sequence[Node], device: str, devices: Sequence[str]
    ) -> dict[Node, float]:
        """Return the seconds of each of ``nodes`` on ``device`` while all ``devices`` compute."""
        if not kind_of(device).on_cores:
            return self.times.seconds(nodes, device)
        return self.times.seconds(nodes, HOST, sum(kind_of(name).on_cores for name in devices))

    def predict(self, compiled: Compiled) -> Prediction:
        """Predict a run of ``compiled``."""
        devices = tuple(sorted({node.device for node in compiled.order if node.device}))
        if not compiled.segments:
            # A lone processor. Threads that share its operations are left out: some programs gain
            # from them what others lose.
            alone = self.seconds(compiled.order, HOST, (HOST,))
            overhead = self.times.overhead * len(compiled.order)
            return Prediction(math.fsum(alone.values()) + overhead, devices)
        seconds: dict[Node, float] = {}
        for device in devices:
            nodes = [node for node in compiled.order if node.device == device]
            seconds.update(self.seconds(nodes, device, devices))
        pairs = {
            (sender_of(node.attrs["channel"]), node.device)
            for node in compiled.order
            if node.op.name == "receive" and node.device
        }
        links = [self.links.between(*pair) for pair in sorted(pairs)]
        latency = max((link.latency for link in links), default=0.0)
        # The simulator has one link model for all, and keeps both ends busy with a transfer, one
        # after the other.
        bandwidth = 2 * min((link.bandwidth for link in links), default=math.inf)
        jobs = _jobs(compiled, seconds, latency)
        trace = simulate_jobs(jobs, Interconnect(latency, bandwidth), Machine(_rates(devices)))
        end = max((event.end for event in trace.events), default=0.0)
        end += max((link.start for link in links), default=0.0)
        return Prediction(end, devices, sum(job.received for job in jobs))


def _rates(devices: Sequence[str]) -> tuple[float, ...]:
    """Return how fast each device is while 1, 2, ... of them compute: equally fast as long as each
    has a core or is a hardware GPU. How they slow each other's memory down is in the measured
    times. Empty in a page, where the number of cores is not reliable."""
    if sys.platform == "emscripten":
        return ()
    hardware = {entry["device"] for entry in registry.list_devices() if not entry["software"]}
    gpus = sum(name in hardware and not kind_of(name).on_cores for name in devices)
    return (1.0,) * ((os.cpu_count() or 1) + gpus)


def _jobs(compiled: Compiled, seconds: Mapping[Node, float], latency: float) -> list[Job]:
    """Return the tasks of ``compiled`` as jobs.

    Args:
        latency: seconds to start a segment; a segment that receives from another device waits for
            the link's latency instead.
    """
    table = task_table(compiled.order, compiled.segments)
    jobs = []
    for task in table:
        time = math.fsum(seconds[node] for node in task.nodes)
        local = all(table[before].device == task.device for before in task.after)
        if local and task.segment is not None:
            time += latency
        segment = task.segment or Segment(task.device, 0, list(task.nodes))
        jobs.append(segment_job(segment, time, task.after))
    return jobs
