"""Training steps on any number of devices, as jobs for the simulator.

Costs are measured on one device. No graph is built, as hundreds of copies of it would show nothing
new; but each device gets the same jobs as the strategy's graph has tasks, with the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from playgrad.errors import GraphError
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
        adding: seconds to add its gradients to another device's.
        divided: the share of its work, and of its parameters, that the devices of a stage divide
            among themselves, if it has several.
        exchanges: how often in a pass they copy inputs to all and add up results.
        exchanged: bytes of such a copy, or of a result.
    """

    forward: float
    backward: float
    update: float
    parameters: int
    activations: int = 0
    input: float = 0.0
    adding: float = 0.0
    divided: float = 0.0
    exchanges: int = 0
    exchanged: int = 0

    def share(self, number: int, width: int) -> float:
        """Return the share of its weights on device ``number`` of the ``width`` of its stage."""
        divided = self.divided if self.exchanges and width > 1 else 0.0
        return divided / width + (0.0 if number else 1.0 - divided)


class Jobs:
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
        cost: the cost of the whole network for one device's share.
        collective: "ring", "tree" or "central".

    Raises:
        GraphError: there is no such collective.
    """
    expect_collective(collective)
    everyone = list(range(devices))
    buckets = max(1, cost.parameters // BUCKET_BYTES) if devices > 1 else 1
    jobs = Jobs(joined=buckets == 1)
    size = -(-cost.parameters // buckets)
    for device in range(devices):
        jobs.add(device, "input", "input", cost.input)
        jobs.add(device, "forward", "forward", cost.forward)
    share = cost.adding / buckets
    full: list[dict[int, int]] = []  # for each bucket the jobs after which it is
    for bucket in range(buckets):
        name, seconds = f"backward {bucket}", cost.backward / buckets
        full.append({device: jobs.add(device, name, "gradient", seconds) for device in everyone})
        if bucket:  # the bucket before this one
            all_reduce(jobs, everyone, size, share, collective, full[-2])
    if devices > 1:
        all_reduce(jobs, everyone, size, share, collective, full[-1])
    for device in range(devices):
        jobs.add(device, "update", "update", cost.update)
    return jobs.list


def expect_collective(name: str) -> None:
    """Raise GraphError unless there is a collective of this name."""
    if name not in _COLLECTIVES:
        known = ", ".join(_COLLECTIVES)
        raise GraphError(f"there is no collective {name!r}.", hint=f"Available: {known}.")


def all_reduce(
    jobs: Jobs,
    devices: Sequence[int],
    size: int,
    adding: float,
    collective: str,
    full: Mapping[int, int] | None = None,
) -> None:
    """Add an all-reduce of ``size`` bytes over ``devices``.

    Args:
        adding: seconds to add as many bytes to another device's.
        full: for each device the job at whose end they are there, if that is not its last one.
            Whole tensors leave then, whatever the device does next; rings cut them first.
    """
    expect_collective(collective)
    if len(devices) > 1:
        _COLLECTIVES[collective](jobs, devices, size, adding, full or {})
    else:  # one device adds the gradients of its two streams
        jobs.add(devices[0], "update", "update", adding)


def _ring(
    jobs: Jobs, devices: Sequence[int], size: int, adding: float, full: Mapping[int, int]
) -> None:
    """All-reduce in a ring (Patarasuk and Yuan 2009): in each of 2 (n − 1) rounds every device
    passes an n-th of the bytes on to the next device."""
    count = len(devices)
    part = -(-size // count)
    ends = [jobs.add(device, "ring", "update", sent=part) for device in devices]
    rounds = 2 * (count - 1)
    for number in range(1, rounds + 1):
        sent = part if number < rounds else 0
        ends = [
            jobs.add(
                device, f"ring {number}", "update", adding / count, (ends[place - 1],), part, sent
            )
            for place, device in enumerate(devices)
        ]


def _send(
    jobs: Jobs,
    name: str,
    ends: tuple[int, int],
    size: int,
    adding: float = 0.0,
    after: int | None = None,
) -> None:
    """Send ``size`` bytes from one device to another, which may add them to its own.

    Args:
        ends: the two devices.
        after: the job of the sender at whose end they leave; by default one of their own.
    """
    sender, receiver = ends
    if after is None:
        after = jobs.add(sender, name, "update")
    jobs.list[after] = replace(jobs.list[after], sent=jobs.list[after].sent + size)
    jobs.add(receiver, name, "update", adding, (after,), received=size)


def _tree(
    jobs: Jobs, devices: Sequence[int], size: int, adding: float, full: Mapping[int, int]
) -> None:
    """Reduce in pairs towards the first device, and broadcast back."""
    count = len(devices)
    distance = 1
    while distance < count:
        for place in range(0, count - distance, 2 * distance):
            sender, receiver = devices[place + distance], devices[place]
            after = full.get(sender) if distance == 1 else None
            _send(jobs, "reduce", (sender, receiver), size, adding, after)
        distance *= 2
    while distance > 1:
        distance //= 2
        for place in range(0, count - distance, 2 * distance):
            _send(jobs, "copy", (devices[place], devices[place + distance]), size)


def _central(
    jobs: Jobs, devices: Sequence[int], size: int, adding: float, full: Mapping[int, int]
) -> None:
    """Send all gradients to the first device, and the sum back."""
    first, *others = devices
    for device in others:
        _send(jobs, "reduce", (device, first), size, adding, full.get(device))
    for device in others:
        _send(jobs, "copy", (first, device), size)


_Collective = Callable[[Jobs, Sequence[int], int, float, Mapping[int, int]], None]
_COLLECTIVES: dict[str, _Collective] = {
    "ring": _ring,
    "fastest": _ring,  # on the links between machines that it is for
    "native": _ring,  # libraries use rings for large tensors
    "tree": _tree,
    "central": _central,
}
