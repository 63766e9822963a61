"""A clean place in a graph for what a model adds to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playgrad.graph.graph import Graph


@contextmanager
def at_top(graph: Graph, phase: str = "forward") -> Iterator[None]:
    """Make ``graph`` the default and leave the scopes that the caller happens to be in."""
    with (
        graph.as_default(),
        graph.reenter_scope(""),
        graph.control_dependencies(None),
        graph.device(None),
        graph.phase(phase),
    ):
        yield
