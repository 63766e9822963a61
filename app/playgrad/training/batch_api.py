"""Predictions, and updates from a batch that the caller passes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.errors import NonFiniteError, ShapeError
from playgrad.graph.graph import at_top
from playgrad.networks.network import Network
from playgrad.ops.elementwise.definitions import is_finite
from playgrad.ops.state import group, placeholder
from playgrad.runtime.hooks import get_hooks
from playgrad.training.data_checks import check_count
from playgrad.training.known_batches import known_batch, note_batch
from playgrad.training.layer_updates import assign_updates, collected_updates
from playgrad.training.objectives import mean_of_batch
from playgrad.training.own_step import has_own_step, own_step
from playgrad.training.penalties import collected_penalties, with_penalties
from playgrad.training.prepare_data import prepare_data, prepare_inputs
from playgrad.training.recipe import BatchStepKey, Recipe, trained
from playgrad.training.sample_weights import Samples, sample_weights
from playgrad.training.steps import BatchStep

Array = np.ndarray[Any, Any]
PREDICTION_BATCH = 256


def predict(network: Network, x: Any, batch_size: int | None, name: str = "x") -> Any:
    """Return the outputs for ``x`` as arrays; see ``Model.predict``.

    Args:
        name: the name of ``x`` in errors.
    """
    batch_size = check_count(PREDICTION_BATCH if batch_size is None else batch_size, "batch_size")
    if (batch := known_batch(network, x, batch_size, name)) is not None:
        return network.arranged(network.compute_outputs(batch))
    xs = prepare_inputs(network, x, name)
    network.expect_outputs()
    for tensor in network.outputs:
        if tensor.spec.rank == 0:
            raise ShapeError(
                f"the output '{tensor.node.name}' is a single number, and predict joins the "
                "outputs of batches along their first axis.",
                hint="model.session.run(model.outputs, {...}) returns such outputs.",
            )
    xs = [
        array.astype(tensor.dtype, copy=False)
        for tensor, array in zip(network.inputs, xs, strict=True)
    ]
    count = len(xs[0])
    if count <= batch_size:
        results = network.compute_outputs(*xs)
        note_batch(network, x)
        return network.arranged(results)
    parts: list[list[Array]] = []
    is_padded = True
    for start in range(0, count, batch_size):
        pieces = [array[start : start + batch_size] for array in xs]
        missing = batch_size - len(pieces[0])
        if missing and is_padded:
            # The last batch is padded: one of another size would be compiled separately.
            pieces = [np.concatenate([p, np.repeat(p[-1:], missing, axis=0)]) for p in pieces]
        results = network.compute_outputs(*pieces)
        is_padded = is_padded and all(len(result) == batch_size for result in results)
        parts.append([result[: count - start] if is_padded else result for result in results])
    return network.arranged([np.concatenate(pieces) for pieces in zip(*parts, strict=True)])


def train_on_batch(
    recipe: Recipe,
    x: Any,
    y: Any,
    sample_weight: Any = None,
    class_weight: Mapping[int, float] | None = None,
) -> dict[str, float]:
    """Update the weights once, from a batch; see ``Model.train_on_batch``.

    Returns:
        Loss and metrics by name, from before the update.
    """
    get_hooks().before_training()
    xs, ys = prepare_data(recipe, x, y, "")
    samples = Samples(xs, ys, sample_weights(ys, class_weight, sample_weight))
    step = _batch_step(recipe, samples)
    session = recipe.network.session
    feeds = dict(zip(step.feeds, samples.arrays, strict=True))
    *values, finite, _ = session.run([*step.columns, step.gate, step.update], feeds)
    if not finite:
        rate = float(session.value(recipe.optimizer.learning_rate))
        raise not_finite_error(float(values[0]), 1, rate)
    names = step.names or recipe.objectives.names(
        recipe.network.output_names, recipe.network.outputs
    )
    numbers = np.concatenate([np.atleast_1d(value) for value in values])
    means = {name: float(value) for name, value in zip(names, numbers, strict=True)}
    return recipe.objectives.logs(means, samples.count)


def _batch_step(recipe: Recipe, samples: Samples) -> BatchStep:
    """Return the step for arrays of these dtypes and shapes, built once."""
    key = BatchStepKey(
        tuple((array.dtype.name, array.shape[1:]) for array in samples.arrays),
        trained(recipe.network),
    )
    step = recipe.batch_steps.built(key, lambda: _build_batch_step(recipe, samples))
    recipe.batch_steps.drop_oldest()
    return step


def _build_batch_step(recipe: Recipe, samples: Samples) -> BatchStep:
    network = recipe.network
    graph = network.graph
    with at_top(graph), graph.name_scope("batch") as scope:
        x_in = [placeholder(x.dtype.name, (None, *x.shape[1:]), "x") for x in samples.xs]
        y_in = [placeholder(y.dtype.name, (None, *y.shape[1:]), "y") for y in samples.ys]
        w_in = [placeholder("float32", (None, *w.shape[1:]), "weight") for w in samples.weights]
        if has_own_step(network):
            recipe.optimizer.prepare(graph)
            own = own_step(network, recipe.optimizer, x_in, y_in, w_in, None)
            gate, update = is_finite(own.columns[0]), group(*own.writes, name="update")
            feeds = (*x_in, *y_in, *w_in)
            return BatchStep(feeds, tuple(own.columns), update, gate, own.names)
        with collected_updates(graph) as updates, collected_penalties(graph) as activities:
            predictions = network.apply(x_in, training=True)
        per_sample = recipe.objectives.per_sample(y_in, predictions, w_in)
        per_sample = with_penalties(per_sample, network, activities)
        columns = tuple(mean_of_batch(values) for values in per_sample)
    with at_top(graph), graph.reenter_scope(scope):
        gate = is_finite(columns[0])
        update = recipe.optimizer.minimize(columns[0], network.trainable_variables, gate)
        update = group(update, *assign_updates(updates, gate), name="update")
    return BatchStep((*x_in, *y_in, *w_in), columns, update, gate)


def not_finite_error(value: float, step: int, rate: float) -> NonFiniteError:
    """Return the error for a loss of ``value`` at ``step``, counted from 1.

    Args:
        rate: the learning rate.
    """
    kind = "NaN" if math.isnan(value) else "infinite"
    return NonFiniteError(
        f"the loss became {kind} at step {step}; the weights are as before that step.",
        hint=not_finite_hint(rate),
        code="not-finite",
        values={"step": step, "rate": rate},
    )


def not_finite_hint(rate: float) -> str:
    """Return advice on how to make the loss finite."""
    return f"Lower the learning rate (now {rate:g}), or scale the data to about -1 to 1."
