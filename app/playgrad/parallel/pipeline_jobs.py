"""The jobs of a training step in a pipeline, with two streams, replicas, and stages of several
devices, for the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from playgrad.parallel.passes import INPUTS, WEIGHTS, Orders, Pass, task_name
from playgrad.parallel.schedules import simulate
from playgrad.parallel.simulator import Job
from playgrad.parallel.step_jobs import Jobs, StageCost, all_reduce


def pipeline_jobs(
    costs: Sequence[StageCost],
    orders: Orders,
    collective: str = "ring",
    replicas: int = 1,
    width: int = 1,
    updates_each: bool = False,
) -> list[Job]:
    """Return a step of a pipeline, or of several that share a batch.

    The passes of a device are the executor's, in its order and with its names.

    Args:
        costs: the costs of each stage, for one micro-batch on one device.
        orders: the passes of each device of one pipeline, or of each group of devices that share a
            stage; see `playgrad.parallel.schedules`.
        collective: how the gradients of replicas and streams are added up.
        replicas: the number of pipelines.
        width: the number of devices of each stage.
        updates_each: whether each backward pass is followed by an update, as in "pipedream".
    """
    step = _Step(costs, orders, collective, replicas, width, updates_each)
    for item in simulate(orders):
        for replica in range(replicas):
            step.add_pass(replica, item.device, item.entry)
    step.add_updates()
    return step.jobs.list


@dataclass
class _Step:
    """A step under construction; the arguments are as in `pipeline_jobs`.

    Attributes:
        done: the last job of each pass, by replica.
    """

    costs: Sequence[StageCost]
    orders: Orders
    collective: str
    replicas: int
    width: int
    updates_each: bool
    jobs: Jobs = field(default_factory=Jobs)
    done: dict[tuple[int, Pass], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        entries = [entry for order in self.orders for entry in order]
        self.streams = 1 + max(entry.stream for entry in entries)
        self.place = {
            (entry.stream, entry.stage): device
            for device, order in enumerate(self.orders)
            for entry in order
        }
        self.named_stages = len(self.orders) < len({entry.stage for entry in entries})
        for replica in range(self.replicas):
            for stream in range(self.streams):
                first = self.device(replica, stream, 0)
                self.jobs.add(first, "input", "input", self.costs[0].input)

    def device(self, replica: int, stream: int, stage: int) -> int:
        """Return the number of the first device of a stage."""
        depth = len(self.orders)
        return (replica * depth + self.place[stream, stage]) * self.width

    def add_pass(self, replica: int, device: int, entry: Pass) -> None:
        """Add the jobs of ``entry``, which receives from one neighbouring stage and sends to the
        other."""
        stage, cost = entry.stage, self.costs[entry.stage]
        seconds, kind = cost.forward, "forward"
        source, target = stage - 1, stage + 1
        needed = []
        if entry.backward:
            seconds, kind = cost.backward, "gradient"
            source, target = stage + 1, stage - 1
            needed.append(entry._replace(backward=False, part=""))
            if entry.part == INPUTS and stage == 0:
                return  # nothing waits for the gradients of its inputs: they are not computed
            if entry.part and stage:
                seconds /= 2
            if entry.part == WEIGHTS:
                target = -1
                if stage:  # it exchanges nothing
                    source = -1
                    needed.append(entry._replace(part=INPUTS))
        received, before = 0, self._neighbour(replica, entry, source)
        if before is not None:
            wanted = entry._replace(stage=source, part=INPUTS if entry.part else "")
            needed.append(wanted)
            received = (
                0
                if before == self.device(replica, entry.stream, stage)
                else self._moved(source, stage)
            )
        after = self._neighbour(replica, entry, target)
        own = self.device(replica, entry.stream, stage)
        sent = 0 if after in (None, own) else self._moved(stage, target)
        name = task_name(entry, self.named_stages, self.streams > 1)
        positions = [self.done[replica, other] for other in needed]
        self.done[replica, entry] = self._compute(
            own, name, kind, seconds, positions, received, sent, cost
        )
        if self.updates_each and entry.backward:
            self.jobs.add(own, f"update {entry.micro_batch}", "update", cost.update)

    def _neighbour(self, replica: int, entry: Pass, stage: int) -> int | None:
        """Return the device of a neighbouring stage; None if there is no such stage."""
        if (entry.stream, stage) not in self.place:
            return None
        return self.device(replica, entry.stream, stage)

    def _moved(self, one: int, other: int) -> int:
        """Return the bytes that two neighbouring stages exchange for a micro-batch."""
        return self.costs[min(one, other)].activations

    def _compute(
        self,
        device: int,
        name: str,
        kind: str,
        seconds: float,
        after: Sequence[int],
        received: int,
        sent: int,
        cost: StageCost,
    ) -> int:
        """Add the jobs of a pass: one, or rounds in which the devices of a stage share the work."""
        if self.width == 1 or not cost.exchanges:
            return self.jobs.add(device, name, kind, seconds, after, received, sent)
        rounds, others = cost.exchanges, range(device + 1, device + self.width)
        alone = seconds * (1 - cost.divided) / rounds
        share = seconds * cost.divided / rounds / self.width
        moved = cost.exchanged * (self.width - 1)
        needed = list(after)
        for number in range(rounds):
            part = f", part {2 * number + 1}" if number else ""
            start = self.jobs.add(device, name + part, kind, alone, needed, received, moved)
            ends = [
                self.jobs.add(
                    other, name + part, kind, share, (start,), cost.exchanged, cost.exchanged
                )
                for other in others
            ]
            self.jobs.add(device, f"{name}, part {2 * number + 2}", kind, share)
            needed, received = ends, moved
        last = f"{name}, part {2 * rounds + 1}"
        return self.jobs.add(device, last, kind, 0.0, needed, received, sent)

    def add_updates(self) -> None:
        """Add the sums of gradients over replicas and streams, and the updates."""
        copies = [(r, s) for r in range(self.replicas) for s in range(self.streams)]
        for stage, cost in enumerate(self.costs if len(copies) > 1 else ()):
            for number in range(self.width):
                share = cost.share(number, self.width)
                devices = dict.fromkeys(self.device(r, s, stage) + number for r, s in copies)
                if share:
                    size, adding = round(cost.parameters * share), cost.adding * share
                    all_reduce(self.jobs, list(devices), size, adding, self.collective)
        # The task that updates the first stage decides for all stages whether the step counts.
        first = self.device(0, 0, 0)
        decision = self.jobs.add(first, "update", "update", self._update(first))
        for device in range(self.replicas * len(self.orders) * self.width):
            if device != first and device in self.jobs.last:
                self.jobs.add(device, "update", "update", self._update(device), (decision,))

    def _update(self, device: int) -> float:
        """Return the seconds in which ``device`` updates its weights at the end of a step."""
        if self.updates_each:
            return 0.0
        place, number = divmod(device, self.width)
        place %= len(self.orders)
        held = [self.costs[stage] for (_, stage), at in self.place.items() if at == place]
        return sum(cost.update * cost.share(number, self.width) for cost in held)
