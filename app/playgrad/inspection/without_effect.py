"""A check that looking at tensors changes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.errors import GraphError
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors
from playgrad.ops.state import RANDOM_STEP


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
