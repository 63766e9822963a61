"""Simulates steps on devices that are not there: hundreds of them, joined by any link.

The rules are those of the executor: a task begins once all that it needs has ended, and a device
does one task after the other. Only time is not real: what a task takes is said beforehand, as
measured, and what a transfer takes follows from its size and the link (Hockney 1994).
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from playgrad.compiler.segments import Segment
from playgrad.errors import GraphError
from playgrad.runtime.measuring import least_seconds
from playgrad.runtime.ready import ReadyTable
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.segments import moved_bytes
from playgrad.runtime.tasks import SegmentTask
from playgrad.runtime.timeline import TRANSFERS
from playgrad.runtime.trace import Event, Trace


@dataclass(frozen=True)
class Job:
    """A task of the simulation.

    Attributes:
        seconds: of computing.
        kind: forward, gradient, update, ...: as in a trace.
        after: positions of the jobs that must end before.
        received, sent: bytes that its device takes in before and gives out after.
    """

    name: str
    device: str
    seconds: float
    kind: str
    after: tuple[int, ...] = ()
    received: int = 0
    sent: int = 0


@dataclass(frozen=True)
class Interconnect:
    """What joins the devices.

    Attributes:
        latency: seconds of each message, whatever its size.
        bandwidth: bytes a second of each device.
    """

    latency: float = 0.0
    bandwidth: float = math.inf


@dataclass(frozen=True)
class Machine:
    """What the devices are part of.

    Attributes:
        rates: how fast a device computes while 1, 2, ... of them do: 1 is as fast as alone on a
            machine that has no other work. Where even more compute, they share what so many get
            done. Empty where nothing is shared.
        overhead: seconds that every job takes to begin, once there is nothing left that it waits
            for.
    """

    rates: tuple[float, ...] = ()
    overhead: float = 0.0

    def rate(self, computing: int) -> float:
        """How fast each of ``computing`` devices is."""
        if not self.rates:
            return 1.0
        known = min(computing, len(self.rates))
        return self.rates[known - 1] * known / computing


def simulate_jobs(
    jobs: Sequence[Job], link: Interconnect = Interconnect(), machine: Machine = Machine()
) -> Trace:
    """When each job would run, as a trace that begins at 0.

    Args:
        link: what joins the devices; transfers take no time unless it says so.
        machine: what the devices are part of; each is one by itself unless it says so.
    """
    return _Simulation(jobs, link, machine).run()


class _Simulation:
    def __init__(self, jobs: Sequence[Job], link: Interconnect, machine: Machine) -> None:
        self.jobs = jobs
        self.link = link
        self.machine = machine
        self.table = ReadyTable([job.after for job in jobs])
        self.trace = Trace()
        self.now = 0.0
        self.queues: dict[str, deque[int]] = {job.device: deque() for job in jobs}
        self.busy: set[str] = set()
        self.queued: dict[int, float] = {}
        self.timers: list[tuple[float, int, str]] = []  # when, job, what happens then
        # Those that compute are all equally fast. So each has done its work when the work that one
        # of them would have done since the beginning comes to a number known when it begins.
        self.work = 0.0
        self.computing: list[tuple[float, int]] = []  # that number, job
        self.started: dict[int, float] = {}

    def run(self) -> Trace:
        for number in self.table.first():
            self._at(self.machine.overhead, number, "arrived")
        while self.timers or self.computing:
            self._next()
        if self.table.left:
            raise RuntimeError("jobs wait for each other in a circle")
        return self.trace

    def _next(self) -> None:
        """Go on to the next moment at which something happens."""
        rate, first = 1.0, math.inf
        if self.computing:
            rate = self.machine.rate(len(self.computing))
            first = self.now + max(0.0, self.computing[0][0] - self.work) / rate
        if self.timers and self.timers[0][0] <= first:
            when, number, what = heapq.heappop(self.timers)
            self.work += (when - self.now) * rate
            self.now = when
            {"arrived": self._arrived, "received": self._received, "sent": self._sent}[what](number)
        else:
            self.work, number = heapq.heappop(self.computing)
            self.now = first
            self._computed(number)

    def _at(self, seconds: float, number: int, what: str) -> None:
        heapq.heappush(self.timers, (self.now + seconds, number, what))

    def _arrived(self, number: int) -> None:
        """All that the job needs is there."""
        device = self.jobs[number].device
        self.queued[number] = self.now
        self.queues[device].append(number)
        self._start(device)

    def _start(self, device: str) -> None:
        if device in self.busy or not self.queues[device]:
            return
        number = self.queues[device].popleft()
        self.busy.add(device)
        self.started[number] = self.now
        self._at(self.jobs[number].received / self.link.bandwidth, number, "received")

    def _received(self, number: int) -> None:
        self._note(number, "receive", self.started[number], self.jobs[number].received)
        self.started[number] = self.now
        heapq.heappush(self.computing, (self.work + self.jobs[number].seconds, number))

    def _computed(self, number: int) -> None:
        self._note(number, self.jobs[number].kind, self.started[number])
        self.started[number] = self.now
        self._at(self.jobs[number].sent / self.link.bandwidth, number, "sent")

    def _sent(self, number: int) -> None:
        job = self.jobs[number]
        self._note(number, "send", self.started[number], job.sent)
        for follower in self.table.finished(number):
            self._at(self._delay(follower), follower, "arrived")
        self.busy.discard(job.device)
        self._start(job.device)

    def _delay(self, number: int) -> float:
        """Seconds from the end of the last job that another waits for to its arrival."""
        job = self.jobs[number]
        far = any(self.jobs[before].device != job.device for before in job.after)
        return self.machine.overhead + (self.link.latency if far else 0.0)

    def _note(self, number: int, kind: str, start: float, size: int = 0) -> None:
        job = self.jobs[number]
        if kind in ("receive", "send") and not size:
            return
        self.trace.events.append(
            Event(job.name, job.device, self.queued[number], start, self.now, kind, size)
        )


def segment_job(segment: Segment, seconds: float, after: Sequence[int]) -> Job:
    """Return ``segment`` as a job of ``seconds``, after the jobs at positions ``after``."""
    moved = moved_bytes(segment)
    return Job(
        segment.name,
        segment.device,
        seconds,
        segment.kind,
        tuple(after),
        moved["receive"],
        moved["send"],
    )


def jobs_of(runnable: Runnable, seconds: Mapping[str, float]) -> list[Job]:
    """Return the segments of a program on several devices as jobs.

    Args:
        seconds: by the segment's name; see `measured`.

    Raises:
        GraphError: part of the program runs node by node, on a lone processor.
    """
    jobs = []
    for task in runnable.tasks:
        if not isinstance(task, SegmentTask) or task.segment is None:
            raise GraphError(f"'{task.name}' is not part of a segment.")
        jobs.append(segment_job(task.segment, seconds[task.segment.name], task.after))
    return jobs


def measured(traces: Sequence[Trace]) -> dict[str, float]:
    """Return the least computing time of each segment, by name, in traces of one program."""
    return least_seconds(
        traces, lambda event: None if event.kind in (*TRANSFERS, "delay") else event.name
    )
