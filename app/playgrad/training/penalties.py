"""The penalties of regularizers as part of the loss."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.tensor import Tensor
from playgrad.models.network import Network


def with_penalties(columns: Sequence[Tensor], network: Network) -> list[Tensor]:
    """Return ``columns`` with the penalties of all weights added to the first, the loss.

    Args:
        columns: tensors (batch,), one for each column of the logs.
    """
    loss, *others = columns
    for penalty in network.losses:
        loss = loss + penalty
    return [loss, *others]
