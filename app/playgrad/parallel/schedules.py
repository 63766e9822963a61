"""Schedules of pipelines: in which order each device does its passes over the micro-batches.

A schedule is written as its paper has it, as one list of passes for each device. What a pass needs
follows from the passes themselves, so that nothing else has to be said to run or draw it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from playgrad.errors import GraphError


class Pass(NamedTuple):
    """One entry of a schedule: a stage's way over a micro-batch.

    Where there are two streams of micro-batches, each counts its own from 0.
    """

    stage: int
    micro_batch: int
    backward: bool
    stream: int = 0


class TimedPass(NamedTuple):
    """A pass of a device, in units of time: a forward pass takes 1, a backward pass 2."""

    entry: Pass
    device: int
    start: int

    @property
    def end(self) -> int:
        return self.start + (2 if self.entry.backward else 1)


Orders = list[list[Pass]]
"""For each device its passes, in order."""


def gpipe(devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """All forward passes, then all backward passes (Huang et al. 2019)."""
    return [
        [Pass(s, m, backward) for backward in (False, True) for m in range(micro_batches)]
        for s in range(devices)
    ]


def one_forward_one_backward(devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """1F1B with a flush (Narayanan et al. 2021, PipeDream-flush).

    Stage s begins with as many forward passes as there are stages after it. Then it does a forward
    and a backward pass in turn, so that it never holds more than ``devices - s`` micro-batches.
    """
    return [
        _alternate(
            [Pass(s, m, False) for m in range(micro_batches)],
            [Pass(s, m, True) for m in range(micro_batches)],
            ahead=devices - s - 1,
        )
        for s in range(devices)
    ]


def interleaved(devices: int, micro_batches: int, chunks: int) -> Orders:
    """1F1B where each device has several chunks of layers (Narayanan et al. 2021, section 2.2).

    Stage s is on device ``s % devices``. Micro-batches go in groups, as many as there are devices,
    through one chunk after the other. A last group that is not full leaves its passes out.
    """
    if chunks == 1:
        return one_forward_one_backward(devices, micro_batches)
    whole = -(-micro_batches // devices) * devices
    turns = range(whole * chunks)

    def virtual(device: int, turn: int, backward: bool) -> Pass:
        group, place = divmod(turn, devices * chunks)
        chunk, number = divmod(place, devices)
        if backward:
            chunk = chunks - 1 - chunk
        return Pass(chunk * devices + device, group * devices + number, backward)

    orders = [
        _alternate(
            [virtual(d, turn, False) for turn in turns],
            [virtual(d, turn, True) for turn in turns],
            ahead=2 * (devices - d - 1) + (chunks - 1) * devices,
        )
        for d in range(devices)
    ]
    return [[entry for entry in order if entry.micro_batch < micro_batches] for order in orders]


def bidirectional(devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """Two streams, from both ends, each with half of the micro-batches: Chimera (Li and Hoefler
    2021), its basic units one directly after the other.

    In the second stream stage s is on device ``devices - 1 - s``. In slots of equal length the
    streams never want a device at the same time, if the number of devices is even.
    """
    slots: list[list[tuple[int, Pass]]] = [[] for _ in range(devices)]
    half = max(1, devices // 2)
    for stream in range(2):
        for number in range((micro_batches + 1 - stream) // 2):
            unit, place = divmod(number, half)
            begin = 2 * devices * unit + 2 * place
            for s in range(devices):
                own = slots[s if stream == 0 else devices - 1 - s]
                own.append((begin + s, Pass(s, number, False, stream)))
                own.append((begin + 2 * devices - 1 - s, Pass(s, number, True, stream)))
    return [[entry for _, entry in sorted(own, key=lambda item: item[0])] for own in slots]


PIPEDREAM = "pipedream"
"""The order of 1F1B, but each micro-batch is an update: see `playgrad.parallel.stashing`."""
SCHEDULES: dict[str, Callable[[int, int, int], Orders]] = {
    "gpipe": gpipe,
    "1f1b": one_forward_one_backward,
    "interleaved": interleaved,
    "bidirectional": bidirectional,
    PIPEDREAM: one_forward_one_backward,
}


def make_schedule(name: str, devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """The schedule called ``name``.

    Args:
        chunks: stages of each device; only for "interleaved".

    Raises:
        GraphError: there is none of that name, or it cannot be done with these numbers.
    """
    if name not in SCHEDULES:
        raise GraphError(
            f"there is no schedule {name!r}.", hint=f"There are: {', '.join(SCHEDULES)}."
        )
    if devices < 1 or micro_batches < 1 or chunks < 1:
        raise GraphError("a pipeline needs at least one device, micro-batch and chunk.")
    if chunks > 1 and name != "interleaved":
        raise GraphError(
            f"the schedule {name!r} has one stage on each device, not {chunks} chunks.",
            hint="Use the schedule 'interleaved'.",
        )
    if name == "bidirectional" and micro_batches < 2:
        raise GraphError("the two streams of a bidirectional pipeline need two micro-batches.")
    return SCHEDULES[name](devices, micro_batches, chunks)


def simulate(orders: Orders) -> list[TimedPass]:
    """When each pass runs if a forward pass takes 1, a backward pass 2, and sending nothing.

    Returns:
        By the time at which they begin: an order that respects all dependencies.

    Raises:
        GraphError: the passes wait for each other in a circle.
    """
    last = max(entry.stage for order in orders for entry in order)
    ends: dict[Pass, int] = {}
    free = [0] * len(orders)
    done = [0] * len(orders)
    timed: list[TimedPass] = []
    while len(timed) < sum(map(len, orders)):
        before = len(timed)
        for device, order in enumerate(orders):
            while done[device] < len(order):
                entry = order[done[device]]
                needed = _needed(entry, last)
                if not all(other in ends for other in needed):
                    break
                start = max([free[device], *(ends[other] for other in needed)])
                timed.append(TimedPass(entry, device, start))
                ends[entry] = free[device] = timed[-1].end
                done[device] += 1
        if len(timed) == before:
            stuck = [order[n] for order, n in zip(orders, done, strict=True) if n < len(order)]
            raise GraphError(f"passes of the schedule wait for each other: {stuck}.")
    return sorted(timed, key=lambda item: (item.start, item.device))


def bubble(orders: Orders) -> float:
    """The share of all devices' time in which they wait, by `simulate`."""
    timed = simulate(orders)
    whole = max(item.end for item in timed) * len(orders)
    return 1 - sum(item.end - item.start for item in timed) / whole


def bubble_formula(name: str, devices: int, micro_batches: int, chunks: int = 1) -> float:
    """The share of all devices' time in which they wait, by the formula of the schedule's paper.

    A backward pass takes twice as long as a forward pass, all stages the same, and transfers no
    time. With p devices, m micro-batches and v chunks on each device::

        gpipe, 1f1b, pipedream   (p - 1) / (m + p - 1)
        interleaved      (p - 1) / (v m + p - 1)        where p divides m
        bidirectional    b / (3 m + b), b = (p - 2) (m / p + 1)     where p is even and divides m

    Where the formula does not hold, the number is counted by `simulate`.

    Raises:
        GraphError: there is no such schedule.
    """
    orders = make_schedule(name, devices, micro_batches, chunks)
    whole_groups = micro_batches % devices == 0
    if name == "bidirectional":
        if not whole_groups or devices % 2:
            return bubble(orders)
        idle = (devices - 2) * (micro_batches // devices + 1)
        return idle / (3 * micro_batches + idle)
    if chunks > 1 and not whole_groups:
        return bubble(orders)
    return (devices - 1) / (chunks * micro_batches + devices - 1)


def weight_versions(orders: Orders) -> dict[tuple[int, int], int]:
    """With which version each stage computes a micro-batch where every backward pass is followed
    by an update: by (stage, micro-batch), the number of updates made before.

    Micro-batch m would have version m on one device; what is missing is its staleness.
    """
    versions: dict[tuple[int, int], int] = {}
    for order in orders:
        updates: dict[int, int] = {}
        for entry in order:
            if entry.backward:
                updates[entry.stage] = updates.get(entry.stage, 0) + 1
            else:
                versions[entry.stage, entry.micro_batch] = updates.get(entry.stage, 0)
    return versions


def draw(orders: Orders) -> str:
    """A picture in text: a line for each device, a column for each unit of time.

    Forward passes are digits, backward passes letters; of a second stream capital letters. Of
    several chunks all passes over a micro-batch are drawn alike.
    """
    timed = simulate(orders)
    lines = [["."] * max(item.end for item in timed) for _ in orders]
    for entry, device, start in timed:
        number = entry.micro_batch % 10
        letters = "abcdefghij" if entry.backward else "0123456789"
        if entry.stream:
            letters = "ABCDEFGHIJ" if entry.backward else "⁰¹²³⁴⁵⁶⁷⁸⁹"
        for time in range(start, start + (2 if entry.backward else 1)):
            lines[device][time] = letters[number]
    return "\n".join(f"device {number}  {''.join(line)}" for number, line in enumerate(lines))


def _needed(entry: Pass, last: int) -> list[Pass]:
    """The passes before ``entry``; ``last`` is the last stage."""
    stage = entry.stage
    if not entry.backward:
        return [entry._replace(stage=stage - 1)] if stage else []
    after = [entry._replace(stage=stage + 1)] if stage < last else []
    return [entry._replace(backward=False), *after]


def _alternate(forward: Sequence[Pass], backward: Sequence[Pass], ahead: int) -> list[Pass]:
    """``ahead`` forward passes, then one of each in turn, then what is left."""
    turns = zip_longest(forward[ahead:], backward)
    return [*forward[:ahead], *(entry for entry in chain.from_iterable(turns) if entry)]
