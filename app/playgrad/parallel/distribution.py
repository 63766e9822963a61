"""The distribution of a training step over devices."""

from __future__ import annotations

from dataclasses import dataclass

from playgrad.parallel.collectives import Collectives
from playgrad.parallel.passes import Pass


@dataclass(frozen=True)
class Distribution:
    """A strategy applied to named devices.

    Attributes:
        devices: the devices of all stages, for each replica.
        schedule: the passes, each after the passes that it depends on; each device runs its own in
            this order. Replicas are dealt out to the schedule's streams in turn: all replicas of a
            pass's stream run it, each with its own micro-batch.
        collectives: add up the replicas' gradients, losses and metrics.
        bucket_bytes: gradients are added up in buckets of about this size, each as soon as it is
            full.
        stashing: each micro-batch is a separate update; see `playgrad.parallel.stashing`.
        width: the number of devices of a stage; a replica's are listed stage by stage.
        apart: replicas do not add up gradients; each updates its weights by its own.
    """

    devices: tuple[tuple[str, ...], ...]
    schedule: tuple[Pass, ...]
    collectives: Collectives
    bucket_bytes: int = 1 << 20
    apart: bool = False
    stashing: bool = False
    width: int = 1

    @property
    def micro_batches(self) -> list[int]:
        """The number of micro-batches of each replica."""
        counts = [0] * self.streams
        for entry in self.schedule:
            counts[entry.stream] = max(counts[entry.stream], entry.micro_batch + 1)
        return [counts[self.stream(replica)] for replica in range(len(self.devices))]

    @property
    def streams(self) -> int:
        """The number of streams of the schedule."""
        return 1 + max(entry.stream for entry in self.schedule)

    def stream(self, replica: int) -> int:
        """The stream of the replica with this number."""
        return replica % self.streams

    @property
    def is_pipeline(self) -> bool:
        """Return whether there are several stages or micro-batches."""
        return len(self.schedule) > 2
