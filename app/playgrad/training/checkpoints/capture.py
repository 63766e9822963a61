"""Everything that training changes, read from the devices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from playgrad.errors import DeviceLostError, GraphError
from playgrad.networks.shared_session import is_data, shared_session
from playgrad.training.checkpoints.length import Length
from playgrad.training.checkpoints.record import FitRecord, State
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
        length: the epochs and steps that the program asks for.
    """

    recipe: Recipe
    state: TrainingState
    step: TrainStep
    first: int
    done: int
    has_ended: bool
    replaced: Replaced | None
    length: Length

    def record(self) -> FitRecord:
        """Return the fit as it is between two chunks of steps."""
        ...

    def show_rest(self, rows: Array) -> None:
        """Show the losses of steps after those of `record`."""
        ...


@dataclass(frozen=True)
class Replaced:
    """The state at the end of a training that was interrupted, and the one put in its place.

    Attributes:
        after: the values of the variables, of which training goes on with ``before``.
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
