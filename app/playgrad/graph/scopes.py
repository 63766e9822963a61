"""Scopes of a graph, as functions: those of the default graph, and the way out of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

from playgrad.graph.graph import Graph, get_default_graph
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


@contextmanager
def at_top(graph: Graph, phase: str = "forward") -> Iterator[None]:
    """Make ``graph`` the default and leave all scopes that the caller is in."""
    with (
        graph.as_default(),
        graph.reenter_scope(""),
        graph.control_dependencies(None),
        graph.device(None),
        graph.phase(phase),
    ):
        yield
