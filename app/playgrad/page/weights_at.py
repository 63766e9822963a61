"""The model with the weights of a checkpoint, for questions about an earlier step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.ops.state import is_variable
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel
from playgrad.runtime.session import Session
from playgrad.training.checkpoints.record import Checkpoint

Values = dict[Tensor, np.ndarray[Any, Any]]


@contextmanager
def weights_at(
    model: LiveModel | RestoredModel, checkpoint: Checkpoint
) -> Iterator[LiveModel | RestoredModel]:
    """Give the model the weights of a checkpoint within the block, in which nothing trains.

    Afterwards each weight has the very value that it had before, and nothing else was touched: not
    the optimizer, the step, or the random state. If the checkpoint is of another model, the block
    gets that model, restored.
    """
    values = None if isinstance(model, RestoredModel) else _values_for(model, checkpoint)
    if values is None or isinstance(model, RestoredModel):
        yield RestoredModel(checkpoint)
        return
    session = model.session
    now = dict(zip(values, session.values(list(values)), strict=True))
    try:
        session.assign(values)
        yield model
    finally:
        _put_back(session, now)


def _values_for(model: LiveModel, checkpoint: Checkpoint) -> Values | None:
    """Return the checkpoint's values of the model's weights; None if they do not fit."""
    graph, state = model.graph, checkpoint.state
    assigned = set(model.session.assigned_variables(graph))
    values: Values = {}
    for weight in checkpoint.model.weights.values():
        for name in weight.variables:
            if name not in graph or not is_variable(graph.node(name)):
                return None
            variable = graph.node(name).outputs[0]
            array = state[name]
            is_same = (array.shape, array.dtype.name) == (
                variable.spec.static_shape,
                variable.dtype,
            )
            if variable not in assigned or not is_same:
                return None
            values[variable] = array
    missing = {tensor.node.name for tensor in model.variables} - {v.node.name for v in values}
    return None if missing else values


def _put_back(session: Session, values: Mapping[Tensor, Any]) -> None:
    try:
        session.assign(values)
    except KeyboardInterrupt:  # a stop of the run; the values must not stay half-way
        session.assign(values)
        raise
