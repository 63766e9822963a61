"""Recovery of a model's variables after a device was lost."""

from __future__ import annotations

from playgrad.graph.tensor import Tensor
from playgrad.models.shared_session import is_data, shared_session
from playgrad.ops.state import RANDOM_STEP
from playgrad.parallel.replicas import mirrored_by, replica_of
from playgrad.training.recipe import Recipe


def recover(recipe: Recipe) -> None:
    """Give variables of lost devices the values that another replica has of them.

    All values come from one replica: a device lost during a step may leave some variables a step
    ahead of the others, but each variable has all of an update or none of it. Mirrors, data and
    bookkeeping variables are created again when they are needed, the learning rate begins at its
    initial value, and random numbers continue after as many draws as there were updates. What no
    other replica has stays lost: an error names it when it is used.
    """
    network = recipe.network
    session, mirrors, graph = network.session, shared_session(network.graph).mirrors, network.graph
    lost = [tensor for tensor in session.lost_variables() if tensor.graph is graph]
    if not lost:
        return
    optimizer = recipe.optimizer
    replaceable = {tensor for tensor in lost if tensor in mirrors or is_data(tensor)}
    replaceable.update(recipe.bookkeeping(), [optimizer.learning_rate])
    copies: dict[int, dict[str, Tensor]] = {}
    for mirror in mirrors.difference(lost):
        if not is_data(mirror):
            name = mirror.node.name
            copies.setdefault(replica_of(name), {})[mirrored_by(name)] = mirror
    copied = {mirrored_by(mirror.node.name) for mirror in mirrors}
    needed = {tensor.node.name for tensor in lost if tensor not in replaceable} & copied
    if needed:
        complete = [number for number in sorted(copies) if needed <= copies[number].keys()]
        if complete:
            replica = copies[complete[0]]
            values = {name: session.value(mirror) for name, mirror in replica.items()}
            session.assign({graph.node(name).outputs[0]: v for name, v in values.items()})
    session.forget([tensor for tensor in lost if tensor in replaceable])
    draws = graph.node(RANDOM_STEP).outputs[0] if RANDOM_STEP in graph else None
    if draws in lost and optimizer.iterations not in session.lost_variables():
        session.assign({draws: session.value(optimizer.iterations)})
