"""Steps on any number of devices as jobs of the simulator, from what one device was measured to do.

No graph is made for them: hundreds of copies of it would say nothing new. But the jobs are those
of the graphs that strategies make: a device has as many tasks, and they wait for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from playgrad.errors import GraphError
from playgrad.parallel.schedules import Orders, Pass
from playgrad.parallel.simulator import Job

BUCKET_BYTES = 1 << 20
"""Gradients are added up in buckets of at least so many bytes, as `DataParallel` does."""


@dataclass(frozen=True)
class StageCost:
    """What one stage (or a whole network) costs for one micro-batch (or a device's share).

    Attributes:
        forward, backward: seconds of a micro-batch.
        update: seconds, once a step.
        parameters: bytes of its gradients.
        activations: bytes of a micro-batch that it hands to the next stage.
        input: seconds to find the samples of a step.
        adding: seconds to add its gradients to those of another device.
    """

    forward: float
    backward: float
    update: float
    parameters: int
    activations: int = 0
    input: float = 0.0
    adding: float = 0.0


class _Jobs:
    """Jobs under construction; each device does its own one after the other.

    Args:
        joined: what waits for no other device is one job with what was before it, as the compiler
            has it where there are no tasks.
    """

    def __init__(self, joined: bool = False) -> None:
        self.joined = joined
        self.list: list[Job] = []
        self.last: dict[int, int] = {}

    def add(
        self,
        device: int,
        name: str,
        kind: str,
        seconds: float = 0.0,
        after: Sequence[int] = (),
        received: int = 0,
        sent: int = 0,
    ) -> int:
        """One more job of ``device``; its position."""
        last = self.last.get(device)
        if self.joined and last is not None and not after:
            whole = self.list[last]
            if seconds > whole.seconds:
                whole = replace(whole, name=name, kind=kind)
            self.list[last] = replace(
                whole, seconds=self.list[last].seconds + seconds, sent=whole.sent + sent
            )
            return last
        before = {*after} if last is None else {*after, last}
        number = self.last[device] = len(self.list)
        self.list.append(
            Job(name, f"device:{device}", seconds, kind, tuple(sorted(before)), received, sent)
        )
        return number


def data_parallel_jobs(cost: StageCost, devices: int, collective: str = "ring") -> list[Job]:
    """A synchronous step: each device computes for its share, and all add up their gradients, a
    bucket when the next one has been computed.

    Args:
        cost: of the whole network for one device's share of the batch.
        collective: "ring", "tree" or "central".

    Raises:
        GraphError: there is no such collective.
    """
    if collective not in _COLLECTIVES:
        known = ", ".join(_COLLECTIVES)
        raise GraphError(f"there is no collective {collective!r}: there are {known}.")
    add_up = _COLLECTIVES[collective]
    everyone = range(devices)
    buckets = max(1, cost.parameters // BUCKET_BYTES) if devices > 1 else 1
    jobs = _Jobs(joined=buckets == 1)
    size = -(-cost.parameters // buckets)
    for device in everyone:
        jobs.add(device, "input", "input", cost.input)
        jobs.add(device, "forward", "forward", cost.forward)
    for bucket in range(buckets):
        for device in everyone:
            jobs.add(device, f"backward {bucket}", "gradient", cost.backward / buckets)
        if bucket:
            add_up(jobs, devices, size, cost.adding / buckets)
    if devices > 1:
        add_up(jobs, devices, size, cost.adding / buckets)
    for device in everyone:
        jobs.add(device, "update", "update", cost.update)
    return jobs.list


def _ring(jobs: _Jobs, devices: int, size: int, adding: float) -> None:
    """Everyone hands a part on to the next, 2 (n - 1) times (Patarasuk and Yuan 2009)."""
    everyone = range(devices)
    part = -(-size // devices)
    ends = [jobs.add(device, "ring", "update", sent=part) for device in everyone]
    rounds = 2 * (devices - 1)
    for number in range(1, rounds + 1):
        passed_on = part if number < rounds else 0
        ends = [
            jobs.add(
                device, f"ring {number}", "update", adding / devices,
                (ends[device - 1],), part, passed_on,
            )
            for device in everyone
        ]  # fmt: skip


def _transfer(
    jobs: _Jobs, name: str, sender: int, receiver: int, size: int, adding: float = 0.0
) -> None:
    """``receiver`` gets ``size`` bytes from ``sender``, and may add them to its own."""
    out = jobs.add(sender, name, "update", sent=size)
    jobs.add(receiver, name, "update", adding, (out,), received=size)


def _tree(jobs: _Jobs, devices: int, size: int, adding: float) -> None:
    """In pairs towards the first, and back."""
    reach = 1
    while reach < devices:
        for place in range(0, devices - reach, 2 * reach):
            _transfer(jobs, "reduce", place + reach, place, size, adding)
        reach *= 2
    while reach > 1:
        reach //= 2
        for place in range(0, devices - reach, 2 * reach):
            _transfer(jobs, "copy", place, place + reach, size)


def _central(jobs: _Jobs, devices: int, size: int, adding: float) -> None:
    """All to the first, and back."""
    for place in range(1, devices):
        _transfer(jobs, "reduce", place, 0, size, adding)
    for place in range(1, devices):
        _transfer(jobs, "copy", 0, place, size)


_COLLECTIVES: dict[str, Callable[[_Jobs, int, int, float], None]] = {
    "ring": _ring,
    "tree": _tree,
    "central": _central,
}


def pipeline_jobs(costs: Sequence[StageCost], orders: Orders) -> list[Job]:
    """A synchronous step of a pipeline.

    Args:
        costs: of each stage, for one micro-batch.
        orders: for each device its passes; see `playgrad.parallel.schedules`. One stream.
    """
    jobs = _Jobs()
    place: dict[Pass, int] = {}
    for order in orders:
        for entry in order:
            place[entry] = 1 + len(place)
    device_of = {entry.stage: device for device, order in enumerate(orders) for entry in order}
    first = device_of[0]
    jobs.add(first, "input", "input", costs[0].input)
    for device, order in enumerate(orders):
        for entry in order:
            _pass(jobs, costs, entry, device, device_of, place)
    # The task that updates the first stage also decides whether the step counts, and for all.
    seconds = [sum(costs[stage].update for stage in {e.stage for e in order}) for order in orders]
    decided = jobs.add(first, "update", "update", seconds[first])
    for device in range(len(orders)):
        if device != first:
            jobs.add(device, "update", "update", seconds[device], (decided,))
    return jobs.list


def _pass(
    jobs: _Jobs,
    costs: Sequence[StageCost],
    entry: Pass,
    device: int,
    device_of: dict[int, int],
    place: dict[Pass, int],
) -> None:
    """Add the job of ``entry``.

    Args:
        device_of: the device of each stage.
        place: where the job of each pass is, or will be.
    """
    stage, cost = entry.stage, costs[entry.stage]
    before = costs[stage - 1].activations if stage else 0
    source, target = (stage + 1, stage - 1) if entry.backward else (stage - 1, stage + 1)
    received, sent = (cost.activations, before) if entry.backward else (before, cost.activations)
    needed = [place[entry._replace(backward=False)]] if entry.backward else []
    if source in device_of:
        needed.append(place[entry._replace(stage=source)])
    jobs.add(
        device,
        f"{'backward' if entry.backward else 'forward'} {entry.micro_batch}",
        "gradient" if entry.backward else "forward",
        cost.backward if entry.backward else cost.forward,
        needed,
        received if device_of.get(source, device) != device else 0,
        sent if device_of.get(target, device) != device else 0,
    )
