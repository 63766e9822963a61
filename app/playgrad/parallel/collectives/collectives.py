"""The seam between what is laid over several devices and how these talk to each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from playgrad.errors import DTypeError, GraphError, ShapeError, shape_text
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import normalize_axis
from playgrad.ops.state import group
from playgrad.parallel.collectives.algorithm import Algorithm, send
from playgrad.parallel.collectives.buckets import all_reduce_buckets, tensor_bytes
from playgrad.parallel.collectives.choice import choose
from playgrad.parallel.collectives.costs import (
    ALL_GATHER,
    ALL_REDUCE,
    BROADCAST,
    REDUCE_SCATTER,
    Cost,
)


class Collectives:
    """Collective operations among devices.

    A method takes one tensor for each member and the members' devices, and adds ordinary operations
    to the graph, each in the device scope of the member that does it, all in a name scope such as
    ``ring_all_reduce``. Where an edge goes from one device to another the compiler puts a ``send``
    and a ``receive``. So every collective has a gradient, can be looked at, and joins the phase and
    the task that the caller is in.

    Sums are made in a fixed order, each at one place, and then copied: all members get the same
    bits, in every run.

    Args:
        way: how they are done; None chooses for each operation by size.
    """

    def __init__(self, way: Algorithm | None = None) -> None:
        self.way = way

    @property
    def name(self) -> str:
        return self.way.name if self.way else "auto"

    def send(self, tensor: Tensor, to: str) -> Tensor:
        """``tensor`` on the device ``to``."""
        return send(tensor, to)

    def broadcast(self, tensor: Tensor, devices: Sequence[str]) -> list[Tensor]:
        """A copy of ``tensor`` on each of ``devices``; from the first it goes to the others."""
        _expect_members(devices)
        with self._using(BROADCAST, [tensor], len(devices)) as way:
            return way.broadcast(send(tensor, devices[0]), devices)

    def all_reduce(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """The sum of ``tensors``, of one shape and type, on each of ``devices``.

        Raises:
            GraphError: a ring is to divide tensors of unknown size.
        """
        _expect_alike(tensors, devices)
        with self._using(ALL_REDUCE, tensors[:1], len(devices)) as way:
            if way.divides:
                _static_size(tensors[0])
            return way.all_reduce(tensors, devices)

    def reduce_scatter(self, tensors: Sequence[Tensor], devices: Sequence[str]) -> list[Tensor]:
        """The sum of ``tensors`` laid flat and divided as evenly as it goes: a part on each device.

        Returns:
            Tensors of one dimension; together, in order, they are all elements of the sum.

        Raises:
            GraphError: there are fewer elements than members, or their number is not known.
        """
        _expect_alike(tensors, devices)
        size = _static_size(tensors[0])
        if size < len(devices):
            raise GraphError(
                f"the {size} elements of '{tensors[0].name}' cannot be divided among "
                f"{len(devices)} members."
            )
        with self._using(REDUCE_SCATTER, tensors[:1], len(devices)) as way:
            return way.reduce_scatter(tensors, devices)

    def all_gather(
        self, tensors: Sequence[Tensor], devices: Sequence[str], axis: int = 0
    ) -> list[Tensor]:
        """``tensors`` one after the other along ``axis``, on each of ``devices``."""
        _expect_members(devices, tensors)
        axis = normalize_axis(axis, tensors[0].spec.rank)
        with self._using(ALL_GATHER, tensors, len(devices)) as way:
            return way.all_gather(tensors, devices, axis)

    def all_reduce_many(
        self,
        tensors: Sequence[Sequence[Tensor]],
        devices: Sequence[str],
        bucket_bytes: int,
    ) -> list[list[Tensor]]:
        """The sums of several tensors of each member.

        Small ones travel together: they are laid flat, one after the other, in buckets of about
        ``bucket_bytes``. Larger ones are not copied.

        Args:
            tensors: for each member its list; the lists have equal shapes and types.

        Returns:
            For each member the sums, on its device, in the order given.
        """
        _expect_members(devices, tensors)
        lengths = {len(own) for own in tensors}
        if len(lengths) > 1:
            raise GraphError(f"members give different numbers of tensors: {sorted(lengths)}.")
        for same in zip(*tensors, strict=True):
            _expect_alike(same, devices)
        return all_reduce_buckets(self.all_reduce, tensors, devices, bucket_bytes)

    def barrier(self, before: Iterable[Node | Tensor], devices: Sequence[str]) -> list[Node]:
        """A node on each of ``devices`` that does nothing, after all of ``before``.

        What is made under ``graph.control_dependencies`` of a member's node begins after them.
        """
        _expect_members(devices)
        awaited = list(before)
        if not awaited:
            raise GraphError("a barrier needs at least one node to wait for.")
        graph = awaited[0].graph
        with graph.as_default(), graph.name_scope("barrier"):
            return [_wait(graph, awaited, device) for device in devices]

    def cost(self, kind: str, nbytes: int, members: int) -> Cost:
        """What the operation ``kind`` (``all_reduce``, ...) costs.

        Args:
            nbytes: of one whole tensor: what is added up, gathered or copied.
        """
        way = self.way or choose(nbytes, members, kind).way
        return way.cost(kind, nbytes, members)

    def bytes_moved(self, nbytes: int, members: int) -> int:
        """Bytes that all members of an all-reduce together send."""
        return self.cost(ALL_REDUCE, nbytes, members).bytes_moved

    @contextmanager
    def _using(self, kind: str, tensors: Sequence[Tensor], members: int) -> Iterator[Algorithm]:
        """The way in which ``kind`` is done with what ``tensors`` hold together; in its scope."""
        sizes = [tensor_bytes(tensor) for tensor in tensors]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        way = self.way or choose(total, members, kind).way
        graph = tensors[0].graph
        with graph.as_default(), graph.name_scope(f"{way.name}_{kind}"):
            yield way


def _wait(graph: Graph, before: Sequence[Node | Tensor], device: str) -> Node:
    with graph.device(device):
        return group(*before, name="wait")


def _static_size(tensor: Tensor) -> int:
    """The number of elements of ``tensor``, which is to be divided."""
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
            f"a collective of {len(devices)} members needs as many tensors, not {len(tensors)}."
        )


def _expect_alike(tensors: Sequence[Tensor], devices: Sequence[str]) -> None:
    _expect_members(devices, tensors)
    first = tensors[0]
    for tensor, device in zip(tensors, devices, strict=True):
        if tensor.shape != first.shape:
            raise ShapeError(
                f"what members add up must have one shape: {shape_text(first.shape)} on "
                f"{devices[0]}, but {shape_text(tensor.shape)} on {device}.",
                op=tensor.node.name,
                source=tensor.node.source,
            )
        if tensor.dtype != first.dtype:
            raise DTypeError(
                f"what members add up must have one type: {first.dtype} on {devices[0]}, but "
                f"{tensor.dtype} on {device}.",
                op=tensor.node.name,
                source=tensor.node.source,
            )
