"""Resuming a training from a checkpoint: whether it fits the program, and loading its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.errors import CheckpointError
from playgrad.graph.graph import FLOAT32
from playgrad.networks.network import Network
from playgrad.networks.shared_session import shared_session
from playgrad.ops.state import is_variable
from playgrad.optim import Optimizer
from playgrad.parallel.replicas import mirrored_by
from playgrad.training.checkpoints.capture import RunningFit, model_record
from playgrad.training.checkpoints.length import check_unchanged, continued
from playgrad.training.checkpoints.record import (
    LAST_BATCH,
    REPLACED,
    Checkpoint,
    FitRecord,
    ModelRecord,
    State,
)

HINT = "Undo the change to resume, or train from the start."
KEPT = "kept_weights"
PRECISION = "precision"
_MOST_NAMED = 4


def resume(fit: RunningFit) -> FitRecord:
    """Give a loaded model the state of the training in its file; return the fit that is resumed.

    Raises:
        CheckpointError: the model was not loaded from a file with a training, or as `take_over`.
    """
    checkpoint = fit.state.loaded
    fits = [] if checkpoint is None else checkpoint.fits
    if checkpoint is None or not fits or fits[-1].model != checkpoint.current:
        raise CheckpointError(
            "there is no training to resume: the model was not loaded from a file with one, or its "
            "training has been resumed already.",
            hint='Load it with pg.load("run.playgrad"), or leave out resume=True.',
        )
    now = model_record(fit.recipe.network, fit.recipe, 0)
    resumed = take_over(fit, now, checkpoint, fits[-1])
    fit.state.loaded = None  # the model has its values now
    return resumed


def take_over(
    fit: RunningFit, now: ModelRecord, checkpoint: Checkpoint, recorded: FitRecord
) -> FitRecord:
    """Give a model whose training step has been built the state of a checkpoint.

    Args:
        now: describes the model.
        recorded: the fit of ``checkpoint`` that ``fit`` resumes.

    Returns:
        ``recorded`` as it is resumed; see `continued`.

    Raises:
        CheckpointError: the network, the data or the settings differ from those in the checkpoint,
            or the training cannot have this length any more.
    """
    recipe, data = fit.recipe, fit.data
    if recorded.outcome == REPLACED:
        raise CheckpointError(
            "the training in the file was interrupted, and then a callback such as EarlyStopping "
            "replaced the weights of its last step.",
            hint="Call fit() without resume=True to train on from these weights.",
        )
    before = checkpoint.models[recorded.model]
    state = checkpoint.states[before.state]
    assert state is not None
    first = 0  # if others have followed it, the state does not tell
    if recorded is checkpoint.fits[-1]:
        first = int(state.get(recipe.optimizer.iterations.node.name, 0)) - recorded.step
    check_fits(before, now, _data_before(recorded, data, first), data)
    if recorded.settings.get(KEPT) and not fit.facts_of_settings.get(KEPT):
        raise CheckpointError(
            "the training in the file kept zeros or shared values of weights, and this model does "
            "not: a model that is loaded no longer knows them.",
            hint="Prune or cluster it again, for instance by pg.prune(model, 0), and call fit() "
            "without resume=True.",
        )
    _check_precision(recorded.settings, fit.facts_of_settings)
    _check_settings(recorded.settings, fit.facts_of_settings)
    resumed = recorded
    if recorded is checkpoint.fits[-1]:
        resumed = continued(recorded, fit.length)
    else:
        number = next(i for i, fit in enumerate(checkpoint.fits, 1) if fit is recorded)
        check_unchanged(recorded, number, fit.length)
    network = recipe.network
    load_state(network, without_old_rate(state, before, now, recipe.optimizer))
    fit.step.resume(network.session, recorded.step_state)
    return resumed


def _data_before(recorded: FitRecord, data: Mapping[str, int], first: int) -> Mapping[str, int]:
    """Return the facts of the data in a checkpoint, with the last batch if it does not name one.

    Such a checkpoint is of a time when batches were not divided into epochs.

    Args:
        data: the facts of the present data.
        first: the optimizer's iterations before the first step.

    Raises:
        CheckpointError: the order of samples was another one then.
    """
    before = recorded.data
    if LAST_BATCH in before or {**before, LAST_BATCH: data.get(LAST_BATCH)} != data:
        return before
    samples, batch = data["samples"], data["batch_size"]
    if samples % batch or first % (samples // batch):
        raise CheckpointError(
            "the checkpoint was made by an earlier version of playgrad, which drew the samples in "
            "another order: batches continued from one epoch to the next.",
            hint="Train from the start.",
        )
    return data


def kept_weights(network: Network) -> dict[str, Any]:
    """Return the fact that training keeps zeros or shared values of weights, if it does."""
    keeps = any(variable.keep is not None for variable in network.trainable_variables)
    return {KEPT: True} if keeps else {}


def _check_precision(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    old, new = (facts.get(PRECISION, FLOAT32) for facts in (before, now))
    if old != new:
        raise CheckpointError(
            f"the precision has changed since the checkpoint was made: {new} instead of {old}.",
            hint=f'Resume with precision="{old}" in compile(), or --precision {old}.',
        )


def _check_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    changed = [name for name, value in before.items() if now.get(name) != value]
    if changed:
        old, new = (
            _listed([f"{name}={facts.get(name)!r}" for name in changed]) for facts in (before, now)
        )
        raise CheckpointError(
            f"the arguments of fit() have changed since the checkpoint was made: {new} instead of "
            f"{old}.",
            hint=HINT,
        )


def check_fits(
    before: ModelRecord, now: ModelRecord, data_before: Mapping[str, int], data: Mapping[str, int]
) -> None:
    """Check that a model of the program is the one of the checkpoint, trained on as much data.

    Raises:
        CheckpointError: it is not; the message names the differences.
    """
    differences = [
        *(f"it has no '{name}' any more" for name in before.variables if name not in now.variables),
        *(f"'{name}' is new" for name in now.variables if name not in before.variables),
        *(
            f"'{name}' has shape {_shape(shape)}, but {_shape(before.variables[name])} in the "
            "checkpoint"
            for name, shape in now.variables.items()
            if before.variables.get(name, shape) != shape
        ),
    ]
    if differences:
        raise CheckpointError(
            f"the network has changed since the checkpoint was made: {_listed(differences)}.",
            hint=HINT,
        )
    if before.seed not in (None, now.seed):
        raise CheckpointError(
            f"the seed has changed since the checkpoint was made: {before.seed} before, {now.seed} "
            "now.",
            hint=HINT,
        )
    changed = [
        f"{name} {data_before.get(name, 'unknown')} before, {data.get(name, 'unknown')} now"
        for name in dict.fromkeys([*data_before, *data])
        if data_before.get(name) != data.get(name)
    ]
    if changed:
        raise CheckpointError(
            f"the data has changed since the checkpoint was made: {_listed(changed)}.", hint=HINT
        )


def load_state(network: Network, state: State) -> None:
    """Assign the values of a checkpoint to the variables of the network's graph that it names.

    Mirrors get the values of their variables, unless the checkpoint has values of their own.

    Raises:
        CheckpointError: a variable has another shape or dtype.
    """
    graph, values = network.graph, {}
    for name, array in state.items():
        if name not in graph or not is_variable(graph.node(name)):
            continue  # of a model that is trained later, or of the evaluation
        variable = graph.node(name).outputs[0]
        if array.shape != variable.spec.static_shape or array.dtype.name != variable.dtype:
            raise CheckpointError(
                f"the variable '{name}' has changed since the checkpoint was made.", hint=HINT
            )
        values[variable] = array
    for mirror in shared_session(graph).mirrors:
        original = mirrored_by(mirror.node.name)
        if mirror not in values and original in state:
            values[mirror] = state[original]
    network.session.assign(values)


def without_old_rate(
    state: State, before: ModelRecord, now: ModelRecord, optimizer: Optimizer
) -> State:
    """Leave out the learning rate if the program has another one than when the checkpoint was made.

    Otherwise the rate of the checkpoint counts, which callbacks or a visitor may have changed.
    """
    if before.learning_rate is None or before.learning_rate == now.learning_rate:
        return state
    rate = optimizer.learning_rate.node.name
    return {name: array for name, array in state.items() if mirrored_by(name) != rate}


def _shape(shape: list[int]) -> tuple[int, ...]:
    return tuple(shape)


def _listed(parts: list[str]) -> str:
    more = len(parts) - _MOST_NAMED
    return "; ".join(parts[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
