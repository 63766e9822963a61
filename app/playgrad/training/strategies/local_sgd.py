"""Local SGD: replicas that train independently and average their weights every few steps."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from playgrad.errors import GraphError
from playgrad.graph.tensor import Node
from playgrad.ops.state import Variable
from playgrad.parallel import collectives
from playgrad.parallel.distribution import Distribution
from playgrad.parallel.local_sgd import average
from playgrad.parallel.partition import take_apart
from playgrad.parallel.passes import Pass
from playgrad.parallel.rewrite import DistributedStep
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.trace import Trace
from playgrad.training.device_data import BatchStream
from playgrad.training.recipe import DistributionKey, Recipe
from playgrad.training.step_graphs import build_train_step
from playgrad.training.steps import TrainStep
from playgrad.training.strategies.base import (
    COLLECTIVE,
    DEVICES,
    Descriptor,
    Devices,
    DistributedStrategy,
    StrategyOption,
    device_kind,
    named_devices,
)

LONGEST_TRACE = 16
"""Steps that are traced together: a picture of more would show nothing."""


@dataclass(frozen=True)
class LocalSGD(DistributedStrategy):
    """Local SGD: each device trains on its share of the batch; every few steps all are averaged.

    With plain SGD and ``every=1`` the result is that of `DataParallel` (Stich 2019). Between two
    averages, the losses shown and the weights come from the first device.

    Args:
        devices: the number of devices, of the kind that the model trains on, or their names.
        every: steps between two averages. Each epoch ends with an average as well.
        collective, bucket_bytes: as in `DataParallel`.

    Raises:
        GraphError: ``every`` is below 1.
    """

    devices: Devices
    every: int = 8
    collective: str = "auto"
    bucket_bytes: int = 1 << 20

    name = "local_sgd"
    descriptor = Descriptor(
        "local",
        "Local SGD",
        "Each device trains on its share of the data on its own. Every few steps the devices "
        "average their weights: less to send, and a slightly different result.",
        (
            DEVICES,
            StrategyOption(
                "every",
                "steps between two averages of local",
                "Average every",
                "Steps that each device takes on its own before all devices average.",
            ),
            COLLECTIVE,
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.every < 1:
            raise GraphError(f"every must be ≥ 1, got {self.every}.")

    def build(self, recipe: Recipe, stream: BatchStream) -> TrainStep:
        step = build_train_step(recipe, stream)
        distributed = self.place(recipe, step)
        local = replace(step, run=distributed.run, parts=distributed.parts)
        if not distributed.mirrors:  # a single device
            return local
        flags = distributed.mirrors.get(step.healthy, ())
        names = named_devices(self.devices, device_kind(recipe.network))
        return local.extended(
            LocalStep,
            average=self._average(recipe, step, distributed),
            every=self.every,
            flags=dict(zip(names[1:], flags, strict=True)),
        )

    def _average(self, recipe: Recipe, step: TrainStep, distributed: DistributedStep) -> Node:
        key = DistributionKey(step.run, self)
        if key not in recipe.extra_nodes:
            distribution = self.distribution(device_kind(recipe.network))
            recipe.extra_nodes[key] = average(
                distributed.mirrors,
                [step.healthy, *distributed.mirrors.get(step.healthy, ())],
                take_apart(step.run).written,
                distributed.rows,
                [row[0] for row in distribution.devices],
                distribution.collectives,
                distribution.bucket_bytes,
            )
        return recipe.extra_nodes[key]

    def distribution(self, kind: str, placed_on: tuple[str, ...] = ()) -> Distribution:
        self.expect_unplaced(placed_on)
        return Distribution(
            tuple((name,) for name in named_devices(self.devices, kind)),
            (Pass(0, 0, False), Pass(0, 0, True)),
            collectives.get(self.collective),
            self.bucket_bytes,
            apart=True,
        )

    def settings(self) -> list[str]:
        return [f"every {self.every}"]


@dataclass(frozen=True)
class LocalStep(TrainStep):
    """A step of replicas that train independently.

    Attributes:
        average: the node that replaces the weights of all replicas by their mean.
        every: steps between two averages.
        flags: ``healthy`` of the replicas after the first, by device.
        since: the number of steps since the last average.
    """

    average: Node
    every: int
    flags: dict[str, Variable]
    since: list[int] = field(default_factory=lambda: [0])

    @property
    def synchronizes(self) -> bool:
        return True

    @property
    def replica_flags(self) -> dict[str, Variable]:
        return self.flags

    @property
    def trace_length(self) -> int:
        """The steps of one average, so that its cost counts as often as it occurs."""
        return self.every if self.every <= LONGEST_TRACE else 1

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        start = time.perf_counter()
        done = 0
        while done < steps:
            round_steps = min(steps - done, self.every - self.since[0])
            steps_done = session.repeat(self.run, round_steps).steps_done
            done += steps_done
            self.since[0] += steps_done
            if self.since[0] == self.every:
                self.synchronize(session)
            if steps_done < round_steps:
                break
        return RepeatResult(done, time.perf_counter() - start)

    def run_traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        steps = self.trace_length if self.trace_length <= most else 1
        for _ in range(steps):
            session.run(self.run, trace=trace)
            self.since[0] += 1
            if self.since[0] == self.every:
                session.run(self.average, trace=trace)
                self.since[0] = 0
        return steps

    def synchronize(self, session: Session) -> None:
        if self.since[0]:
            session.run(self.average)
            self.since[0] = 0

    @property
    def replicas_agree(self) -> bool:
        return not self.since[0]

    def resume_state(self) -> dict[str, int]:
        return {"since": self.since[0]}

    def resume(self, session: Session, state: Mapping[str, int]) -> None:
        self.since[0] = state.get("since", 0)
