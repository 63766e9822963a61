"""Recovery of a model's variables after a device was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from playgrad.errors import DeviceLostError
from playgrad.graph.tensor import Tensor
from playgrad.networks.shared_session import is_data, shared_session
from playgrad.ops.state import RANDOM_STEP
from playgrad.parallel.replicas import mirrored_by, replica_of
from playgrad.runtime.session import Session
from playgrad.training.recipe import Recipe

Array = np.ndarray[Any, Any]


def recover(recipe: Recipe) -> None:
    """After the loss of a device, give all variables values of one step.

    That is the latest step of which everything is known: that of a replica that is left, or the one
    whose values were last copied to host memory. Data, bookkeeping variables and mirrors are
    created again when they are needed.
    """
    session, graph = recipe.network.session, recipe.network.graph
    mirrors, optimizer = shared_session(graph).mirrors, recipe.optimizer
    if session.needs_recovery():
        values = _of_a_replica(session, mirrors)
        rate = session.surviving([optimizer.learning_rate])
        session.roll_back()
        if values is not None:
            _advance(session, recipe, values, rate)
        session.forget([*mirrors.union(recipe.bookkeeping())])
    session.forget([tensor for tensor in session.lost_variables() if tensor.graph is graph])


def _of_a_replica(session: Session, mirrors: set[Any]) -> dict[Tensor, Array] | None:
    """Return the values of all variables that replicas have, from the first replica that is left.

    None if no replica is left, or all that are left were interrupted in the middle of an update.
    """
    replicas: dict[int, dict[Tensor, Tensor]] = {0: {}}
    for mirror in mirrors:
        name = mirror.node.name
        if not is_data(mirror):
            original = mirror.graph.node(mirrored_by(name)).outputs[0]
            replicas.setdefault(replica_of(name), {})[original] = mirror
            replicas[0][original] = original
    for number in sorted(replicas):
        replica = replicas[number]
        if replica and len(replica) == len(replicas[0]):
            values = session.surviving(list(replica.values()))
            if values is not None:
                return dict(zip(replica, values, strict=True))
    return None


def _advance(
    session: Session, recipe: Recipe, values: dict[Tensor, Array], rate: list[Array] | None
) -> None:
    """Assign ``values`` of a replica, and advance the random step by as many updates."""
    optimizer, graph = recipe.optimizer, recipe.network.graph
    before = session.value(optimizer.iterations)
    session.assign(values)
    if rate is not None:
        session.assign({optimizer.learning_rate: rate[0]})
    draws = graph.node(RANDOM_STEP).outputs[0] if RANDOM_STEP in graph else None
    if draws is not None and draws not in values:
        updates = session.value(optimizer.iterations) - before
        session.assign({draws: session.value(draws) + updates})


@contextmanager
def recovering(recipe: Recipe, steps_done: Callable[[], int] = lambda: 0) -> Iterator[None]:
    """Recover from the loss of a device within the block.

    Args:
        steps_done: returns the number of finished steps, of this training and earlier ones.

    Raises:
        DeviceLostError: a device was lost; the error says from which step training can continue.
    """
    session = recipe.network.session
    try:
        yield
    except DeviceLostError as error:
        recover(recipe)
        step = int(session.value(recipe.optimizer.iterations))
        reached = max(steps_done(), step)
        error.message += f" That was after step {reached:,}"
        if reached == step:
            error.message += ", and no step is lost."
        else:
            seconds = session.undone_seconds
            error.message += f". The variables are as at step {step:,}, {seconds:.1f} s earlier."
        error.hint = "Call fit again to continue from there."
        raise
