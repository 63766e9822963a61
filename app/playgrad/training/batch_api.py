"""Data checked for a model, and what is done with one batch of it: a prediction, an update."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from playgrad.errors import NonFiniteError
from playgrad.graph.graph import at_top
from playgrad.graph.tensor import Tensor
from playgrad.ops.elementwise.definitions import is_finite
from playgrad.ops.reductions.reduce import reduce_mean
from playgrad.ops.state import group, placeholder
from playgrad.training import data_checks as checks
from playgrad.training.layer_updates import assign_updates, collected_updates

if TYPE_CHECKING:
    from playgrad.models.model import Model

Array = np.ndarray[Any, Any]
PREDICTION_BATCH = 256


def prepare(model: Model, x: Any, y: Any, role: str) -> tuple[list[Array], list[Array]]:
    """Inputs and targets, checked against the model, which is built for them if need be.

    Raises:
        DataError, ShapeError, DTypeError: they cannot be used; nothing has changed.
    """
    xs = prepare_inputs(model, x, f"{role}x")
    layers = model.output_names
    ys = checks.as_arrays(y, len(model.outputs), f"{role}y", layers)
    checks.check_lengths([*xs, *ys], f"{role}x and {role}y")
    _, heads = model.compiled()
    return xs, heads.targets(ys, model.outputs, layers, f"{role}y")


def prepare_inputs(model: Model, x: Any, what: str) -> list[Array]:
    """Inputs, checked against the model, which is built for them if need be."""
    count = len(model.inputs) if model.built else 1
    xs = checks.as_arrays(x, count, what)
    model.ensure_built(xs)
    checks.check_lengths(xs, f"the arrays of {what}")
    for i, (array, tensor) in enumerate(zip(xs, model.inputs, strict=True)):
        name = what if len(xs) == 1 else f"{what}[{i}]"
        xs[i] = checks.as_samples(array, tensor.spec, name, model.layers[0].name or "input")
    return xs


def predict(model: Model, x: Any, batch_size: int | None) -> Any:
    """Outputs as arrays; see ``Model.predict``."""
    batch_size = checks.check_count(
        PREDICTION_BATCH if batch_size is None else batch_size, "batch_size"
    )
    xs = prepare_inputs(model, x, "x")
    count = len(xs[0])
    parts: list[list[Array]] = []
    for start in range(0, count, batch_size):
        feeds = {}
        for tensor, array in zip(model.inputs, xs, strict=True):
            piece = array[start : start + batch_size].astype(tensor.dtype)
            short = min(batch_size, count) - len(piece)
            # A last part of another size would be compiled for itself: filled up instead.
            feeds[tensor] = np.concatenate([piece, np.repeat(piece[-1:], short, axis=0)])
        results = model.session.run(list(model.outputs), feeds)
        parts.append([result[: count - start] for result in results])
    outputs = [np.concatenate(pieces) for pieces in zip(*parts, strict=True)]
    return outputs[0] if len(outputs) == 1 else outputs


def train_on_batch(model: Model, x: Any, y: Any) -> dict[str, float]:
    """One update; see ``Model.train_on_batch``."""
    xs, ys = prepare(model, x, y, "")
    feeds, columns, update, gate = _batch_step(model, xs, ys)
    values = model.session.run([*columns, gate, update], dict(zip(feeds, (*xs, *ys), strict=True)))
    if not values[len(columns)]:
        optimizer, _ = model.compiled()
        rate = float(model.session.value(optimizer.learning_rate))
        raise not_finite_error(float(values[0]), 1, rate)
    names = model.compiled()[1].names(model.output_names)
    return {name: float(value) for name, value in zip(names, values, strict=False)}


def _batch_step(model: Model, xs: Sequence[Array], ys: Sequence[Array]) -> Any:
    """Placeholders, loss and metrics, update and gate, made once for arrays of such types."""
    key = ("batch", *(array.dtype.name for array in (*xs, *ys)))
    if key in model.cache:
        return model.cache[key]
    optimizer, heads = model.compiled()
    graph = model.graph
    with at_top(graph), graph.name_scope("batch") as scope:
        x_in = [placeholder(x.dtype.name, (None, *x.shape[1:]), "x") for x in xs]
        y_in = [placeholder(y.dtype.name, (None, *y.shape[1:]), "y") for y in ys]
        with collected_updates(graph) as updates:
            predictions = model.apply(x_in, training=True)
        per_sample = heads.per_sample(y_in, predictions)
        columns: list[Tensor] = [reduce_mean(values) for values in per_sample]
    with at_top(graph), graph.reenter_scope(scope):
        gate = is_finite(columns[0])
        update = optimizer.minimize(columns[0], model.trainable_variables, gate)
        update = group(update, *assign_updates(updates, gate), name="update")
    model.cache[key] = ([*x_in, *y_in], columns, update, gate)
    return model.cache[key]


def not_finite_error(value: float, step: int, rate: float) -> NonFiniteError:
    kind = "NaN" if math.isnan(value) else "infinite"
    return NonFiniteError(
        f"the loss became {kind} at step {step}; the weights are as they were before it.",
        hint=f"Lower the learning rate (it is {rate:g}), or scale the data to about -1 to 1.",
    )
