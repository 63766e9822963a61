"""Eager mode: operations that are computed as soon as they are added to a graph.

The graph knows nothing of sessions: the runtime fills in how to compute a node and a tensor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

COMPUTE: dict[str, Callable[..., Any]] = {}
"""``node``: computes a new node in eager mode; ``tensor``: the value of a tensor of a graph."""


class _Mode(threading.local):
    """Return whether the thread is in eager mode."""

    is_eager = False


_mode = _Mode()


@contextmanager
def eager() -> Iterator[None]:
    """Compute operations at once within the block, for looking around.

    Tensors then have values: ``print`` shows them, ``x.numpy()`` returns them, and Python can
    branch on them, iterate over them and convert them with ``float`` or ``numpy.asarray``.
    Variables are those of the graph: they have the values that models and `function` give them, and
    ``assign`` takes effect at once. Random operations draw anew. NumPy computes, operation by
    operation: it is not for training. The operations stay in their graph, also after the block.
    A tensor that depends on a placeholder, or on one from before the block, has no value yet, as
    always in a graph. Models, sessions and `function` work as elsewhere.
    """
    before, _mode.is_eager = _mode.is_eager, True
    try:
        yield
    finally:
        _mode.is_eager = before


@contextmanager
def graph_mode() -> Iterator[None]:
    """Build graphs as usual within the block, also in eager mode."""
    before, _mode.is_eager = _mode.is_eager, False
    try:
        yield
    finally:
        _mode.is_eager = before


def is_eager() -> bool:
    """Return whether operations are computed at once."""
    return _mode.is_eager


def compute_if_eager(node: Any) -> None:
    """Compute a node that was added to its graph, in eager mode."""
    if _mode.is_eager:
        with graph_mode():
            COMPUTE["node"](node)


def value_of_tensor(tensor: Any) -> Any:
    """Return the value of a tensor that was not computed in eager mode, by running its graph."""
    with graph_mode():
        return COMPUTE["tensor"](tensor)
