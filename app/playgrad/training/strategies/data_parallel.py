"""Synchronous data parallelism."""

from __future__ import annotations

from dataclasses import dataclass, replace

from playgrad.devices.machines import full_names
from playgrad.errors import GraphError
from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.passes import Pass
from playgrad.parallel.step_jobs import data_parallel_jobs
from playgrad.training.device_data import BatchStream
from playgrad.training.recipe import Recipe
from playgrad.training.step_graphs import build_train_step
from playgrad.training.steps import TrainStep
from playgrad.training.strategies.base import (
    COLLECTIVE,
    DEVICES,
    Descriptor,
    Devices,
    DistributedStrategy,
    Simulation,
    named_devices,
)


@dataclass(frozen=True)
class DataParallel(DistributedStrategy):
    """Synchronous data parallelism: each device computes the step for its share of the batch.

    Each device has a copy of the variables. The gradients are averaged, weighted by samples, and
    every device makes the same update: the result is that of one device on the whole batch.

    Args:
        devices: the number of devices, of the kind that the model trains on, or their names.
        collective: how gradients are added up: "ring", "tree", "central", or "auto" by size.
        bucket_bytes: gradients are sent in buckets of about this size, each as soon as it is full.
    """

    devices: Devices
    collective: str = "auto"
    bucket_bytes: int = 1 << 20

    name = "data_parallel"
    descriptor = Descriptor(
        "sync",
        "Data parallel, synchronous",
        "Each device has all layers and takes its share of every batch. The gradients are "
        "averaged, then all make the same update. The result is that of one device.",
        (DEVICES, COLLECTIVE),
        can_be_simulated=True,
    )

    def build(self, recipe: Recipe, stream: BatchStream) -> TrainStep:
        step = build_train_step(recipe, stream)
        distributed = self.place(recipe, step)
        return replace(step, run=distributed.run, parts=distributed.parts)

    def distribution(self, kind: str, placed_on: tuple[str, ...] = ()) -> Distribution:
        """Return how a step is distributed over devices of ``kind``, unless they are named.

        Args:
            placed_on: the devices that the user placed layers on: each replica has as many.

        Raises:
            GraphError: the first replica would not be on those devices.
        """
        names = named_devices(self.devices, kind)
        width = max(1, len(placed_on))
        if len(names) % width or (placed_on and names[:width] != placed_on):
            raise GraphError(
                f"layers are placed on {full_names(placed_on)}, so each replica needs {width} "
                f"devices, and the first replica those; got {full_names(names)}.",
                hint="Name the devices in that order, the same number for every replica.",
            )
        return Distribution(
            tuple(names[first : first + width] for first in range(0, len(names), width)),
            (Pass(0, 0, False), Pass(0, 0, True)),
            collectives.get(self.collective),
            self.bucket_bytes,
        )

    def simulation(self) -> Simulation:
        # The simulator does not choose an algorithm, as "auto" would.
        algorithm = "ring" if self.collective == "auto" else self.collective
        return Simulation(
            parts=self.width,
            stages=1,
            micro_batches=1,
            jobs=lambda costs: data_parallel_jobs(costs[0], self.width, algorithm),
        )
