"""Steps on any number of devices as jobs of the simulator, from what one device was measured to do.

No graph is made for them: hundreds of copies of it would say nothing new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.errors import GraphError
from playgrad.parallel.schedules import Orders, Pass
from playgrad.parallel.simulator import Job


@dataclass(frozen=True)
class StageCost:
    """What one stage (or a whole network) costs for a whole batch.

    Attributes:
        forward, backward, update: seconds.
        parameters: bytes of its gradients.
        activations: bytes that it hands to the next stage.
    """

    forward: float
    backward: float
    update: float
    parameters: int
    activations: int = 0


def data_parallel_jobs(cost: StageCost, devices: int, collective: str = "ring") -> list[Job]:
    """A synchronous step: each device computes for its share, then all add up their gradients.

    Args:
        collective: "ring", "tree" or "central".
    """
    jobs: list[Job] = []
    ends = []
    for number in range(devices):
        name = f"device:{number}"
        jobs.append(Job("forward", name, cost.forward / devices, "forward"))
        jobs.append(Job("backward", name, cost.backward / devices, "gradient", (len(jobs) - 1,)))
        ends.append(len(jobs) - 1)
    add = {"ring": _ring, "tree": _tree, "central": _central}
    if collective not in add:
        raise GraphError(f"there is no collective {collective!r}: there are {', '.join(add)}.")
    if devices > 1:
        ends = add[collective](jobs, ends, cost.parameters)
    for number, end in enumerate(ends):
        jobs.append(Job("update", f"device:{number}", cost.update, "update", (end,)))
    return jobs


def _transfer(jobs: list[Job], sender: int, receiver: int, size: int, name: str) -> int:
    """Jobs by which the device of job ``receiver`` gets ``size`` bytes after ``sender`` has ended;
    the position of the one that has them."""
    out = Job(name, jobs[sender].device, 0.0, "gradient", (sender,), sent=size)
    jobs.append(out)
    after = (len(jobs) - 1, receiver)
    jobs.append(Job(name, jobs[receiver].device, 0.0, "gradient", after, received=size))
    return len(jobs) - 1


def _ring(jobs: list[Job], ends: list[int], size: int) -> list[int]:
    """Everyone hands a part on to the next, 2 (n - 1) times (Patarasuk and Yuan 2009)."""
    count = len(ends)
    part = -(-size // count)
    for number in range(2 * (count - 1)):
        ends = [
            _transfer(jobs, ends[place - 1], ends[place], part, f"ring {number}")
            for place in range(count)
        ]
    return ends


def _tree(jobs: list[Job], ends: list[int], size: int) -> list[int]:
    """In pairs towards the first, and back."""
    ends = list(ends)
    reach = 1
    while reach < len(ends):
        for place in range(0, len(ends) - reach, 2 * reach):
            ends[place] = _transfer(jobs, ends[place + reach], ends[place], size, "reduce")
        reach *= 2
    while reach > 1:
        reach //= 2
        for place in range(0, len(ends) - reach, 2 * reach):
            ends[place + reach] = _transfer(jobs, ends[place], ends[place + reach], size, "copy")
    return ends


def _central(jobs: list[Job], ends: list[int], size: int) -> list[int]:
    """All to the first, and back."""
    ends = list(ends)
    for place in range(1, len(ends)):
        ends[0] = _transfer(jobs, ends[place], ends[0], size, "reduce")
    root = ends[0]
    for place in range(1, len(ends)):
        ends[place] = _transfer(jobs, root, ends[place], size, "copy")
    return ends


def pipeline_jobs(costs: Sequence[StageCost], orders: Orders) -> list[Job]:
    """A synchronous step of a pipeline.

    Args:
        costs: of each stage, for the whole batch.
        orders: for each device its passes; see `playgrad.parallel.schedules`. One stream.
    """
    count = 1 + max(entry.micro_batch for order in orders for entry in order)
    place: dict[Pass, int] = {}
    rows: list[tuple[Pass, int]] = []
    for device, order in enumerate(orders):
        for entry in order:
            place[entry] = len(rows)
            rows.append((entry, device))
    device_of = {entry.stage: device for entry, device in rows}
    last = len(costs) - 1
    jobs = []
    for number, (entry, device) in enumerate(rows):
        stage = entry.stage
        cost = costs[stage]
        before, behind = (stage + 1, stage - 1) if entry.backward else (stage - 1, stage + 1)
        needed = []
        if entry.backward:
            needed.append(place[entry._replace(backward=False)])
        if 0 <= before <= last:
            needed.append(place[entry._replace(stage=before)])
        if number and rows[number - 1][1] == device:
            needed.append(number - 1)
        border_in = costs[stage].activations if entry.backward else _activations(costs, stage - 1)
        border_out = _activations(costs, stage - 1) if entry.backward else costs[stage].activations
        far_in = 0 <= before <= last and device_of[before] != device
        far_out = 0 <= behind <= last and device_of[behind] != device
        jobs.append(
            Job(
                f"{'backward' if entry.backward else 'forward'} {entry.micro_batch}",
                f"device:{device}",
                (cost.backward if entry.backward else cost.forward) / count,
                "gradient" if entry.backward else "forward",
                tuple(sorted(set(needed))),
                border_in // count if far_in else 0,
                border_out // count if far_out else 0,
            )
        )
    for device, order in enumerate(orders):
        stages = {entry.stage for entry in order}
        seconds = sum(costs[stage].update for stage in stages)
        end = place[order[-1]]
        jobs.append(Job("update", f"device:{device}", seconds, "update", (end,)))
    return jobs


def _activations(costs: Sequence[StageCost], stage: int) -> int:
    return costs[stage].activations if stage >= 0 else 0
