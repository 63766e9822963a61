"""The penalties of regularizers as part of the loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.networks.network import Network
from playgrad.nn.layer_calls import layers_of


@contextmanager
def collected_penalties(graph: Graph) -> Iterator[list[Tensor]]:
    """Collect the penalties of the results of layers called in the block, each (batch,)."""
    layers = layers_of(graph)
    before = layers.penalties
    layers.penalties = []
    try:
        yield layers.penalties
    finally:
        layers.penalties = before


def with_penalties(
    columns: Sequence[Tensor], network: Network, activities: Sequence[Tensor]
) -> list[Tensor]:
    """Return ``columns`` with all penalties added to the first, the loss.

    Args:
        columns: tensors (batch,), one for each column of the logs.
        activities: the penalties of results, (batch,) each.
    """
    loss, *others = columns
    for penalty in (*network.losses, *activities):
        loss = loss + penalty
    return [loss, *others]
