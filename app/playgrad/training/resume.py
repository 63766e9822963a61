"""Going on from a checkpoint: whether it fits the program, and loading its values."""

from __future__ import annotations

from collections.abc import Mapping

from playgrad.errors import CheckpointError
from playgrad.models.network import Network
from playgrad.models.shared_session import shared_session
from playgrad.ops.state import is_variable
from playgrad.optim import Optimizer
from playgrad.parallel.replicas import mirrored_by
from playgrad.training.checkpoint import ModelRecord, State

_HINT = "Undo the change to go on, or press Run to train from the start."
_MOST_NAMED = 4


def check_fits(
    before: ModelRecord, now: ModelRecord, data_before: Mapping[str, int], data: Mapping[str, int]
) -> None:
    """Check that a model of the program is the one of the checkpoint, trained on as much data.

    Raises:
        CheckpointError: it is not; the message says what differs.
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
            hint=_HINT,
        )
    changed = [
        f"{name} {data_before.get(name, 'unknown')} before, {data.get(name, 'unknown')} now"
        for name in dict.fromkeys([*data_before, *data])
        if data_before.get(name) != data.get(name)
    ]
    if changed:
        raise CheckpointError(
            f"the data has changed since the checkpoint was made: {_listed(changed)}.", hint=_HINT
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
                f"the variable '{name}' has changed since the checkpoint was made.", hint=_HINT
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
