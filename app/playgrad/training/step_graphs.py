"""The graphs of the training step and the evaluation step, both over data on the device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.graph import at_top
from playgrad.ops.arrays.gather import gather
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import cast, is_finite, less, logical_and, where
from playgrad.ops.reductions.reduce import reduce_sum
from playgrad.ops.state import BOOKKEEPING, Variable, group
from playgrad.ops.training.batch_indices import batch_indices
from playgrad.ops.training.replica import cross_replica_mean, split_batch
from playgrad.parallel.partition import STAGE
from playgrad.training.device_data import BatchStream, DeviceData
from playgrad.training.layer_updates import Updates, assign_updates, collected_updates
from playgrad.training.objectives import mean_of_batch
from playgrad.training.own_step import (
    OwnStep,
    has_own_step,
    has_own_test_step,
    has_targets,
    own_step,
    own_test_step,
)
from playgrad.training.penalties import collected_penalties, with_penalties
from playgrad.training.recipe import EvalStepKey, Recipe, TrainStepKey, trained
from playgrad.training.steps import EvalStep, Recorder, TrainStep

HISTORY_ROWS = 1024
"""Steps whose losses and metrics the device keeps."""
SHUFFLE_SEED = 0x5EED
"""Key of the order of samples, in addition to the graph's seed, if the user passes no seed."""


def build_train_step(
    recipe: Recipe,
    stream: BatchStream,
    stages: Sequence[int] = (),
) -> TrainStep:
    """Return the training step over the batches of ``stream``, built once for equal arguments.

    It is marked for distribution over several devices: where the batch may be divided, and which
    values are averaged over the parts.

    Args:
        stages: the pipeline stage of each item of the network's structure. The step must then be
            distributed before it can run.
    """
    key = TrainStepKey(stream, tuple(stages), trained(recipe.network), has_targets(recipe.network))
    first = None if stream.first is None else build_train_step(recipe, stream.first, stages)
    step = recipe.train_steps.built(key, lambda: _train_step(recipe, stream, stages, first))
    if not (stages or recipe.distributed):
        recipe.train_steps.drop_oldest()
    return step


def _train_step(
    recipe: Recipe, stream: BatchStream, stages: Sequence[int], records_in: TrainStep | None
) -> TrainStep:
    network, optimizer, objectives = recipe.network, recipe.optimizer, recipe.objectives
    data, graph = stream.data, network.graph
    optimizer.prepare(graph)
    started = None if records_in is None else records_in.started
    devices = [_stage_scope(stage) for stage in stages]
    first, last = (devices[0], devices[-1]) if devices else (None, None)
    with at_top(graph), graph.name_scope("train") as scope:
        with graph.phase("input"):
            if stream.rounds is not None and started is None:
                started = Variable(
                    0, "started", trainable=False, dtype="uint32", contents=BOOKKEEPING
                )
            order = batch_indices(
                optimizer.iterations,
                data.count,
                stream.batch,
                stream.shuffle,
                SHUFFLE_SEED if stream.seed is None else stream.seed,
                rounds=stream.rounds,
                started=0 if started is None else started,
            )
            index = split_batch(order)
            with graph.device(first):
                xs = [gather(x, index, name="x") for x in data.xs]
            with graph.device(last):
                ys = [gather(y, index, name="y") for y in data.ys]
                weights = [gather(w, index, name="weight") for w in data.weights]
        if records_in is None:
            with graph.phase("variable"):
                healthy = Variable(True, "healthy", trainable=False, contents=BOOKKEEPING)
        else:
            healthy = records_in.healthy
        updates: Updates = {}
        own: OwnStep | None = None
        if has_own_step(network):
            _expect_one_device(recipe)
            own = own_step(network, optimizer, xs, ys, weights, healthy)
            means = own.columns
        else:
            with collected_updates(graph) as updates, collected_penalties(graph) as activities:
                predictions = network.apply(xs, training=True, devices=devices)
            with graph.device(last):
                per_sample = objectives.per_sample(ys, predictions, weights)
                columns = with_penalties(per_sample, network, activities)
                means = [mean_of_batch(values) for values in columns]
    with at_top(graph), graph.reenter_scope(scope):
        columns = [cross_replica_mean(mean) for mean in means]
        gate = logical_and(healthy, is_finite(columns[0]))
        if own is None:
            update = optimizer.minimize(means[0], network.trainable_variables, gate)
        else:
            update = group(*own.writes, name="update")
        with graph.phase("update"):
            if records_in is None:
                recorder = Recorder(columns, HISTORY_ROWS, optimizer.iterations)
            else:
                recorder = records_in.recorder.alternate(columns, optimizer.iterations)
            layer_updates = assign_updates(updates, gate)
            run = group(update, *layer_updates, healthy.assign(gate), *recorder.nodes, name="step")
    names = own.names if own else objectives.names(network.output_names, network.outputs)
    first_run = None if records_in is None else records_in.run
    return TrainStep(
        run, recorder, healthy, names, stream.batch, first_run=first_run, started=started
    )


def _expect_one_device(recipe: Recipe) -> None:
    """Raise GraphError if the training has a strategy, which divides only `fit`'s own step."""
    if recipe.placing().strategy is not None:
        raise GraphError(
            f"the model '{recipe.network.name}' has a train_step of its own, which is not divided "
            "among devices.",
            source=recipe.network.source,
            hint="Train it without a strategy.",
        )


def _stage_scope(stage: int) -> str:
    """Return the device scope that represents a pipeline stage."""
    return f"{STAGE}{stage}"


def build_eval_step(recipe: Recipe, data: DeviceData, batch: int) -> EvalStep:
    """Return the evaluation step over ``data``, built once for equal arguments."""
    key = EvalStepKey(data, batch, has_targets(recipe.network))
    build = _own_eval_step if has_own_test_step(recipe.network) else _eval_step
    step = recipe.eval_steps.built(key, lambda: build(recipe, data, batch))
    recipe.eval_steps.drop_oldest()
    return step


def _eval_step(recipe: Recipe, data: DeviceData, batch: int) -> EvalStep:
    network, objectives = recipe.network, recipe.objectives
    graph, steps = network.graph, -(-data.count // batch)
    with at_top(graph), graph.name_scope("evaluate") as scope:
        position = Variable(0, "position", trainable=False, dtype="uint32", contents=BOOKKEEPING)
        with graph.phase("input"):
            index = cast(position, "int32") * batch + constant(np.arange(batch, dtype=np.int32))
            within = less(index, data.count)
            inside = where(within, index, data.count - 1) if data.count % batch else index
            xs = [gather(x, inside, name="x") for x in data.xs]
            ys = [gather(y, inside, name="y") for y in data.ys]
            weights = [gather(w, inside, name="weight") for w in data.weights]
        with collected_penalties(graph) as activities:
            predictions = network.apply(xs, training=False)
        counted = cast(within, "float32") if data.count % batch else None
        per_sample = objectives.per_sample(ys, predictions, weights, counted)
        columns = with_penalties(per_sample, network, activities)
    with at_top(graph), graph.reenter_scope(scope):
        if counted is not None:
            columns = [
                values * (counted if len(values.shape) == 1 else expand_dims(counted, 1))
                for values in columns
            ]
        sums = [reduce_sum(values, axis=0) for values in columns]
        recorder = Recorder(sums, steps, position)
        run = group(position.assign_add(1), *recorder.nodes, name="step")
    names = objectives.names(network.output_names, network.outputs)
    return EvalStep(run, recorder, position, steps, data.count, names)


def _own_eval_step(recipe: Recipe, data: DeviceData, batch: int) -> EvalStep:
    """Return the evaluation by ``test_step`` of a class, whose batches are not padded."""
    whole, rest = divmod(data.count, batch)
    step = _own_part(recipe, data, 0, batch, whole)
    last = _own_part(recipe, data, whole * batch, rest, 1) if rest else None
    return replace(step, count=data.count, rest=last)


def _own_part(recipe: Recipe, data: DeviceData, first: int, batch: int, steps: int) -> EvalStep:
    """Return the part over ``steps`` batches from sample number ``first``."""
    graph = recipe.network.graph
    with at_top(graph), graph.name_scope("evaluate") as scope:
        position = Variable(0, "position", trainable=False, dtype="uint32", contents=BOOKKEEPING)
        with graph.phase("input"):
            numbers = constant(np.arange(first, first + batch, dtype=np.int32))
            index = cast(position, "int32") * batch + numbers
            xs = [gather(x, index, name="x") for x in data.xs]
            ys = [gather(y, index, name="y") for y in data.ys]
            weights = [gather(w, index, name="weight") for w in data.weights]
        own = own_test_step(recipe.network, xs, ys, weights)
    with at_top(graph), graph.reenter_scope(scope):
        recorder = Recorder([column * float(batch) for column in own.columns], steps, position)
        run = group(position.assign_add(1), *own.writes, *recorder.nodes, name="step")
    return EvalStep(run, recorder, position, steps, steps * batch, own.names)
