"""The state of a model as a file from which training goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.io.weights import write_file
from playgrad.networks.network import Network
from playgrad.ops.state import RANDOM_STEP
from playgrad.training.checkpoints.capture import capture
from playgrad.training.checkpoints.model_record import model_record
from playgrad.training.checkpoints.project_file import SavedProgram, encode_project
from playgrad.training.checkpoints.record import Checkpoint, FitRecord, State
from playgrad.training.recipe import Recipe
from playgrad.training.state import TrainingState


def save_checkpoint(
    network: Network, recipe: Recipe | None, state: TrainingState, path: str | Path
) -> None:
    """Write a model and its training to a file, whole or not at all.

    Args:
        recipe: of the training; None if the model is not compiled.
        state: of its last ``fit``, which may be under way.

    Raises:
        GraphError: the model is not built.
        CheckpointError: the file cannot be written.
    """
    source = state.source or network.source
    program = None if source is None else SavedProgram.at(source[0])
    name = Path(path).name.removesuffix(Path(path).suffix)
    write_file(path, encode_project(checkpoint_of(network, recipe, state), program, name))


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
