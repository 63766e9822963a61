"""A way of doing collectives: what `Ring`, `Tree` and `Central` define."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.shape import identity, reshape
from playgrad.parallel.collectives.costs import Cost


class Algorithm(ABC):
    """One algorithm for each collective operation.

    Tensors and devices belong together by their places; arguments have been checked. What a member
    does is made in its device scope; an edge to another device is a transfer.
    """

    name: ClassVar[str]
    divides: ClassVar[bool] = False
    """Whether an all-reduce divides the tensors, and so has to know their sizes."""

    @abstractmethod
    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        """What the operation ``kind`` (``all_reduce``, ...) costs among ``members``.

        Args:
            nbytes: of one whole tensor: what is added up, gathered or copied.
        """

    @abstractmethod
    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """The sum, once on each device."""

    @abstractmethod
    def reduce_scatter(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """The parts of the sum, each on one device."""

    @abstractmethod
    def all_gather(
        self, tensors: Sequence[Tensor], devices: Sequence[str], axis: int
    ) -> list[Tensor]:
        """The concatenation, once on each device."""

    @abstractmethod
    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        """A copy on each device; ``tensor`` is on the first."""


def send(tensor: Tensor, to: str, name: str = "send") -> Tensor:
    """``tensor`` on the device ``to``; itself if it is there."""
    if tensor.device == to:
        return tensor
    with tensor.graph.device(to):
        return identity(tensor, name=name)


def divide(tensor: Tensor, count: int, device: str) -> list[Tensor]:
    """The elements of ``tensor`` in order, in ``count`` parts as even as it goes.

    None is empty: where there are fewer elements, there are fewer parts.
    """
    size = tensor.spec.size
    count = min(count, size)
    bounds = [size * part // count for part in range(count + 1)]
    with tensor.graph.device(device):
        flat = reshape(tensor, [-1])
        return [
            slice_(flat, [first], [last - first], name="part") for first, last in pairwise(bounds)
        ]
