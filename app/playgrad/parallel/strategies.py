"""What a model is told to train on several devices: ``model.compile(..., strategy=...)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playgrad.compiler.place import canonical
from playgrad.devices.registry import ensure_devices
from playgrad.errors import DeviceError, GraphError
from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.schedules import PIPEDREAM, Orders, Pass, make_schedule, simulate
from playgrad.parallel.stages import ESTIMATED, Chain, Stages, deal_out

Devices = int | tuple[str, ...]
"""Their names, or their number."""


def named_devices(devices: Devices, kind: str) -> tuple[str, ...]:
    """The names of ``devices``: a number means so many of ``kind`` ("cpu" or "gpu").

    Raises:
        DeviceError: no devices, one of them twice, or GPUs where there are none.
    """
    if isinstance(devices, int):
        names = tuple(f"{kind}:{index}" for index in range(devices))
    else:
        names = tuple(canonical(name) for name in devices)
    if not names or len(set(names)) < len(names):
        raise DeviceError(f"a strategy needs one or more different devices, not {devices!r}.")
    ensure_devices(names)
    return names


def as_devices(strategy: Any) -> None:
    """Let ``devices`` of a frozen ``strategy`` be a number or a tuple: what can be compared."""
    if not isinstance(strategy.devices, int):
        object.__setattr__(strategy, "devices", tuple(strategy.devices))


@dataclass(frozen=True)
class DataParallel:
    """Synchronous data parallelism: each device does the step for its share of the batch.

    Each has its own copy of the variables. The gradients are averaged, weighted by samples, before
    every device makes the same update: the result is that of one device on the whole batch.

    Args:
        devices: names, or how many of the kind that the model trains on.
        collective: how gradients are added up: "ring", "tree", "central", or "auto" by size.
        bucket_bytes: gradients travel in buckets of about this size, as soon as each is full.
    """

    devices: Devices
    collective: str = "auto"
    bucket_bytes: int = 1 << 20

    name = "data_parallel"

    def __post_init__(self) -> None:
        as_devices(self)

    def stages_of(self, chain: Chain) -> tuple[int, ...]:
        """No stages: every device has all layers."""
        return ()

    def layout(self, kind: str, own: tuple[str, ...] = ()) -> Distribution:
        """The layout over devices of ``kind``, unless they are named.

        Args:
            own: the devices that the model's layers were placed on: each replica has as many.

        Raises:
            GraphError: the first replica would not be where the layers are.
        """
        names = named_devices(self.devices, kind)
        width = max(1, len(own))
        if len(names) % width or (own and names[:width] != own):
            raise GraphError(
                f"the layers are placed on {', '.join(own)}, so each replica needs {width} "
                f"devices, and the first replica those; not {', '.join(names)}.",
                hint="Name the devices in that order, as many for every replica.",
            )
        return Distribution(
            tuple(names[first : first + width] for first in range(0, len(names), width)),
            (Pass(0, 0, False), Pass(0, 0, True)),
            collectives.get(self.collective),
            self.bucket_bytes,
        )


@dataclass(frozen=True)
class Pipeline:
    """The layers dealt out to devices, through which micro-batches pass one after the other.

    A step ends with all passes done (a flush), so its result is that of one device on the batch;
    but not with the schedule "pipedream", where each micro-batch is an update by itself, so that a
    step makes as many as there are micro-batches: see `playgrad.parallel.stashing`.

    Args:
        devices: names, or how many of the kind that the model trains on; so many for each replica
            as its pipeline has devices.
        micro_batches: parts of a replica's share of the batch.
        schedule: the order of the passes: "gpipe", "1f1b", "interleaved", "bidirectional" or
            "pipedream"; see `playgrad.parallel.schedules`.
        stages: which layers make up each stage: their names by stage, or their numbers; or
            "estimated" to divide them by their arithmetic, "balanced" by measured times.
        chunks: stages of each device; two or more need the schedule "interleaved", whose default
            is 2.
        replicas: pipelines beside each other, each with its share of the batch.
        collective, bucket_bytes: as in `DataParallel`.

    Raises:
        GraphError: the schedule cannot be done with these numbers.
    """

    devices: Devices
    micro_batches: int = 4
    schedule: str = "1f1b"
    stages: Stages = ESTIMATED
    chunks: int | None = None
    replicas: int = 1
    collective: str = "auto"
    bucket_bytes: int = 1 << 20

    name = "pipeline"

    def __post_init__(self) -> None:
        as_devices(self)
        if not isinstance(self.stages, str):
            by_hand = tuple(e if isinstance(e, int) else tuple(e) for e in self.stages)
            object.__setattr__(self, "stages", by_hand)
        if self.chunks is None:
            object.__setattr__(self, "chunks", 2 if self.schedule == "interleaved" else 1)
        count = self.devices if isinstance(self.devices, int) else len(self.devices)
        if self.replicas < 1 or count % self.replicas:
            raise GraphError(f"{count} devices cannot make up {self.replicas} equal pipelines.")
        if self.replicas > 1 and self.schedule == PIPEDREAM:
            raise GraphError("an asynchronous pipeline cannot have replicas.")
        self.orders()

    @property
    def depth(self) -> int:
        """Devices of one pipeline."""
        count = self.devices if isinstance(self.devices, int) else len(self.devices)
        return count // self.replicas

    def orders(self) -> Orders:
        """The passes of each device of one pipeline."""
        assert self.chunks is not None
        return make_schedule(self.schedule, self.depth, self.micro_batches, self.chunks)

    def stages_of(self, chain: Chain) -> tuple[int, ...]:
        """The stage of each step of the model ``chain``."""
        assert self.chunks is not None
        return deal_out(chain, self.stages, self.depth * self.chunks)

    def layout(self, kind: str) -> Distribution:
        """The layout over devices of ``kind``, unless they are named."""
        assert self.chunks is not None
        names = named_devices(self.devices, kind)
        schedule = tuple(item.entry for item in simulate(self.orders()))
        rows = []
        for first in range(0, len(names), self.depth):
            own = names[first : first + self.depth]
            for stream in range(1 + max(entry.stream for entry in schedule)):
                rows.append((own if stream == 0 else own[::-1]) * self.chunks)
        return Distribution(
            tuple(rows),
            schedule,
            collectives.get(self.collective),
            self.bucket_bytes,
            stashing=self.schedule == PIPEDREAM,
        )
