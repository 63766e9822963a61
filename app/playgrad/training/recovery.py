"""What is left of a model's variables when a device has gone away, and going on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playgrad.graph.tensor import Tensor
from playgrad.nn.layer_calls import notes_of
from playgrad.ops.state import RANDOM_STEP
from playgrad.parallel.replicas import mirrored_by, replica_of
from playgrad.training.device_data import is_data
from playgrad.training.step_graphs import EvalStep, TrainStep

if TYPE_CHECKING:
    from playgrad.models.model import Model


def recover(model: Model) -> None:
    """Give variables that were on devices now lost the values that another replica has of them.

    All are taken from one replica: a loss in the midst of a step may leave some of them a step
    ahead, but each by itself makes all of an update or nothing. Copies, data and notes of steps are
    made anew when they are needed, the learning rate begins as the optimizer was given it, and
    random numbers go on as many draws on as there were updates.
    What nobody else had stays lost: an error names it when it is used.
    """
    session, notes = model.session, notes_of(model.graph)
    gone = [tensor for tensor in session.lost_variables() if tensor.graph is model.graph]
    if not gone:
        return
    optimizer, _ = model.compiled()
    fleeting = {tensor for tensor in gone if tensor in notes.mirrors or is_data(tensor)}
    fleeting.update(_notes_of_steps(model), [optimizer.learning_rate])
    copies: dict[int, dict[str, Tensor]] = {}
    for mirror in notes.mirrors.difference(gone):
        if not is_data(mirror):
            name = mirror.node.name
            copies.setdefault(replica_of(name), {})[mirrored_by(name)] = mirror
    copied = {mirrored_by(mirror.node.name) for mirror in notes.mirrors}
    needed = {tensor.node.name for tensor in gone if tensor not in fleeting} & copied
    if needed:
        whole = [number for number in sorted(copies) if needed <= copies[number].keys()]
        if whole:
            chosen = copies[whole[0]]
            values = {name: session.value(mirror) for name, mirror in chosen.items()}
            session.assign({model.graph.node(name).outputs[0]: v for name, v in values.items()})
    session.forget([tensor for tensor in gone if tensor in fleeting])
    draws = model.graph.node(RANDOM_STEP).outputs[0] if RANDOM_STEP in model.graph else None
    if draws in gone and optimizer.iterations not in session.lost_variables():
        session.assign({draws: session.value(optimizer.iterations)})


def _notes_of_steps(model: Model) -> set[Tensor]:
    """Variables that hold nothing beyond one run of steps."""
    found: set[Tensor] = set()
    for step in model.cache.values():
        if isinstance(step, TrainStep):
            found.update((*step.recorder.variables, step.healthy))
        elif isinstance(step, EvalStep):
            found.update((*step.recorder.variables, step.position))
    return found
