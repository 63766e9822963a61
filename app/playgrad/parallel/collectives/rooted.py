"""Collectives with the first member as root: it computes each sum, and the others get copies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.elementwise.definitions import add
from playgrad.parallel.collectives.algorithm import (
    ALL_REDUCE,
    BROADCAST,
    Algorithm,
    Cost,
    divide,
    send,
)


class Rooted(Algorithm):
    """Reduces to the first member, and broadcasts from it along the same edges.

    The parts of a reduce-scatter or an all-gather go directly from and to the first member.
    """

    @abstractmethod
    def _reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> Tensor:
        """Return the sum on the first device."""

    @abstractmethod
    def _hops(self, members: int) -> int:
        """Return the number of transfers in a row until all members have a tensor."""

    @abstractmethod
    def _partners(self, members: int) -> int:
        """Return the number of members that the first one sends to and receives from directly."""

    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        hops, others = self._hops(members), members - 1
        one_way = self._partners(members) * nbytes  # sent, or received, by the first member
        if kind == BROADCAST:
            return Cost(hops, others * nbytes, one_way)
        if kind == ALL_REDUCE:
            return Cost(2 * hops, 2 * others * nbytes, 2 * one_way)
        parts = nbytes - nbytes // members  # all except that of the first member
        return Cost(hops + min(1, others), others * nbytes + parts, one_way + parts)

    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        return self.broadcast(self._reduce(tensors, devices), devices)

    def reduce_scatter(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        parts = divide(self._reduce(tensors, devices), len(devices), devices[0])
        return [send(part, device) for part, device in zip(parts, devices, strict=True)]

    def all_gather(
        self, tensors: Sequence[Tensor], devices: Sequence[str], axis: int
    ) -> list[Tensor]:
        parts = [send(tensor, device) for tensor, device in zip(tensors, devices, strict=True)]
        with parts[0].graph.device(devices[0]):
            whole = concat(parts, axis)
        return self.broadcast(whole, devices)


class Central(Rooted):
    """All send to the first member, which adds up in their order; suits small tensors."""

    name = "central"

    def _hops(self, members: int) -> int:
        return min(1, members - 1)

    def _partners(self, members: int) -> int:
        return members - 1

    def _reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> Tensor:
        total = send(tensors[0], devices[0])
        with total.graph.device(devices[0]):
            for member, tensor in enumerate(tensors[1:], 1):
                total = add(total, tensor, name=f"add_{member}")
        return total

    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        return [send(tensor, device) for device in devices]


class Tree(Rooted):
    """Adds up pairs of members, then pairs of these sums, and so on: a binomial tree.

    In each round half of the members that hold a sum send it; copies take the same edges back.
    Suits tensors of medium size.
    """

    name = "tree"

    def _hops(self, members: int) -> int:
        return members.bit_length() - 1

    def _partners(self, members: int) -> int:
        return (members - 1).bit_length()

    def _reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> Tensor:
        sums = [send(tensor, device) for tensor, device in zip(tensors, devices, strict=True)]
        for level in range(self._partners(len(devices))):
            reach = 1 << level
            for member in range(0, len(devices) - reach, 2 * reach):
                with sums[member].graph.device(devices[member]):
                    sums[member] = add(
                        sums[member], sums[member + reach], name=f"add_{level}_member_{member}"
                    )
        return sums[0]

    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        copies = {0: tensor}
        for level in reversed(range(self._partners(len(devices)))):
            reach = 1 << level
            for member in range(0, len(devices) - reach, 2 * reach):
                copies[member + reach] = send(
                    copies[member], devices[member + reach], f"copy_to_{member + reach}"
                )
        return [copies[member] for member in range(len(devices))]
