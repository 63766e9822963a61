"""How a training step is laid over devices, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from playgrad.compiler.place import Placement
from playgrad.graph.tensor import Node
from playgrad.ops.state import Variable
from playgrad.parallel.collectives import Collectives
from playgrad.parallel.schedules import Pass


@dataclass(frozen=True)
class Layout:
    """How a step is laid over devices.

    Attributes:
        devices: for each replica the device of each stage.
        schedule: the passes in an order in which they can be done; each device does its own in
            this order. Where there are several streams, the replicas take turns in them: all that
            are in a pass's stream do it, each with its own micro-batch.
        collectives: how replicas add up what they have computed.
        bucket_bytes: gradients are added up in buckets of about this size, each as soon as it is
            full.
        stashing: each micro-batch is an update of its own; see `playgrad.parallel.stashing`.
        apart: replicas do not add up anything, but go on by what they have computed themselves.
    """

    devices: tuple[tuple[str, ...], ...]
    schedule: tuple[Pass, ...]
    collectives: Collectives
    bucket_bytes: int = 1 << 20
    apart: bool = False
    stashing: bool = False

    @property
    def micro_batches(self) -> list[int]:
        """Of each replica."""
        counts = [0] * self.streams
        for entry in self.schedule:
            counts[entry.stream] = max(counts[entry.stream], entry.micro_batch + 1)
        return [counts[self.stream(replica)] for replica in range(len(self.devices))]

    @property
    def streams(self) -> int:
        return 1 + max(entry.stream for entry in self.schedule)

    def stream(self, replica: int) -> int:
        """The stream that the replica of this number is in."""
        return replica % self.streams

    @property
    def is_pipeline(self) -> bool:
        return len(self.schedule) > 2


@dataclass(frozen=True)
class Rewritten:
    """A step laid over devices.

    Attributes:
        run: runs it.
        mirrors: for each mirrored variable its copies, on the replicas after the first.
        homes: devices of the step's own variables, by name.
        rows: samples of the batch, by replica.
    """

    run: Node
    mirrors: dict[Variable, list[Variable]]
    homes: dict[str, str]
    rows: tuple[int, ...]

    @cached_property
    def placement(self) -> Placement:
        """Where the step's own variables are; the same function each time."""
        return lambda node: self.homes.get(node.name)


_MIRROR = "/replica_"


def mirror_name(variable: str, replica: int) -> str:
    """What a replica's own copy of ``variable`` is called."""
    return f"{variable}{_MIRROR}{replica}"


def replica_of(mirror: str) -> int:
    """The number of the replica that has the variable called ``mirror``; 0 if it is no copy."""
    return int(mirror.rpartition(_MIRROR)[2]) if _MIRROR in mirror else 0


def mirrored_by(variable: str) -> str:
    """The name of the variable that ``variable`` is a copy of; its own if it is no copy."""
    return variable.partition(_MIRROR)[0]
