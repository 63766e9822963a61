"""Checkpoints of models: the program's description of a model, and its values on devices."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from playgrad.errors import CheckpointError, DeviceLostError, GraphError
from playgrad.graph.serialize import graph_to_json
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors
from playgrad.networks.network import Network
from playgrad.networks.shared_session import is_data, shared_session
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP
from playgrad.training.checkpoints.compile_settings import compile_settings
from playgrad.training.checkpoints.length import Length
from playgrad.training.checkpoints.record import Checkpoint, FitRecord, ModelRecord, State, Weight
from playgrad.training.recipe import Recipe
from playgrad.training.state import TrainingState
from playgrad.training.steps import TrainStep

Array = np.ndarray[Any, Any]


class RunningFit(Protocol):
    """The part of a training loop that a checkpoint needs.

    Attributes:
        first: the optimizer's iterations before the first step.
        done: the number of steps done.
        has_ended: whether it is completed.
        replaced: the state at its end, if callbacks have put other weights in its place.
        data, facts_of_settings: the facts that the order of samples depends on.
        length: the epochs and steps that the program asks for.
    """

    recipe: Recipe
    state: TrainingState
    step: TrainStep
    first: int
    done: int
    has_ended: bool
    replaced: Replaced | None
    data: dict[str, int]
    facts_of_settings: dict[str, Any]
    length: Length

    def record(self) -> FitRecord:
        """Return the fit as it is between two chunks of steps."""
        ...

    def show_rest(self, rows: Array) -> None:
        """Show the losses of the steps after `record`."""
        ...


@dataclass(frozen=True)
class Replaced:
    """The state at the end of an interrupted training, and the state put in its place.

    Attributes:
        after: the values of the variables; a resumed training begins with ``before`` instead.
    """

    before: Captured
    after: State


@dataclass(frozen=True)
class Captured:
    """A fit as it is on the devices.

    Attributes:
        state: the values of the variables.
        fit: the record of the fit, with every step that ``state`` has.
        rest: loss and metrics of the steps that the fit itself has not read yet.
    """

    state: State
    fit: FitRecord
    rest: Array


def capture(fit: RunningFit) -> Captured:
    """Read a fit and the state of its model from the devices.

    Raises:
        GraphError: the program has closed the model.
        DeviceLostError: values were lost.
    """
    recipe, graph = fit.recipe, fit.recipe.network.graph
    session = shared_session(graph).session
    assigned = [] if session is None else session.assigned_variables(graph)
    if session is None or recipe.optimizer.iterations not in set(assigned):
        raise GraphError("the model was closed.")
    excluded = set(recipe.bookkeeping())
    if fit.step.replicas_agree:
        excluded |= shared_session(graph).mirrors
    kept = [v for v in assigned if v not in excluded and not is_data(v)]
    recorder = fit.step.recorder
    history = recorder.variables if set(recorder.variables) <= set(assigned) else []
    arrays = session.values([*kept, *history])
    state = {v.node.name: array for v, array in zip(kept, arrays, strict=False)}
    record = fit.record()
    rest = record.steps[:0]
    if fit.has_ended:  # later updates are not steps of it
        return Captured(state, record, rest)
    last = int(state[recipe.optimizer.iterations.node.name])
    if last < fit.first + record.step:
        reasons = [*session.losses, "The variables are older than the history."]
        raise DeviceLostError(" ".join(reasons))
    if history:
        # A stop can come between a chunk of steps and the reading of its losses.
        rest = recorder.take(arrays[len(kept) :], fit.first + record.step, last)
        steps = np.concatenate([record.steps, rest])
        record = replace(record, steps=steps, step=len(steps))
    return Captured(state, record, rest)


def captured_for_resuming(fit: RunningFit) -> Captured:
    """Return the same as `capture`; of an interrupted fit its state before callbacks changed it,
    unless the program has changed it, too.

    Raises:
        GraphError, DeviceLostError: as `capture`.
    """
    captured, replaced = capture(fit), fit.replaced
    if replaced is not None and same_state(captured.state, replaced.after):
        return replaced.before
    return captured


def same_state(one: State | None, other: State | None) -> bool:
    """Return whether two states have the same variables with the same values."""
    if one is None or other is None or one.keys() != other.keys():
        return False
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


def checkpoint_of(network: Network, recipe: Recipe | None, state: TrainingState) -> Checkpoint:
    """Return the checkpoint of a model, with its last ``fit`` if there was one.

    Raises:
        GraphError: the model is not built.
    """
    values, fits = _values_and_fits(network, recipe, state)
    record = model_record(network, recipe, 0)
    return Checkpoint([values], [record], fits, 0)


def _values_and_fits(
    network: Network, recipe: Recipe | None, state: TrainingState
) -> tuple[State, list[FitRecord]]:
    loop, loaded = state.loop, state.loaded
    if loop is not None and loop.recipe is recipe:
        captured = capture(loop)
        return captured.state, [replace(captured.fit, model=0)]
    if recipe is not None:
        recipe.optimizer.prepare(network.graph)
    graph = network.graph
    variables: list[Tensor] = list(network.variables)
    if recipe is not None:
        variables += recipe.optimizer.variables
    if RANDOM_STEP in graph:
        variables.append(graph.node(RANDOM_STEP).outputs[0])
    arrays = network.session.values(variables)
    values: State = {v.node.name: np.asarray(a) for v, a in zip(variables, arrays, strict=True)}
    if loaded is None:
        return values, []
    of_replicas = {name: array for name, array in loaded.state.items() if name not in values}
    fits = [replace(fit, model=0) for fit in loaded.fits if fit.model == loaded.current]
    return {**of_replicas, **values}, fits[-1:]


def model_record(network: Network, recipe: Recipe | None, number: int) -> ModelRecord:
    """Describe a model that is built.

    Args:
        recipe: the recipe of its training; None if it is not compiled.
        number: the index of the state with its variables.
    """
    optimizer = None if recipe is None else recipe.optimizer
    weights: list[Tensor] = list(network.variables)
    variables = [*weights, *(() if optimizer is None else optimizer.variables)]
    compiled, not_compiled = _compiled(recipe)
    return ModelRecord(
        state=number,
        variables={v.node.name: list(v.spec.static_shape) for v in variables},
        weights={
            f"{layer_name}/{name}": Weight(
                [part.node.name for part in parts],
                axis,
                list(layer.weight_specs()[name].static_shape),
                parts[0].dtype,
            )
            for layer_name, layer in network.named_layers()
            for name, (parts, axis) in layer.weight_parts().items()
        },
        graph=forward_graph(network),
        inputs=[tensor.name for tensor in network.inputs],
        outputs=[tensor.name for tensor in network.outputs],
        input_shape=list(network.input_shape),
        input_dtype=network.inputs[0].dtype,
        gives_logits=recipe is not None and recipe.objectives.gives_logits,
        parameters=network.count_params(),
        learning_rate=None if optimizer is None else optimizer.initial_learning_rate,
        file_metadata=network.file_metadata(),
        seed=network.graph.seed,
        compiled=compiled,
        not_compiled=not_compiled,
        optimizer=None if optimizer is None else optimizer.state_names(),
        precision=network.precision,
    )


def _compiled(recipe: Recipe | None) -> tuple[dict[str, Any] | None, str]:
    """Return the arguments of ``compile``, or None and why files cannot have them."""
    if recipe is None:
        return None, ""
    try:
        return compile_settings(recipe), ""
    except CheckpointError as error:
        return None, error.message


def forward_graph(network: Network) -> dict[str, Any]:
    """Return the graph of a prediction as JSON data, without devices: it can run anywhere."""
    graph = network.graph
    targets = [tensor.node for tensor in (*network.inputs, *network.outputs)]
    nodes = ancestors(targets)
    if RANDOM_STEP in graph and graph.node(RANDOM_STEP) in nodes:
        nodes |= ancestors([graph.node(RANDOM_ADVANCE)])
    data = graph_to_json(graph, sorted(nodes, key=lambda node: node.id))
    for node in data["nodes"]:
        node.pop("device", None)
        source = node.get("source")
        if source and os.path.isabs(source[0]):
            node.pop("source")  # a path on this machine
    return data
