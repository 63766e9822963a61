"""A training step laid over several devices, as a strategy has it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

from playgrad.errors import GraphError
from playgrad.graph.tensor import Node
from playgrad.nn.layer_calls import notes_of
from playgrad.ops.state import Variable
from playgrad.parallel import Strategy
from playgrad.parallel.asynchronous import ParameterServer
from playgrad.parallel.local_sgd import average
from playgrad.parallel.partition import take_apart
from playgrad.parallel.relaxed import AsynchronousDataParallel, LocalSGD, Overlap
from playgrad.parallel.rewrite import DistributedStep, rewrite
from playgrad.parallel.strategies import DataParallel, Pipeline
from playgrad.parallel.unroll import unroll
from playgrad.runtime.session import RepeatResult, Session
from playgrad.runtime.session_placement import PlacementRequest
from playgrad.runtime.trace import Trace
from playgrad.training.device_data import DeviceData
from playgrad.training.layer_costs import chain_of
from playgrad.training.step_graphs import HISTORY_ROWS, TrainStep, build_train_step

if TYPE_CHECKING:
    from playgrad.models.model import Model

LONGEST_ROUND = 16
"""Steps of local SGD that are traced together: of more a picture shows nothing."""


@dataclass(frozen=True)
class LocalStep(TrainStep):
    """Replicas that train apart; ``mean`` lets them go on from their mean, every so many steps.

    ``others`` are the flags of those after the first, by device.
    """

    settles: ClassVar[bool] = True
    mean: Node
    every: int
    others: dict[str, Variable]
    since: list[int] = field(default_factory=lambda: [0])

    @property
    def replicas(self) -> dict[str, Variable]:
        return self.others

    @property
    def together(self) -> int:
        """As many as there is one mean for, so that it counts as often as it is made."""
        return self.every if self.every <= LONGEST_ROUND else 1

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        start = time.perf_counter()
        done = 0
        while done < steps:
            wanted = min(steps - done, self.every - self.since[0])
            made = session.repeat(self.run, wanted).steps_done
            done += made
            self.since[0] += made
            if self.since[0] == self.every:
                self.settle(session)
            if made < wanted:
                break
        return RepeatResult(done, time.perf_counter() - start)

    def traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        steps = self.together if self.together <= most else 1
        for _ in range(steps):
            session.run(self.run, trace=trace)
            self.since[0] += 1
            if self.since[0] == self.every:
                session.run(self.mean, trace=trace)
                self.since[0] = 0
        return steps

    def settle(self, session: Session) -> None:
        if self.since[0]:
            session.run(self.mean)
            self.since[0] = 0


@dataclass(frozen=True)
class OverlappedStep(TrainStep):
    """Steps of which ``count`` at a time are one run, ``many``."""

    many: Node
    count: int

    @property
    def together(self) -> int:
        return self.count

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        together, apart = divmod(steps, self.count)
        first = session.repeat(self.many, together)
        if first.steps_done < together:
            return RepeatResult(first.steps_done * self.count, first.seconds)
        rest = session.repeat(self.run, apart)
        done = together * self.count + rest.steps_done
        return RepeatResult(done, first.seconds + rest.seconds)

    def traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        if most < self.count:
            return super().traced(session, trace)
        session.run(self.many, trace=trace)
        return self.count


@dataclass(frozen=True)
class AsynchronousStep(TrainStep):
    """Updates by the gradients that replicas hand in."""

    server: ParameterServer

    @property
    def together(self) -> int:
        """Two for each replica, so that each is seen at work."""
        return 2 * len(self.server.clients)

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        start = time.perf_counter()
        done = self.server.run(steps, session.stop_check)
        return RepeatResult(done, time.perf_counter() - start)

    def traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        self.server.trace = trace
        try:
            done = self.server.run(min(most, self.together), session.stop_check)
            self.server.note_unfinished()
            return done
        finally:
            self.server.trace = None

    def finish(self) -> dict[str, Any]:
        self.server.close()
        return self.server.report.as_dict()


def build_parallel_step(
    model: Model,
    data: DeviceData,
    batch: int,
    shuffle: bool,
    seed: int | None,
    strategy: Strategy,
) -> TrainStep:
    """The training step over ``data`` on the devices of ``strategy``, its graph made once for equal
    arguments; variables are moved, and copied, to where it needs them.

    Raises:
        GraphError: the batch or the model has fewer parts than the strategy needs.
        DeviceError: a device does not exist.
    """
    if isinstance(strategy, Pipeline):
        # Once: measured anew, the times and so the stages might differ from fit to fit.
        chosen = ("stages", strategy, data.key, batch)
        if chosen not in model.cache:
            model.cache[chosen] = strategy.stages_of(chain_of(model, data, batch))
        step = build_train_step(model, data, batch, shuffle, seed, model.cache[chosen])
    else:
        step = build_train_step(model, data, batch, shuffle, seed)
    common = {item.name: getattr(step, item.name) for item in fields(TrainStep)}
    if isinstance(strategy, Overlap):
        settle(model)
        count = min(strategy.steps, HISTORY_ROWS)
        return OverlappedStep(**common, many=_unrolled(model, step, count), count=count)
    if isinstance(strategy, AsynchronousDataParallel):
        settle(model)
        return AsynchronousStep(**common, server=_parameter_server(model, data, step, strategy))
    rewritten = _rewritten(model, step, batch, strategy)
    settle(model, rewritten)
    common["run"] = rewritten.run
    if isinstance(strategy, LocalSGD) and rewritten.mirrors:
        mean = _mean(model, step, rewritten, strategy)
        devices = [row[0] for row in strategy.layout(_kind(model)).devices]
        flags = rewritten.mirrors.get(step.healthy, ())
        others = dict(zip(devices[1:], flags, strict=True))
        return LocalStep(**common, mean=mean, every=strategy.every, others=others)
    return TrainStep(**common)


def _kind(model: Model) -> str:
    return model.session.device.partition(":")[0]


def _rewritten(
    model: Model, step: TrainStep, batch: int, strategy: DataParallel | Pipeline | LocalSGD
) -> DistributedStep:
    key = ("parallel", step.run, strategy)
    if key not in model.cache:
        parts = take_apart(step.run)
        if isinstance(strategy, DataParallel):
            layout = strategy.layout(_kind(model), parts.user_devices)
        elif len(parts.user_devices) > 1:
            raise GraphError(
                f"'{strategy.name}' cannot train layers placed on {', '.join(parts.user_devices)}.",
                hint="Leave the device scopes out, or use DataParallel.",
            )
        else:
            layout = strategy.layout(_kind(model))
        model.cache[key] = rewrite(parts, batch, layout, strategy.name)
    rewritten: DistributedStep = model.cache[key]
    return rewritten


def _mean(model: Model, step: TrainStep, rewritten: DistributedStep, strategy: LocalSGD) -> Node:
    key = ("mean", step.run, strategy)
    if key not in model.cache:
        layout = strategy.layout(_kind(model))
        devices = [row[0] for row in layout.devices]
        written = take_apart(step.run).written
        model.cache[key] = average(
            rewritten.mirrors,
            [step.healthy, *rewritten.mirrors.get(step.healthy, ())],
            written,
            rewritten.rows,
            devices,
            layout.collectives,
            layout.bucket_bytes,
        )
    mean: Node = model.cache[key]
    return mean


def _unrolled(model: Model, step: TrainStep, count: int) -> Node:
    key = ("unrolled", step.run, count)
    if key not in model.cache:
        model.cache[key] = unroll(step.run, count)
    run: Node = model.cache[key]
    return run


def _parameter_server(
    model: Model, data: DeviceData, step: TrainStep, strategy: AsynchronousDataParallel
) -> ParameterServer:
    optimizer, _ = model.compiled()
    return ParameterServer(
        take_apart(step.run),
        model.session,
        strategy.replicas(_kind(model)),
        optimizer.iterations,
        (*data.xs, *data.ys),
        strategy.staleness,
        strategy.delays,
    )


def settle(
    model: Model, rewritten: DistributedStep | None = None, placement: PlacementRequest = None
) -> None:
    """Move variables to where a step needs them that is laid over devices (None: is not), and give
    their mirrors the values that they have now; mirrors that others needed are dropped.

    Args:
        placement: of a step that is not laid over devices.
    """
    session, notes = model.session, notes_of(model.graph)
    mirrors = {} if rewritten is None else rewritten.mirrors
    wanted = {mirror for own in mirrors.values() for mirror in own}
    session.set_placement(placement if rewritten is None else rewritten.placement)
    session.forget(list(notes.mirrors - wanted))
    notes.mirrors = wanted
    session.assign(
        {
            mirror: value
            for v, own in mirrors.items()
            for value in [session.value(v)]
            for mirror in own
        }
    )
