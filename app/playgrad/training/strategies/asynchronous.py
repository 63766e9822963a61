"""Asynchronous data parallelism with a parameter server."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from playgrad.errors import GraphError
from playgrad.ops.state import Variable
from playgrad.parallel.parameter_server import ParameterServer
from playgrad.parallel.partition import take_apart
from playgrad.parallel.ray_cluster import Ray
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.trace import Trace
from playgrad.training.batch_sizes import BatchSizes
from playgrad.training.device_data import BatchStream
from playgrad.training.recipe import Recipe
from playgrad.training.step_graphs import build_train_step
from playgrad.training.steps import TrainStep
from playgrad.training.strategies.base import (
    DEVICES,
    Descriptor,
    Devices,
    SeveralDevices,
    StrategyOption,
    device_kind,
    named_devices,
)
from playgrad.training.variable_placement import place_variables

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class AsynchronousDataParallel(SeveralDevices):
    """Asynchronous data parallelism: a parameter server, and replicas that do not wait for others.

    The weights are on the model's own device. Each replica computes gradients of whole batches. A
    replica that is slow or fails does not stop the others. Results are not reproducible, because
    the order in which gradients arrive is not. See `playgrad.parallel.parameter_server`.

    Args:
        devices: the devices of the replicas: their number, of the kind that the model trains on, or
            their names.
        staleness: the most batches that a replica may be ahead of the slowest; None for no limit.
        delays: seconds by which each batch is delayed, by device, to show the effect of a slow
            replica.
        ray: the cluster on which the replicas run, in place of this process: each in a process of
            its own, on the first device of the kind. One whose process dies comes back.

    Raises:
        GraphError: ``staleness`` is below 0.
    """

    devices: Devices
    staleness: int | None = None
    delays: Mapping[str, float] = field(default_factory=dict, hash=False)
    ray: Ray | None = None

    descriptor = Descriptor(
        "async",
        "Data parallel, asynchronous",
        "Each device has all layers and updates the shared weights without waiting for the others. "
        "A slow device does not hold up the rest, but gradients may come from older weights.",
        (
            DEVICES,
            StrategyOption(
                "staleness",
                "batches that a replica of async may be ahead of the slowest",
                "Staleness bound",
                "Batches that a device may be ahead of the slowest before it waits. Empty: no "
                "limit.",
                least=0,
            ),
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.staleness is not None and self.staleness < 0:
            raise GraphError(f"staleness must be ≥ 0, got {self.staleness}.")

    def build(self, recipe: Recipe, stream: BatchStream) -> AsynchronousStep:
        step = build_train_step(recipe, stream)
        network = recipe.network
        if network.session.members.size > 1:
            raise GraphError(
                "asynchronous replicas belong to one process, and this run has several.",
                hint="With --hosts use --parallel sync or --parallel local, or --ray in its place.",
            )
        if stream.first is None:  # otherwise they are in place
            place_variables(network)
        server = ParameterServer(
            take_apart(step.run),
            network.session,
            named_devices(self.devices, device_kind(network), there=self.ray is not None),
            recipe.optimizer.iterations,
            stream.data.variables,
            self.staleness,
            self.delays,
            self.ray,
        )
        return step.extended(AsynchronousStep, server=server)

    def with_last(
        self, recipe: Recipe, step: TrainStep, stream: BatchStream, length: int
    ) -> TrainStep:
        # Replicas do not wait for each other at the end of a round: one of them has the smaller
        # batch, while others begin with the next round.
        assert isinstance(step, AsynchronousStep)
        step.server.end_rounds_with(take_apart(build_train_step(recipe, stream).run), length)
        return replace(step, rest=stream.batch)

    def settings(self) -> list[str]:
        bound = [] if self.staleness is None else [f"at most {self.staleness} ahead"]
        return bound if self.ray is None else [*bound, "on Ray"]

    @property
    def delays_devices(self) -> bool:
        return bool(self.delays)

    def with_delays(self, seconds: Mapping[str, float]) -> Self:
        # Replicas are slow, not the parameter server, which may be on the same device.
        return replace(self, delays=dict(seconds))


@dataclass(frozen=True)
class AsynchronousStep(TrainStep):
    """Updates with the gradients that replicas send to a parameter server.

    Attributes:
        rest: samples of the last batch of a round; 0 if all are full.
        sizes: the samples of batches, in the order in which their gradients arrived.
    """

    server: ParameterServer
    rest: int = 0
    sizes: BatchSizes = field(default_factory=BatchSizes)

    def begin(self, session: Session, first: int, done: int, earlier: int = 0) -> None:
        super().begin(session, first, done, earlier)
        self.sizes.done, self.server.started = done, first - earlier

    def samples_of(self, first: int, count: int) -> Array:
        return self.sizes.of(first, count) if self.rest else super().samples_of(first, count)

    def _run(self, session: Session, steps: int) -> int:
        try:
            return self.server.run(steps, session.stop_check)
        finally:
            for is_last in self.server.applied:
                self.sizes.next(self.rest if is_last else self.batch)
                self.sizes.done += 1
            self.server.applied.clear()

    def take_data(self, values: Mapping[Variable, Array], batches: int) -> None:
        self.server.take_data(values, batches)

    def join(self, first: TrainStep) -> None:
        assert isinstance(first, AsynchronousStep)
        self.server.report = first.server.report

    @property
    def parameter_server(self) -> ParameterServer:
        return self.server

    @property
    def trace_length(self) -> int:
        """Two updates for each replica, so that all of them are seen at work."""
        return 2 * len(self.server.clients)

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        start = time.perf_counter()
        done = self._run(session, steps)
        return RepeatResult(done, time.perf_counter() - start)

    def run_traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        self.server.trace = trace
        try:
            done = self._run(session, min(most, self.trace_length))
            self.server.trace_unfinished()
            return done
        finally:
            self.server.trace = None

    def resume_state(self) -> dict[str, int]:
        return self.sizes.state() if self.rest else {}

    def resume(self, session: Session, state: Mapping[str, int]) -> None:
        self.sizes.resume(state)
        self.server.count_on()

    def finish(self) -> dict[str, Any]:
        self.server.close()
        return self.server.report.as_dict()
