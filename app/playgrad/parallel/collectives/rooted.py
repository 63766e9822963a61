"""Collectives through one member, the first: it makes each sum, and the others get copies."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.elementwise.definitions import add
from playgrad.parallel.collectives.algorithm import Algorithm, divide, send
from playgrad.parallel.collectives.costs import ALL_REDUCE, BROADCAST, Cost


class Rooted(Algorithm):
    """Sums come to the first member on some way, and go out on the same way back.

    Parts (of a reduce-scatter, or those to be gathered) go straight from and to the first member.
    """

    @abstractmethod
    def _reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> Tensor:
        """The sum on the first device."""

    @abstractmethod
    def _hops(self, members: int) -> int:
        """How often a tensor is sent on before all have it."""

    @abstractmethod
    def _partners(self, members: int) -> int:
        """How many of the others the first member sends to, and receives from, itself."""

    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        hops, others = self._hops(members), members - 1
        one_way = self._partners(members) * nbytes  # what the first member sends or receives
        if kind == BROADCAST:
            return Cost(hops, others * nbytes, one_way)
        if kind == ALL_REDUCE:
            return Cost(2 * hops, 2 * others * nbytes, 2 * one_way)
        parts = nbytes - nbytes // members  # all but the first member's own
        return Cost(hops + min(1, others), others * nbytes + parts, one_way + parts)

    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        return self.broadcast(self._reduce(tensors, devices), devices)

    def reduce_scatter(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        parts = divide(self._reduce(tensors, devices), len(devices), devices[0])
        return [send(part, device) for part, device in zip(parts, devices, strict=True)]

    def all_gather(
        self, tensors: Sequence[Tensor], devices: Sequence[str], axis: int
    ) -> list[Tensor]:
        own = [send(tensor, device) for tensor, device in zip(tensors, devices, strict=True)]
        with own[0].graph.device(devices[0]):
            whole = concat(own, axis)
        return self.broadcast(whole, devices)


class Central(Rooted):
    """All send to the first member, which adds up in their order. For small tensors."""

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
    """Members meet in pairs, then the first of each pair, and so on: a binomial tree.

    Half of those that have a sum send it at the same time; copies take the same way back. For
    tensors in between.
    """

    name = "tree"

    def _hops(self, members: int) -> int:
        return members.bit_length() - 1

    def _partners(self, members: int) -> int:
        return (members - 1).bit_length()

    def _reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> Tensor:
        sums = [send(tensor, device) for tensor, device in zip(tensors, devices, strict=True)]
        for step in range(self._partners(len(devices))):
            reach = 1 << step
            for member in range(0, len(devices) - reach, 2 * reach):
                with sums[member].graph.device(devices[member]):
                    sums[member] = add(
                        sums[member], sums[member + reach], name=f"add_{step}_member_{member}"
                    )
        return sums[0]

    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        copies = {0: tensor}
        for step in reversed(range(self._partners(len(devices)))):
            reach = 1 << step
            for member in range(0, len(devices) - reach, 2 * reach):
                copies[member + reach] = send(
                    copies[member], devices[member + reach], f"copy_to_{member + reach}"
                )
        return [copies[member] for member in range(len(devices))]
