"""Collective operations among devices, by any of the algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from playgrad.devices.machines import full_name
from playgrad.errors import DTypeError, GraphError, ShapeError, shape_text
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import normalize_axis
from playgrad.ops.state import group
from playgrad.parallel.collectives.algorithm import (
    ALL_GATHER,
    ALL_REDUCE,
    BROADCAST,
    REDUCE_SCATTER,
    Algorithm,
    Begun,
    Cost,
    send,
)
from playgrad.parallel.collectives.buckets import begin_buckets, tensor_bytes
from playgrad.parallel.collectives.choice import choose


class Collectives:
    """Collective operations among devices.

    A method takes one tensor of each member and the members' devices. It adds ordinary operations
    to the graph, each in the device scope of the member that does it, all in a name scope such as
    ``ring_all_reduce`` and in the caller's phase and task. The compiler puts a ``send`` and a
    ``receive`` on each edge between devices. So every collective has a gradient and is visible in
    the graph.

    Each sum is computed on one device in a fixed order, and then copied: all members get the same
    bits, in every run.

    Args:
        algorithm: None chooses one for each operation by size.
    """

    def __init__(self, algorithm: Algorithm | None = None) -> None:
        self.algorithm = algorithm

    @property
    def starts_early(self) -> bool:
        """Whether devices compute while an all-reduce that has begun goes on."""
        return self.algorithm is not None and self.algorithm.starts_early

    @property
    def name(self) -> str:
        return self.algorithm.name if self.algorithm else "auto"

    def for_sums(self, sizes: Sequence[int], members: int) -> Collectives:
        """Return the collectives for a step whose gradients have ``sizes``, in bytes."""
        return self

    def send(self, tensor: Tensor, to: str) -> Tensor:
        """Return ``tensor`` on the device ``to``."""
        return send(tensor, to)

    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        """Return a copy of ``tensor`` on each of ``devices``; the first one sends it on."""
        _expect_members(devices)
        with self._using(BROADCAST, [tensor], len(devices)) as algorithm:
            return algorithm.broadcast(send(tensor, devices[0]), devices)

    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """Return the sum of ``tensors``, which have one shape and type, on each of ``devices``.

        Raises:
            GraphError: the algorithm is a ring, and the size of the tensors is unknown.
        """
        return self._begin_all_reduce(tensors, devices)()

    def _begin_all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> Begun:
        _expect_alike(tensors, devices)
        with self._using(ALL_REDUCE, tensors[:1], len(devices)) as algorithm:
            if algorithm.divides:
                _static_size(tensors[0])
            return algorithm.begin_all_reduce(tensors, devices)

    def reduce_scatter(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """Return the flattened sum of ``tensors`` in parts of nearly equal size, one per device.

        Returns:
            Tensors of one dimension, whose concatenation is the sum.

        Raises:
            GraphError: there are fewer elements than members, or their number is unknown.
        """
        _expect_alike(tensors, devices)
        size = _static_size(tensors[0])
        if size < len(devices):
            raise GraphError(
                f"the {size} elements of '{tensors[0].name}' cannot be divided among "
                f"{len(devices)} members."
            )
        with self._using(REDUCE_SCATTER, tensors[:1], len(devices)) as algorithm:
            return algorithm.reduce_scatter(tensors, devices)

    def all_gather(
        self, tensors: Sequence[Tensor], devices: Sequence[str], axis: int = 0
    ) -> list[Tensor]:
        """Return the concatenation of ``tensors`` along ``axis`` on each of ``devices``."""
        _expect_members(devices, tensors)
        axis = normalize_axis(axis, tensors[0].spec.rank)
        with self._using(ALL_GATHER, tensors, len(devices)) as algorithm:
            return algorithm.all_gather(tensors, devices, axis)

    def all_reduce_many(
        self,
        tensors: Sequence[Sequence[Tensor]],
        devices: Sequence[str],
        bucket_bytes: int,
    ) -> list[list[Tensor]]:
        """Return the sums of several tensors of each member.

        Small tensors are flattened and concatenated into buckets of about ``bucket_bytes``. Larger
        ones are sent as they are.

        Args:
            tensors: a list for each member; the lists have equal shapes and types.

        Returns:
            For each member the list of sums, on its device.
        """
        return self.begin_all_reduce_many(tensors, devices, bucket_bytes)()

    def begin_all_reduce_many(
        self,
        tensors: Sequence[Sequence[Tensor]],
        devices: Sequence[str],
        bucket_bytes: int,
    ) -> Callable[[], list[list[Tensor]]]:
        """Begin what `all_reduce_many` does; what is returned ends it. Nodes added in between are
        computed meanwhile if the algorithm `starts_early`."""
        _expect_members(devices, tensors)
        lengths = {len(listed) for listed in tensors}
        if len(lengths) > 1:
            raise GraphError(f"members have different numbers of tensors: {sorted(lengths)}.")
        for same in zip(*tensors, strict=True):
            _expect_alike(same, devices)
        return begin_buckets(self._begin_all_reduce, tensors, devices, bucket_bytes)

    def barrier(self, before: Iterable[Node | Tensor], devices: Sequence[str]) -> list[Node]:
        """Return a node on each of ``devices`` that does nothing and runs after all of ``before``.

        Nodes created under ``graph.control_dependencies`` of a member's node run after it.
        """
        _expect_members(devices)
        awaited = list(before)
        if not awaited:
            raise GraphError("a barrier needs at least one node to wait for.")
        graph = awaited[0].graph
        with graph.as_default(), graph.name_scope("barrier"):
            return [_wait(graph, awaited, device) for device in devices]

    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        """Return the cost of the operation ``kind`` (``all_reduce``, ...) among ``members``.

        Args:
            nbytes: size of one whole tensor: a term, the gathered result or the copied tensor.
        """
        algorithm = self.algorithm or choose(nbytes, members, kind).algorithm
        return algorithm.cost(kind, nbytes, members)

    def bytes_moved(self, nbytes: int, members: int) -> int:
        """Return the bytes that all members of an all-reduce send together."""
        return self.cost(ALL_REDUCE, nbytes, members).bytes_moved

    @contextmanager
    def _using(self, kind: str, tensors: Sequence[Tensor], members: int) -> Iterator[Algorithm]:
        """Yield the algorithm for ``tensors`` of this total size, within its name scope."""
        sizes = [tensor_bytes(tensor) for tensor in tensors]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        algorithm = self.algorithm or choose(total, members, kind).algorithm
        graph = tensors[0].graph
        with graph.as_default(), graph.name_scope(f"{algorithm.name}_{kind}"):
            yield algorithm


def _wait(graph: Graph, before: Sequence[Node | Tensor], device: str) -> Node:
    with graph.device(device):
        return group(*before, name="wait")


def _static_size(tensor: Tensor) -> int:
    """Return the number of elements of ``tensor``, which is going to be divided."""
    if None in tensor.shape:
        raise GraphError(
            f"'{tensor.name}' of shape {shape_text(tensor.shape)} cannot be divided: its size is "
            "not known.",
            op=tensor.node.name,
            source=tensor.node.source,
            hint="For an all-reduce use 'tree', 'central' or 'auto'.",
        )
    return tensor.spec.size


def _expect_members(devices: Sequence[str], tensors: Sequence[object] | None = None) -> None:
    if not devices:
        raise GraphError("a collective needs at least one device.")
    if tensors is not None and len(tensors) != len(devices):
        raise GraphError(
            f"a collective of {len(devices)} members needs {len(devices)} tensors, "
            f"got {len(tensors)}."
        )


def _expect_alike(tensors: Sequence[Tensor], devices: Sequence[str]) -> None:
    _expect_members(devices, tensors)
    first = tensors[0]
    for tensor, device in zip(tensors, devices, strict=True):
        if tensor.shape != first.shape:
            raise ShapeError(
                f"the members' tensors must have one shape, got {shape_text(first.shape)} on "
                f"{full_name(devices[0])}, but {shape_text(tensor.shape)} on {full_name(device)}.",
                op=tensor.node.name,
                source=tensor.node.source,
            )
        if tensor.dtype != first.dtype:
            raise DTypeError(
                f"the members' tensors must have one dtype, got {first.dtype} on "
                f"{full_name(devices[0])}, but {tensor.dtype} on {full_name(device)}.",
                op=tensor.node.name,
                source=tensor.node.source,
            )
