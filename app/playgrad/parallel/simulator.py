"""Simulate a step on devices that do not exist, even hundreds, over any interconnect.

The rules are the executor's: a task becomes ready when all tasks it needs have ended, and a device
runs one task after the other. Only time is simulated. Tasks take the seconds they are given, as
measured; a transfer takes a latency plus its bytes divided by the bandwidth (Hockney 1994, *The
communication challenge for MPP*).
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from playgrad.compiler.segments import Segment
from playgrad.errors import GraphError
from playgrad.runtime.measuring import least_seconds
from playgrad.runtime.runnable import Runnable
from playgrad.runtime.segments import moved_bytes
from playgrad.runtime.tasks import ReadyTable, SegmentTask
from playgrad.runtime.timeline import TRANSFERS
from playgrad.runtime.trace import Event, Trace


@dataclass(frozen=True)
class Job:
    """A unit of simulated work: receive, compute, send.

    Attributes:
        seconds: computing time, alone on the machine.
        kind: forward, gradient, update, ... as in a trace.
        after: positions of the jobs that must end before it starts.
        received, sent: bytes that its device receives before computing and sends afterwards.
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
    """The link model between all devices.

    Attributes:
        latency: seconds of each message, whatever its size.
        bandwidth: bytes per second of each device.
        sends_aside: a device that sends goes on at once, and only the one that receives waits, as
            between processes. Otherwise both are busy with the bytes.
        eager: the most bytes that a sender passes to the system at once. MPI asks the receiver
            before it sends more, and does so only while the sender does not compute.
        arrives_aside: what the system has taken arrives while the receiver computes, as over a
            network: a device sends one message after the other, and receives one after the other
            at the same time. Otherwise the receiver copies it when it comes to that.
    """

    latency: float = 0.0
    bandwidth: float = math.inf
    sends_aside: bool = False
    eager: float = math.inf
    arrives_aside: bool = False


PATIENCE = 2e-4
"""Seconds for which a member that waits looks for messages without a pause, about."""


@dataclass(frozen=True)
class Machine:
    """The hardware that the devices share.

    Attributes:
        rates: the speed of each device while 1, 2, ... devices compute, as a share of its speed
            alone on an idle machine. More devices than rates share the throughput of the last
            entry. Empty if devices share nothing.
        overhead: seconds between the moment a job has all it waits for and the moment it is ready.
        between: seconds from the last job of a step to the first one of the next step. They are not
            part of a simulation, which is of one step.
        waking: seconds until a device goes on that has waited for another one for longer than
            `PATIENCE`: it sleeps between looks, and may have to wait for a core.
        cores: how many devices can do something at once. While more compute, what a device does
            beside computing takes longer, too.
    """

    rates: tuple[float, ...] = ()
    overhead: float = 0.0
    between: float = 0.0
    waking: float = 0.0
    cores: float = math.inf

    def slowness(self, active: int) -> float:
        """Return how many times as long what a device does beside computing takes while as many
        devices are ``active``."""
        return max(1.0, active / self.cores)

    def rate(self, computing: int) -> float:
        """Return the speed of each of ``computing`` devices."""
        if not self.rates:
            return 1.0
        measured = min(computing, len(self.rates))
        return self.rates[measured - 1] * measured / computing


def simulate_jobs(
    jobs: Sequence[Job], link: Interconnect = Interconnect(), machine: Machine = Machine()
) -> Trace:
    """Return the trace of a run of ``jobs``, which starts at time 0.

    Args:
        link: the interconnect; by default transfers take no time.
        machine: the hardware; by default devices share nothing.

    Raises:
        RuntimeError: jobs wait for each other in a circle.
    """
    return _Simulation(jobs, link, machine).run()


class _Simulation:
    """A discrete-event simulation.

    A job passes through five moments, each of which brings about the next one: ready (its device's
    queue), started (receiving), received (computing), computed (sending), sent.

    All but computing take a time that is known when they begin, so their ends are timers. Computing
    slows down while more devices compute; but all that compute are equally fast. So one clock of
    work, ``worked``, serves them all: it advances at the common rate, and a job that begins to
    compute ends when that clock has advanced by the job's seconds.
    """

    def __init__(self, jobs: Sequence[Job], link: Interconnect, machine: Machine) -> None:
        self.jobs = jobs
        self.link = link
        self.machine = machine
        self.waiting = ReadyTable([job.after for job in jobs])
        self.remote = [  # the jobs of other devices that each one waits for, and has not heard of
            {before for before in job.after if jobs[before].device != job.device} for job in jobs
        ]
        self.listeners: dict[int, list[int]] = {}
        for number, before in enumerate(self.remote):
            for each in before:
                self.listeners.setdefault(each, []).append(number)
        self.heard: dict[int, float] = {}  # when a job has heard of the last of them
        self.arrival: dict[int, float] = {}
        self.link_free: dict[tuple[str, str], float] = {}  # by device and direction
        self.idle_since: dict[str, float] = {}
        self.trace = Trace()
        self.now = 0.0
        self.worked = 0.0
        self.timers: list[tuple[float, int, Callable[[int], None]]] = []  # time, job, continuation
        self.computing: list[tuple[float, int]] = []  # `worked` at the end, job
        self.queues: dict[str, deque[int]] = {job.device: deque() for job in jobs}
        self.busy: set[str] = set()
        self.computes: set[str] = set()  # devices
        self.held: list[int] = []  # jobs whose senders compute
        self.ready_at: dict[int, float] = {}
        self.phase_start: dict[int, float] = {}

    def run(self) -> Trace:
        for number in self.waiting.first():
            self._after(self._shared(self.machine.overhead), number, self._ready)
        while self.timers or self.computing:
            self._advance()
        if self.waiting.left:
            raise RuntimeError("jobs wait for each other in a circle")
        return self.trace

    def _advance(self) -> None:
        """Go to the next moment at which something happens."""
        rate, computed_at = 1.0, math.inf
        if self.computing:
            rate = self.machine.rate(len(self.computing))
            computed_at = self.now + max(0.0, self.computing[0][0] - self.worked) / rate
        if self.timers and self.timers[0][0] <= computed_at:
            time, number, follow = heapq.heappop(self.timers)
            self.worked += (time - self.now) * rate
            self.now = time
            follow(number)
        else:
            self.worked, number = heapq.heappop(self.computing)
            self.now = computed_at
            self._computed(number)

    def _after(self, seconds: float, number: int, follow: Callable[[int], None]) -> None:
        # A job has one timer at a time: no two entries have equal time and number.
        heapq.heappush(self.timers, (self.now + seconds, number, follow))

    def _shared(self, seconds: float) -> float:
        """Return how long a device takes for ``seconds`` of work beside those that compute now."""
        return seconds * self.machine.slowness(len(self.computing) + 1)

    def _ready(self, number: int) -> None:
        device = self.jobs[number].device
        self.ready_at[number] = self.now
        self.queues[device].append(number)
        self._start_next(device)

    def _start_next(self, device: str) -> None:
        if device in self.busy or not self.queues[device]:
            return
        number = self.queues[device].popleft()
        self.busy.add(device)
        self.phase_start[number] = self.now
        if self._is_held(number):
            self.held.append(number)
        else:
            self._receive(number)

    def _receive(self, number: int) -> None:
        seconds = self._passed(self.jobs[number].received / self.link.bandwidth)
        if number in self.arrival:
            seconds = max(0.0, self.arrival[number] - self.now)
        self._after(seconds, number, self._received)

    def _passed(self, seconds: float) -> float:
        """Return how long a message of ``seconds`` takes now: within a machine, it is copied."""
        return seconds if self.link.arrives_aside else self._shared(seconds)

    def _note_sent(self, number: int) -> None:
        """Note that a job has sent: what others need of it alone is on its way to them."""
        for listener in self.listeners.get(number, ()):
            self.remote[listener].discard(number)
            self.heard[listener] = self.now + self._passed(self.link.latency)
            job = self.jobs[listener]
            is_taken = self.link.arrives_aside and 0 < job.received <= self.link.eager
            if is_taken and not self.remote[listener]:
                directions = (self.jobs[number].device, "out"), (job.device, "in")
                begins = max(self.now, *(self.link_free.get(each, 0.0) for each in directions))
                end = begins + job.received / self.link.bandwidth
                self.link_free |= dict.fromkeys(directions, end)
                self.arrival[listener] = end + self.link.latency

    def _is_held(self, number: int) -> bool:
        """Return whether what a job receives cannot be sent yet, since a sender computes."""
        job = self.jobs[number]
        return job.received > self.link.eager and any(
            self.jobs[before].device in self.computes - {job.device} for before in job.after
        )

    def _received(self, number: int) -> None:
        job = self.jobs[number]
        self._record(number, "receive", job.received)
        self.computes.add(job.device)
        heapq.heappush(self.computing, (self.worked + job.seconds, number))

    def _computed(self, number: int) -> None:
        job = self.jobs[number]
        self._record(number, job.kind)
        self.computes.discard(job.device)
        held, self.held = self.held, []
        for each in held:
            if self._is_held(each):
                self.held.append(each)
            else:
                self._receive(each)
        seconds = 0.0 if self.link.sends_aside else job.sent / self.link.bandwidth
        self._after(seconds, number, self._sent)

    def _sent(self, number: int) -> None:
        job = self.jobs[number]
        self._record(number, "send", job.sent)
        self._note_sent(number)
        self.busy.discard(job.device)
        self.idle_since[job.device] = self.now
        for follower in self.waiting.finished(number):
            self._after(self._delay(follower), follower, self._ready)
        self._start_next(job.device)

    def _delay(self, number: int) -> float:
        """Return the seconds from the end of the last job that a job needs until it is ready."""
        job = self.jobs[number]
        on_its_way = self.heard.get(number, 0.0) - self.now
        if on_its_way < 0 or number not in self.heard:
            return self._shared(self.machine.overhead)
        waited = self.now + on_its_way - self.idle_since.get(job.device, 0.0)
        is_asleep = job.device not in self.busy and waited > PATIENCE
        waking = self.machine.waking if is_asleep else 0.0
        return self._shared(self.machine.overhead) + on_its_way + waking

    def _record(self, number: int, kind: str, size: int = 0) -> None:
        """Add the phase of a job that ends now to the trace, and begin the next one."""
        job, start = self.jobs[number], self.phase_start[number]
        self.phase_start[number] = self.now
        if size or kind not in TRANSFERS:
            event = Event(job.name, job.device, self.ready_at[number], start, self.now, kind, size)
            self.trace.events.append(event)


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
