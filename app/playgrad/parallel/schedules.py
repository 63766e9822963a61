"""Pipeline schedules: the order in which each device does its passes over the micro-batches.

A schedule is written as in its paper: one list of passes for each device. What a pass has to wait
for follows from the passes alone, so the list is all that is needed to run, time or draw a
schedule.

===============  ====================================================================
gpipe            Huang et al. 2019, *GPipe: Efficient training of giant neural networks
                 using pipeline parallelism*
1f1b             Narayanan et al. 2021, *Memory-efficient pipeline-parallel DNN
                 training* (PipeDream-Flush)
interleaved      Narayanan et al. 2021, *Efficient large-scale language model training
                 on GPU clusters using Megatron-LM*, section 2.2
bidirectional    Li and Hoefler 2021, *Chimera: Efficiently training large-scale neural
                 networks with bidirectional pipelines*
pipedream        Narayanan et al. 2019, *PipeDream: Generalized pipeline parallelism
                 for DNN training*; see `playgrad.parallel.stashing`
zero_bubble      Qi et al. 2023; see `playgrad.parallel.split_schedules`
dualpipe         DeepSeek-AI 2024; see `playgrad.parallel.split_schedules`
===============  ====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

from playgrad.errors import GraphError
from playgrad.parallel.passes import WEIGHTS, Orders, Pass, TimedPass, needed_by
from playgrad.parallel.split_schedules import dualpipe, zero_bubble


def gpipe(devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """Return all forward passes, then all backward passes.

    Simple, but a device keeps the activations of all micro-batches.
    """
    return [
        [Pass(s, m, backward) for backward in (False, True) for m in range(micro_batches)]
        for s in range(devices)
    ]


def one_forward_one_backward(devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """Return 1F1B: a warm-up of forward passes, then forward and backward in turn, then a flush.

    Stage s warms up with as many forward passes as there are stages after it, so it never keeps the
    activations of more than ``devices - s`` micro-batches. The bubble is as in GPipe.
    """
    return [
        _alternate(
            [Pass(s, m, False) for m in range(micro_batches)],
            [Pass(s, m, True) for m in range(micro_batches)],
            warm_up=devices - s - 1,
        )
        for s in range(devices)
    ]


def interleaved(devices: int, micro_batches: int, chunks: int) -> Orders:
    """Return 1F1B with several chunks of layers on each device: a smaller bubble, more transfers.

    Stage s is on device ``s % devices``. Micro-batches pass through one chunk after the other in
    groups of ``devices``. If the last group is incomplete, its missing passes are left out.
    """
    if chunks == 1:
        return one_forward_one_backward(devices, micro_batches)
    complete = -(-micro_batches // devices) * devices
    turns = range(complete * chunks)

    def pass_at(device: int, turn: int, backward: bool) -> Pass:
        group, turn_in_group = divmod(turn, devices * chunks)
        chunk, number = divmod(turn_in_group, devices)
        if backward:
            chunk = chunks - 1 - chunk
        return Pass(chunk * devices + device, group * devices + number, backward)

    orders = [
        _alternate(
            [pass_at(d, turn, False) for turn in turns],
            [pass_at(d, turn, True) for turn in turns],
            warm_up=2 * (devices - d - 1) + (chunks - 1) * devices,
        )
        for d in range(devices)
    ]
    return [[entry for entry in order if entry.micro_batch < micro_batches] for order in orders]


def bidirectional(devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """Return two streams that enter at opposite ends, each with half of the micro-batches: Chimera
    with its basic units directly after one another.

    In the second stream, stage s is on device ``devices - 1 - s``. If passes take equally long and
    the number of devices is even, the streams never need a device at the same time.
    """
    timed: list[list[tuple[int, Pass]]] = [[] for _ in range(devices)]
    half = max(1, devices // 2)
    for stream in range(2):
        for number in range((micro_batches + 1 - stream) // 2):
            unit, place = divmod(number, half)
            start = 2 * devices * unit + 2 * place
            for s in range(devices):
                order = timed[s if stream == 0 else devices - 1 - s]
                order.append((start + s, Pass(s, number, False, stream)))
                order.append((start + 2 * devices - 1 - s, Pass(s, number, True, stream)))
    return [[entry for _, entry in sorted(order, key=lambda item: item[0])] for order in timed]


PIPEDREAM = "pipedream"
"""The order of 1F1B, but every micro-batch updates the weights; see `playgrad.parallel.stashing`.
"""
SCHEDULES: dict[str, Callable[[int, int, int], Orders]] = {
    "gpipe": gpipe,
    "1f1b": one_forward_one_backward,
    "interleaved": interleaved,
    "bidirectional": bidirectional,
    "zero_bubble": zero_bubble,
    "dualpipe": dualpipe,
    PIPEDREAM: one_forward_one_backward,
}
TWO_STREAMS = ("bidirectional", "dualpipe")
"""Schedules in which half of the micro-batches enter at the other end."""


def make_schedule(name: str, devices: int, micro_batches: int, chunks: int = 1) -> Orders:
    """Return the schedule called ``name``.

    Args:
        chunks: stages on each device; only for "interleaved".

    Raises:
        GraphError: there is no such schedule, or it is not possible with these numbers.
    """
    if name not in SCHEDULES:
        raise GraphError(
            f"there is no schedule {name!r}.", hint=f"Available: {', '.join(SCHEDULES)}."
        )
    if devices < 1 or micro_batches < 1 or chunks < 1:
        raise GraphError("a pipeline needs at least one device, micro-batch and chunk.")
    if chunks > 1 and name != "interleaved":
        raise GraphError(
            f"the schedule {name!r} has one stage on each device, not {chunks} chunks.",
            hint="Use the schedule 'interleaved'.",
        )
    if name in TWO_STREAMS and micro_batches < 2:
        raise GraphError(f"the two streams of the schedule {name!r} need two micro-batches.")
    return SCHEDULES[name](devices, micro_batches, chunks)


def simulate(orders: Orders) -> list[TimedPass]:
    """Return when each pass runs if forward takes 1, backward 2 (or each of its parts 1), and
    transfers no time.

    Returns:
        The passes by start: an order that respects all dependencies.

    Raises:
        GraphError: the passes wait for each other in a circle.
    """
    last_stage = max(entry.stage for order in orders for entry in order)
    ends: dict[Pass, int] = {}
    free_at = [0] * len(orders)
    done = [0] * len(orders)
    timed: list[TimedPass] = []
    while len(timed) < sum(map(len, orders)):
        before = len(timed)
        for device, order in enumerate(orders):
            while done[device] < len(order):
                entry = order[done[device]]
                needed = needed_by(entry, last_stage)
                if not all(other in ends for other in needed):
                    break
                start = max([free_at[device], *(ends[other] for other in needed)])
                timed.append(TimedPass(entry, device, start))
                ends[entry] = free_at[device] = timed[-1].end
                done[device] += 1
        if len(timed) == before:
            stuck = [order[n] for order, n in zip(orders, done, strict=True) if n < len(order)]
            raise GraphError(f"passes of the schedule wait for each other: {stuck}.")
    return sorted(timed, key=lambda item: (item.start, item.device))


def bubble(orders: Orders) -> float:
    """Return the share of all devices' time spent waiting, counted by `simulate`."""
    timed = simulate(orders)
    total = max(item.end for item in timed) * len(orders)
    return 1 - sum(item.end - item.start for item in timed) / total


def bubble_formula(name: str, devices: int, micro_batches: int, chunks: int = 1) -> float:
    """Return the share of all devices' time spent waiting, by the formula of the paper.

    A backward pass takes twice as long as a forward pass, all stages take equally long, and
    transfers take no time. With p devices, m micro-batches and v chunks on each device::

        gpipe, 1f1b, pipedream   (p - 1) / (m + p - 1)
        interleaved              (p - 1) / (v m + p - 1)      if p divides m
        bidirectional            b / (3 m + b), b = (p - 2) (m / p + 1)
                                                              if p is even and divides m
        zero_bubble              (p - 1) / (3 m + p - 1)      if m ≥ p
        dualpipe                 b / (3 m + b), b = p / 2 - 1 if p is even and divides m

    Where the formula does not apply, the share is counted by `bubble`.

    Raises:
        GraphError: there is no such schedule, or it is not possible with these numbers.
    """
    orders = make_schedule(name, devices, micro_batches, chunks)
    complete_groups = micro_batches % devices == 0
    if name in TWO_STREAMS:
        if not complete_groups or devices % 2:
            return bubble(orders)
        idle = (devices - 2) * (micro_batches // devices + 1)
        if name == "dualpipe":
            idle = devices // 2 - 1
        return idle / (3 * micro_batches + idle)
    if name == "zero_bubble":
        if micro_batches < devices:
            return bubble(orders)
        return (devices - 1) / (3 * micro_batches + devices - 1)
    if chunks > 1 and not complete_groups:
        return bubble(orders)
    return (devices - 1) / (chunks * micro_batches + devices - 1)


def weight_versions(orders: Orders) -> dict[tuple[int, int], int]:
    """Return the version of the weights in each forward pass, if every backward pass updates them.

    Returns:
        By (stage, micro-batch), the number of updates before it. On one device micro-batch m would
        have version m; the difference is its staleness.
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
    """Return a picture in text: a line for each device, a column for each unit of time.

    Forward passes are digits and backward passes letters, superscript and capital in the second
    stream. The chunks of a device are not told apart. Where backward passes are divided, a plus
    sign is a pass for the gradients of weights.
    """
    timed = simulate(orders)
    lines = [["."] * max(item.end for item in timed) for _ in orders]
    for item in timed:
        entry = item.entry
        if entry.part == WEIGHTS:
            signs = "+" * 10
        elif entry.stream:
            signs = "ABCDEFGHIJ" if entry.backward else "⁰¹²³⁴⁵⁶⁷⁸⁹"
        else:
            signs = "abcdefghij" if entry.backward else "0123456789"
        for time in range(item.start, item.end):
            lines[item.device][time] = signs[entry.micro_batch % 10]
    return "\n".join(f"device {number}  {''.join(line)}" for number, line in enumerate(lines))


def _alternate(forward: Sequence[Pass], backward: Sequence[Pass], warm_up: int) -> list[Pass]:
    """Return ``warm_up`` forward passes, then forward and backward in turn, then the rest."""
    pairs = zip_longest(forward[warm_up:], backward)
    return [*forward[:warm_up], *(entry for entry in chain.from_iterable(pairs) if entry)]
