"""Training steps on any number of devices, as jobs for the simulator.

Costs are measured on one device. No graph is built, as hundreds of copies of it would show nothing
new; but each device gets the same jobs as the strategy's graph has tasks, with the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from playgrad.errors import GraphError
from playgrad.parallel.passes import INPUTS, WEIGHTS, Orders, Pass
from playgrad.parallel.simulator import Job

BUCKET_BYTES = 1 << 20
"""The least bytes of a bucket of gradients, as in `DataParallel`."""


@dataclass(frozen=True)
class StageCost:
    """The costs of one stage for one micro-batch, or of a whole network for one replica's share.

    Attributes:
        forward, backward: seconds of one pass.
        update: seconds per step.
        parameters: bytes of its gradients.
        activations: bytes per micro-batch passed on to the next stage.
        input: seconds per step to gather the samples.
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
    """Jobs under construction; each device runs its jobs in the order they are added.

    Args:
        joined: merge a job that waits for no other device into its device's job before it, as the
            compiler does with nodes outside of tasks.
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
        """Add a job to ``device`` and return its position."""
        last = self.last.get(device)
        if self.joined and last is not None and not after:
            merged = self.list[last]
            if seconds > merged.seconds:  # named after its longest part
                merged = replace(merged, name=name, kind=kind)
            total = self.list[last].seconds + seconds
            self.list[last] = replace(merged, seconds=total, sent=merged.sent + sent)
            return last
        before = {*after} if last is None else {*after, last}
        number = self.last[device] = len(self.list)
        self.list.append(
            Job(name, f"device:{device}", seconds, kind, tuple(sorted(before)), received, sent)
        )
        return number


def data_parallel_jobs(cost: StageCost, devices: int, collective: str = "ring") -> list[Job]:
    """Return a synchronous data-parallel step.

    Each device computes the gradients of its share of the batch. They are all-reduced bucket by
    bucket, each one while the next is being computed.

    Args:
        cost: of the whole network for one device's share.
        collective: "ring", "tree" or "central".

    Raises:
        GraphError: there is no such collective.
    """
    if collective not in _COLLECTIVES:
        known = ", ".join(_COLLECTIVES)
        raise GraphError(f"there is no collective {collective!r}.", hint=f"Available: {known}.")
    all_reduce = _COLLECTIVES[collective]
    buckets = max(1, cost.parameters // BUCKET_BYTES) if devices > 1 else 1
    jobs = _Jobs(joined=buckets == 1)
    size = -(-cost.parameters // buckets)
    for device in range(devices):
        jobs.add(device, "input", "input", cost.input)
        jobs.add(device, "forward", "forward", cost.forward)
    for bucket in range(buckets):
        for device in range(devices):
            jobs.add(device, f"backward {bucket}", "gradient", cost.backward / buckets)
        if bucket:  # the bucket before this one
            all_reduce(jobs, devices, size, cost.adding / buckets)
    if devices > 1:
        all_reduce(jobs, devices, size, cost.adding / buckets)
    for device in range(devices):
        jobs.add(device, "update", "update", cost.update)
    return jobs.list


def _ring(jobs: _Jobs, devices: int, size: int, adding: float) -> None:
    """All-reduce in a ring (Patarasuk and Yuan 2009): in each of 2 (n − 1) rounds every device
    passes an n-th of the bytes on to the next device."""
    part = -(-size // devices)
    ends = [jobs.add(device, "ring", "update", sent=part) for device in range(devices)]
    rounds = 2 * (devices - 1)
    for number in range(1, rounds + 1):
        sent = part if number < rounds else 0
        ends = [
            jobs.add(
                device, f"ring {number}", "update", adding / devices,
                (ends[device - 1],), part, sent,
            )
            for device in range(devices)
        ]  # fmt: skip


def _send(
    jobs: _Jobs, name: str, sender: int, receiver: int, size: int, adding: float = 0.0
) -> None:
    """Send ``size`` bytes, which the receiver may add to its own."""
    sent = jobs.add(sender, name, "update", sent=size)
    jobs.add(receiver, name, "update", adding, (sent,), received=size)


def _tree(jobs: _Jobs, devices: int, size: int, adding: float) -> None:
    """Reduce in pairs towards the first device, and broadcast back."""
    distance = 1
    while distance < devices:
        for place in range(0, devices - distance, 2 * distance):
            _send(jobs, "reduce", place + distance, place, size, adding)
        distance *= 2
    while distance > 1:
        distance //= 2
        for place in range(0, devices - distance, 2 * distance):
            _send(jobs, "copy", place, place + distance, size)


def _central(jobs: _Jobs, devices: int, size: int, adding: float) -> None:
    """Send all gradients to the first device, and the sum back."""
    for place in range(1, devices):
        _send(jobs, "reduce", place, 0, size, adding)
    for place in range(1, devices):
        _send(jobs, "copy", 0, place, size)


_COLLECTIVES: dict[str, Callable[[_Jobs, int, int, float], None]] = {
    "ring": _ring,
    "tree": _tree,
    "central": _central,
}


def pipeline_jobs(costs: Sequence[StageCost], orders: Orders) -> list[Job]:
    """Return a synchronous step of a pipeline.

    Args:
        costs: of each stage, for one micro-batch.
        orders: the passes of each device; see `playgrad.parallel.schedules`. One stream only.
    """
    jobs = _Jobs()
    # The job of each pass has this position, as the input comes first.
    passes = [entry for order in orders for entry in order]
    position = {entry: number for number, entry in enumerate(passes, start=1)}
    device_of = {entry.stage: device for device, order in enumerate(orders) for entry in order}
    first = device_of[0]
    jobs.add(first, "input", "input", costs[0].input)
    for entry in passes:
        _add_pass(jobs, costs, entry, device_of, position)
    # The task that updates the first stage decides for all stages whether the step counts.
    seconds = [sum(costs[stage].update for stage in {e.stage for e in order}) for order in orders]
    decision = jobs.add(first, "update", "update", seconds[first])
    for device in range(len(orders)):
        if device != first:
            jobs.add(device, "update", "update", seconds[device], (decision,))
    return jobs.list


def _add_pass(
    jobs: _Jobs,
    costs: Sequence[StageCost],
    entry: Pass,
    device_of: Mapping[int, int],
    position: Mapping[Pass, int],
) -> None:
    """Add the job of ``entry``, which receives from one neighbouring stage and sends to the other.

    Args:
        device_of: the device of each stage.
        position: the position of each pass's job, present or future.
    """
    stage, cost, device = entry.stage, costs[entry.stage], device_of[entry.stage]
    before = costs[stage - 1].activations if stage else 0
    if entry.part == WEIGHTS:  # half of the backward pass, which exchanges nothing
        needed = [position[entry._replace(part=INPUTS)]]
        jobs.add(device, f"weights {entry.micro_batch}", "gradient", cost.backward / 2, needed)
        return
    if entry.backward:
        name, kind, seconds = f"backward {entry.micro_batch}", "gradient", cost.backward
        seconds /= 2 if entry.part else 1
        source, target, received, sent = stage + 1, stage - 1, cost.activations, before
        needed = [position[entry._replace(backward=False, part="")]]
    else:
        name, kind, seconds = f"forward {entry.micro_batch}", "forward", cost.forward
        source, target, received, sent = stage - 1, stage + 1, before, cost.activations
        needed = []
    if source in device_of:
        needed.append(position[entry._replace(stage=source)])
    jobs.add(
        device,
        name,
        kind,
        seconds,
        needed,
        received if device_of.get(source, device) != device else 0,
        sent if device_of.get(target, device) != device else 0,
    )
