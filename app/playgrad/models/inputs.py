"""The inputs and the graphs of models."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.source import user_source
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import one_or_more
from playgrad.ops.state import placeholder
from playgrad.runtime.options import get_options


def Input(  # noqa: N802 - the name that Keras gave it
    shape: Sequence[int | None],
    batch_size: int | None = None,
    dtype: Any = "float32",
    name: str | None = None,
) -> Tensor:
    """Return a tensor that represents a batch of samples.

    It belongs to the default graph, and so do the layers that are called on it.

    Args:
        shape: the shape of one sample, without the batch.
        batch_size: the number of samples of every batch, for stateful layers; None for any.
        dtype: the dtype of the samples; "uint8" and "int32" for whole numbers.
        name: the name of the tensor; "input" if None.

    Raises:
        GraphError: ``batch_size`` is not a whole number.
    """
    is_whole = isinstance(batch_size, Integral) and not isinstance(batch_size, bool)
    if batch_size is not None and not is_whole:
        raise GraphError(
            f"batch_size of Input must be a whole number or None, got {batch_size!r}.",
            source=user_source(),
            hint="Pass a dtype by name: pg.Input(shape, dtype=...).",
        )
    return placeholder(dtype, (batch_size, *one_or_more(shape)), name or "input")


def new_graph() -> Graph:
    """Return a graph for a model of its own, with the seed of the host or the default graph."""
    seed = get_options().seed
    return Graph(get_default_graph().seed if seed is None else seed)
