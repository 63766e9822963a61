"""Ring collectives: every member sends only to the next one, all at the same time.

All-reduce is a reduce-scatter followed by an all-gather (Patarasuk and Yuan 2009, *Bandwidth
optimal all-reduce algorithms for clusters of workstations*): whatever the number of members, each
sends less than twice the tensor's size. The price is the number of rounds.
"""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import add
from playgrad.parallel.collectives.algorithm import (
    ALL_REDUCE,
    BROADCAST,
    Algorithm,
    Cost,
    divide,
    send,
)


class Ring(Algorithm):
    """Sends parts around a ring; suits large tensors."""

    name = "ring"
    divides = True
    both_ways = True

    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        laps = 2 if kind == ALL_REDUCE else 1
        moved = laps * (members - 1) * nbytes
        # A broadcast is not divided: each member between the ends receives and sends all of it.
        busiest = min(members - 1, 2) * nbytes if kind == BROADCAST else 2 * moved // members
        return Cost(laps * (members - 1), moved, busiest)

    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        parts = self.reduce_scatter(tensors, devices)
        wholes = _gather(parts, devices, 0)
        result = []
        for whole, device in zip(wholes, devices, strict=True):
            with whole.graph.device(device):
                result.append(reshape(whole, tensors[0].shape))
        return result

    def reduce_scatter(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """Part p starts at the member after member p, and is added up on its way to member p.

        If there are fewer elements than members, the last members get no part.
        """
        count = len(devices)
        parts = [divide(t, count, device) for t, device in zip(tensors, devices, strict=True)]
        part_count = len(parts[0])
        sums = [parts[(p + 1) % count][p] for p in range(part_count)]
        for turn in range(1, count):
            for p in range(part_count):
                member = (p + 1 + turn) % count
                with sums[p].graph.device(devices[member]):
                    sums[p] = add(sums[p], parts[member][p], name=f"add_{turn}_part_{p}")
        return sums

    def all_gather(
        self, tensors: Sequence[Tensor], devices: Sequence[str], axis: int
    ) -> list[Tensor]:
        return _gather([send(t, d) for t, d in zip(tensors, devices, strict=True)], devices, axis)

    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        copies = [tensor]
        for turn, device in enumerate(devices[1:], 1):
            copies.append(send(copies[-1], device, f"copy_{turn}"))
        return copies


def _gather(parts: Sequence[Tensor], devices: Sequence[str], axis: int) -> list[Tensor]:
    """Pass each part around the ring. Part p is at member p; there may be fewer parts."""
    count = len(devices)
    held = [dict(enumerate(parts[m : m + 1], m)) for m in range(count)]
    for turn in range(1, count):
        for p in range(len(parts)):
            to = (p + turn) % count
            held[to][p] = send(held[to - 1][p], devices[to], f"copy_{turn}_part_{p}")
    wholes = []
    for copies, device in zip(held, devices, strict=True):
        with parts[0].graph.device(device):
            wholes.append(concat([copies[p] for p in range(len(parts))], axis))
    return wholes
