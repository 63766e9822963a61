"""What a model is told to train on several devices: ``model.compile(..., strategy=...)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.compiler.place import canonical
from playgrad.devices.registry import ensure_devices
from playgrad.errors import DeviceError
from playgrad.parallel import collectives
from playgrad.parallel.rewrite import Layout, Pass
from playgrad.parallel.schedules import gpipe

Devices = int | tuple[str, ...]
Layer = Any
"""What a model's structure consists of: a layer's call, or an operation without a layer."""


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

    def stages_of(self, layers: Sequence[Layer]) -> tuple[int, ...]:
        """No stages: every device has all layers."""
        return ()

    def layout(self, kind: str) -> Layout:
        """The layout over devices of ``kind``, unless they are named."""
        names = named_devices(self.devices, kind)
        schedule = (Pass(0, 0, False), Pass(0, 0, True))
        return Layout(
            tuple((name,) for name in names),
            schedule,
            collectives.get(self.collective),
            self.bucket_bytes,
        )


@dataclass(frozen=True)
class Pipeline:
    """The layers dealt out to devices, through which micro-batches pass one after the other.

    Args:
        devices: names, or how many of the kind that the model trains on: one for each stage.
        micro_batches: parts of the batch.
        schedule: the order of the passes.
        replicas: pipelines beside each other, each with its share of the batch.
    """

    devices: Devices
    micro_batches: int = 4
    schedule: str = "gpipe"
    replicas: int = 1
    collective: str = "auto"
    bucket_bytes: int = 1 << 20

    name = "pipeline"

    @property
    def stages(self) -> int:
        count = self.devices if isinstance(self.devices, int) else len(self.devices)
        return count // self.replicas

    def stages_of(self, layers: Sequence[Layer]) -> tuple[int, ...]:
        """The stage of each layer."""
        return tuple(place * self.stages // len(layers) for place in range(len(layers)))

    def layout(self, kind: str) -> Layout:
        """The layout over devices of ``kind``, unless they are named."""
        names = named_devices(self.devices, kind)
        rows = tuple(
            names[first : first + self.stages] for first in range(0, len(names), self.stages)
        )
        return Layout(
            rows,
            tuple(gpipe(self.stages, self.micro_batches)),
            collectives.get(self.collective),
            self.bucket_bytes,
        )


Strategy = DataParallel | Pipeline
