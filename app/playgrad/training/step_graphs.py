"""The graphs of one training step and one evaluation step, both over data on the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from playgrad.graph.graph import at_top
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.fill import fill
from playgrad.ops.arrays.gather import gather
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import cast, is_finite, less, logical_and, where
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum
from playgrad.ops.state import Variable, group
from playgrad.ops.training.batch_indices import batch_indices
from playgrad.ops.training.replica import cross_replica_mean, split_batch
from playgrad.ops.training.write_history import record
from playgrad.parallel.partition import STAGE
from playgrad.training.device_data import DeviceData
from playgrad.training.layer_updates import assign_updates, collected_updates

if TYPE_CHECKING:
    from playgrad.models.model import Model
    from playgrad.runtime.session import RepeatResult, Session
    from playgrad.runtime.trace import Trace

Array = np.ndarray[Any, Any]
_COLUMNS = 6
"""Scalars that one ``record`` can take: kernels may bind eight buffers."""
HISTORY_ROWS = 1024
SHUFFLE_SEED = 0x5EED
"""Key of the order of samples, beside the graph's own seed, where the user names none."""


class Recorder:
    """Numbers written on the device at each step, kept for the last ``rows`` steps."""

    def __init__(self, columns: Sequence[Tensor], rows: int, position: Tensor) -> None:
        groups = [columns[i : i + _COLUMNS] for i in range(0, len(columns), _COLUMNS)]
        self.rows = rows
        self.variables: list[Variable] = []
        self.nodes: list[Node] = []
        for values in groups:
            history = Variable(fill((rows, len(values)), 0.0), "history", trainable=False)
            self.variables.append(history)
            self.nodes.append(record(history, position, values).node)

    def take(self, arrays: Sequence[Array], first: int, last: int) -> Array:
        """The rows of steps ``first`` to ``last`` (not included) out of the variables' values."""
        rows = np.arange(first, last) % self.rows
        return np.concatenate([array[rows] for array in arrays], axis=1)


@dataclass(frozen=True)
class TrainStep:
    """One update from the next batch.

    Attributes:
        run: what to run for its effect; adds 1 to the optimizer's ``iterations``, unless the loss
            is not finite: then nothing changes but ``healthy``, nor in any step after it.
        recorder: loss and metrics of each step, by iteration.
        healthy: bool variable, false once a loss was not finite.
        batch: samples of a step.
        settles: there is something to do at the end of each epoch.
    """

    settles: ClassVar[bool] = False
    run: Node
    recorder: Recorder
    healthy: Variable
    names: list[str]
    batch: int

    @property
    def replicas(self) -> dict[str, Variable]:
        """``healthy`` of replicas that train apart from what this step records, by device."""
        return {}

    @property
    def together(self) -> int:
        """How many updates are one picture of how it works."""
        return 1

    def repeat(self, session: Session, steps: int) -> RepeatResult:
        """Make so many updates."""
        return session.repeat(self.run, steps)

    def traced(self, session: Session, trace: Trace, most: int = 1) -> int:
        """Make an update, or as many up to ``most`` as are ``together``, and note when what was
        done; returns how many."""
        session.run(self.run, trace=trace)
        return 1

    def settle(self, session: Session) -> None:
        """To be called before the weights are used: at the end of each epoch."""

    def finish(self) -> dict[str, Any]:
        """To be called at the end of training; what there is to tell of it."""
        return {}


def build_train_step(
    model: Model,
    data: DeviceData,
    batch: int,
    shuffle: bool,
    seed: int | None,
    stages: Sequence[int] = (),
) -> TrainStep:
    """The training step over ``data``, made once for equal arguments.

    It is marked for a rewrite to several devices: where its batch may be divided, and what is
    averaged over the parts.

    Args:
        stages: the stage of each layer of the model in a pipeline; the step can then not be run as
            it is, but only rewritten.
    """
    key = ("train", data.key, batch, shuffle, seed, tuple(stages))
    if key not in model.cache:
        model.cache[key] = _train_step(model, data, batch, shuffle, seed, stages)
    step: TrainStep = model.cache[key]
    return step


def _train_step(
    model: Model,
    data: DeviceData,
    batch: int,
    shuffle: bool,
    seed: int | None,
    stages: Sequence[int],
) -> TrainStep:
    optimizer, heads = model.compiled()
    graph = model.graph
    optimizer.prepare(graph)
    with at_top(graph), graph.name_scope("train") as scope:
        with graph.phase("input"):
            number = SHUFFLE_SEED if seed is None else seed
            order = batch_indices(optimizer.iterations, data.count, batch, shuffle, seed=number)
            index = split_batch(order)
            with graph.device(_stage(stages, 0)):
                xs = [gather(x, index, name="x") for x in data.xs]
            with graph.device(_stage(stages, -1)):
                ys = [gather(y, index, name="y") for y in data.ys]
        devices = [_stage(stages, place) for place in range(len(stages))]
        with collected_updates(graph) as updates:
            predictions = model.apply(xs, training=True, devices=devices)
        with graph.device(_stage(stages, -1)):
            means = [reduce_mean(values) for values in heads.per_sample(ys, predictions)]
    with at_top(graph), graph.reenter_scope(scope):
        columns = [cross_replica_mean(mean) for mean in means]
        healthy = Variable(True, "healthy", trainable=False)
        gate = logical_and(healthy, is_finite(columns[0]))
        update = optimizer.minimize(means[0], model.trainable_variables, gate)
        with graph.phase("update"):
            recorder = Recorder(columns, HISTORY_ROWS, optimizer.iterations)
            written = assign_updates(updates, gate)
            run = group(update, *written, healthy.assign(gate), *recorder.nodes, name="step")
    return TrainStep(run, recorder, healthy, heads.names(model.output_names), batch)


def _stage(stages: Sequence[int], place: int) -> str | None:
    """The device scope that stands for the stage of the layer at ``place``."""
    return f"{STAGE}{stages[place]}" if stages else None


@dataclass(frozen=True)
class EvalStep:
    """Sums of loss and metrics over the next ``batch`` samples; beyond the last they count 0.

    Attributes:
        run: what to run for its effect; adds 1 to ``position``.
        steps: how many steps make up the whole data set.
    """

    run: Node
    recorder: Recorder
    position: Variable
    steps: int
    count: int
    names: list[str]

    def rewind(self, session: Session) -> None:
        session.assign({self.position: np.uint32(0)})

    def means(self, session: Session) -> dict[str, float]:
        """The means over all samples, once all steps are done."""
        arrays = session.run(list(self.recorder.variables))
        sums = self.recorder.take(arrays, 0, self.steps).sum(axis=0, dtype=np.float64)
        return dict(zip(self.names, map(float, sums / self.count), strict=True))


def build_eval_step(model: Model, data: DeviceData, batch: int) -> EvalStep:
    """The evaluation step over ``data``, made once for equal arguments."""
    key = ("evaluate", data.key, batch)
    if key not in model.cache:
        model.cache[key] = _eval_step(model, data, batch)
    step: EvalStep = model.cache[key]
    return step


def _eval_step(model: Model, data: DeviceData, batch: int) -> EvalStep:
    _, heads = model.compiled()
    graph, steps = model.graph, -(-data.count // batch)
    with at_top(graph), graph.name_scope("evaluate") as scope:
        position = Variable(0, "position", trainable=False, dtype="uint32")
        with graph.phase("input"):
            index = cast(position, "int32") * batch + constant(np.arange(batch, dtype=np.int32))
            within = less(index, data.count)
            inside = where(within, index, data.count - 1) if data.count % batch else index
            xs = [gather(x, inside, name="x") for x in data.xs]
            ys = [gather(y, inside, name="y") for y in data.ys]
        predictions = model.apply(xs, training=False)
        columns = heads.per_sample(ys, predictions)
    with at_top(graph), graph.reenter_scope(scope):
        if data.count % batch:
            counts = cast(within, "float32")
            columns = [values * counts for values in columns]
        recorder = Recorder([reduce_sum(values) for values in columns], steps, position)
        run = group(position.assign_add(1), *recorder.nodes, name="step")
    return EvalStep(run, recorder, position, steps, data.count, heads.names(model.output_names))
