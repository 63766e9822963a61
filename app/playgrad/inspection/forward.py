"""Values of a model's tensors for samples, computed without an effect on the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors
from playgrad.ops.state import RANDOM_STEP

Array = np.ndarray[Any, Any]


def run(model: Any, fetches: Sequence[Tensor], x: Array) -> list[Array]:
    """Return the values of ``fetches``, tensors of the model, for the inputs ``x``.

    Raises:
        GraphError: this would change a variable or the random state.
    """
    return run_all(model, fetches, [x])


def run_all(model: Any, fetches: Sequence[Tensor], xs: Sequence[Array]) -> list[Array]:
    """Return the values of ``fetches`` for all inputs of a model; see `run`."""
    check_without_effect(fetches)
    feeds = {entry: x.astype(entry.dtype) for entry, x in zip(model.inputs, xs, strict=True)}
    results: list[Array] = model.session.run(list(fetches), feeds)
    return results


def values_of(model: Any, tensor: Tensor, x: Array) -> Array:
    """Return the values of ``tensor``, whose first axis is the batch, for any number of samples.

    A model whose inputs have a batch size gets its samples in batches of that size.

    Raises:
        GraphError: this would change a variable or the random state.
    """
    size = model.inputs[0].shape[0]
    if size is None:
        return run(model, [tensor], x)[0]
    parts = []
    for start in range(0, len(x), size):
        piece = x[start : start + size]
        padding = np.repeat(piece[-1:], size - len(piece), axis=0)
        (values,) = run(model, [tensor], np.concatenate([piece, padding]))
        parts.append(values[: len(piece)])
    return np.concatenate(parts)


def check_without_effect(fetches: Sequence[Tensor]) -> None:
    """Check that fetching changes neither a variable nor the random state.

    Raises:
        GraphError: it does.
    """
    for node in ancestors([tensor.node for tensor in fetches]):
        if node.op.writes or node.name == RANDOM_STEP:
            raise GraphError(
                "the network draws random numbers or changes its state with each prediction, so "
                "looking at its answers would change how it learns.",
            )
