"""The interface of collective algorithms, and their costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.shape import identity, reshape

ALL_REDUCE = "all_reduce"
REDUCE_SCATTER = "reduce_scatter"
ALL_GATHER = "all_gather"
BROADCAST = "broadcast"


Begun = Callable[[], list[Tensor]]


@dataclass(frozen=True)
class Cost:
    """The cost of one collective operation.

    Attributes:
        rounds: transfers in the longest chain in which each waits for the one before it.
        bytes_moved: sent by all members together.
        busiest: bytes that the busiest member sends and receives.
    """

    rounds: int
    bytes_moved: int
    busiest: int


class Algorithm(ABC):
    """A way to perform each of the collective operations.

    Tensor i belongs to the member on device i. `Collectives` has checked the arguments. The nodes
    of a member are created in its device scope; an edge to another device is a transfer.
    """

    name: ClassVar[str]
    divides: ClassVar[bool] = False
    """True if an all-reduce divides the tensors, so that their sizes must be known."""
    starts_early: ClassVar[bool] = False
    """True if devices compute while an all-reduce that has begun goes on."""
    both_ways: ClassVar[bool] = False
    """True if members send and receive at the same time, except in a broadcast."""

    @abstractmethod
    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        """Return the cost of the operation ``kind`` (``all_reduce``, ...) among ``members``.

        Args:
            nbytes: size of one whole tensor: a term, the gathered result or the copied tensor.
        """

    @abstractmethod
    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """Return the sum on each device."""

    def begin_all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> Begun:
        """Begin an all-reduce; what is returned ends it, and returns the sum on each device."""
        sums = self.all_reduce(tensors, devices)
        return lambda: sums

    @abstractmethod
    def reduce_scatter(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """Return the parts of the sum, one on each device."""

    @abstractmethod
    def all_gather(
        self, tensors: Sequence[Tensor], devices: Sequence[str], axis: int
    ) -> list[Tensor]:
        """Return the concatenation on each device."""

    @abstractmethod
    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        """Return a copy on each device; ``tensor`` is on the first."""


def send(tensor: Tensor, to: str, name: str = "send") -> Tensor:
    """Return ``tensor`` on the device ``to``: itself if it is there."""
    if tensor.device == to:
        return tensor
    with tensor.graph.device(to):
        return identity(tensor, name=name)


def divide(tensor: Tensor, count: int, device: str) -> list[Tensor]:
    """Divide the elements of ``tensor`` into ``count`` consecutive parts of nearly equal size.

    A tensor of fewer elements gives fewer parts, so that no part is empty.
    """
    size = tensor.spec.size
    count = min(count, size)
    bounds = [size * part // count for part in range(count + 1)]
    with tensor.graph.device(device):
        flat = reshape(tensor, [-1])
        return [
            slice_(flat, [first], [last - first], name="part") for first, last in pairwise(bounds)
        ]
