"""The scopes of the default graph, as functions."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

from playgrad.graph.graph import get_default_graph
from playgrad.graph.tensor import Node, Tensor


def name_scope(name: str | None) -> AbstractContextManager[str]:
    """Prefix the names of operations made in the block; None forgets outer scopes."""
    return get_default_graph().name_scope(name)


def device(name: str | None) -> AbstractContextManager[None]:
    """Place operations made in the block: ``with pg.device("gpu:0"):``."""
    return get_default_graph().device(name)


def control_dependencies(
    before: Iterable[Node | Tensor] | None,
) -> AbstractContextManager[None]:
    """Operations made in the block run after all of ``before``."""
    return get_default_graph().control_dependencies(before)
