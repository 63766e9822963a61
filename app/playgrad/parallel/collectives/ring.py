"""Collectives in a ring: every member sends to the next one only, all at the same time.

All-reduce is a reduce-scatter followed by an all-gather (Patarasuk and Yuan 2009, *Bandwidth
optimal all-reduce algorithms for clusters of workstations*): whatever the number of members, each
sends less than twice the tensor's size. The price is the number of steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import add
from playgrad.parallel.collectives.algorithm import Algorithm, divide, send
from playgrad.parallel.collectives.costs import ALL_REDUCE, BROADCAST, Cost


class Ring(Algorithm):
    """Parts go round. For large tensors."""

    name = "ring"
    divides = True

    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        rounds = 2 if kind == ALL_REDUCE else 1
        moved = rounds * (members - 1) * nbytes
        # A copy is passed on whole: received and sent once by each member between the ends.
        busiest = min(members - 1, 2) * nbytes if kind == BROADCAST else 2 * moved // members
        return Cost(rounds * (members - 1), moved, busiest)

    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        parts = self.reduce_scatter(tensors, devices)
        wholes = _gather(parts, devices, 0)
        result = []
        for whole, device in zip(wholes, devices, strict=True):
            with whole.graph.device(device):
                result.append(reshape(whole, tensors[0].shape))
        return result

    def reduce_scatter(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """Part p starts at the member after member p and gathers the others' on its way to p.

        Where there are fewer elements than members, the last members own none.
        """
        count = len(devices)
        parts = [divide(t, count, device) for t, device in zip(tensors, devices, strict=True)]
        owned = len(parts[0])
        sums = [parts[(p + 1) % count][p] for p in range(owned)]
        for step in range(1, count):
            for p in range(owned):
                member = (p + 1 + step) % count
                with sums[p].graph.device(devices[member]):
                    sums[p] = add(sums[p], parts[member][p], name=f"add_{step}_part_{p}")
        return sums

    def all_gather(
        self, tensors: Sequence[Tensor], devices: Sequence[str], axis: int
    ) -> list[Tensor]:
        return _gather([send(t, d) for t, d in zip(tensors, devices, strict=True)], devices, axis)

    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        copies = [tensor]
        for step, device in enumerate(devices[1:], 1):
            copies.append(send(copies[-1], device, f"copy_{step}"))
        return copies


def _gather(parts: Sequence[Tensor], devices: Sequence[str], axis: int) -> list[Tensor]:
    """Each member passes on what it got last. Part p is at member p; there may be fewer parts."""
    count = len(devices)
    held = [dict(enumerate(parts[m : m + 1], m)) for m in range(count)]
    for step in range(1, count):
        for p in range(len(parts)):
            to = (p + step) % count
            held[to][p] = send(held[to - 1][p], devices[to], f"copy_{step}_part_{p}")
    wholes = []
    for own, device in zip(held, devices, strict=True):
        with parts[0].graph.device(device):
            wholes.append(concat([own[p] for p in range(len(parts))], axis))
    return wholes
