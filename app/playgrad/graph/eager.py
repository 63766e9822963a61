"""Eager mode: operations that are computed as soon as they are created.

The graph knows nothing of sessions: the runtime fills in how to compute a node and a tensor.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, Protocol

COMPUTE: dict[str, Callable[..., Any]] = {}
"""``inputs``: the arrays that a new node needs, or None; ``node``: computes it from them;
``tensor``: the value of a tensor of a graph;
``assign``: sets variables."""
DETACHED_IDS = itertools.count(1 << 40)
"""The ids of nodes that belong to no list of a graph; they come after all others."""

_BUILD, _EAGER, _AT_ONCE = "build", "eager", "at once"


class NodeRecorder(Protocol):
    """What is told of every new node."""

    def record(self, node: Any) -> None: ...


class _Mode(threading.local):
    """The mode of a thread: None outside of all blocks, where graphs are built as well.

    Attributes:
        recorders: the gradient tapes that are recording.
    """

    name: str | None = None

    def __init__(self) -> None:
        self.recorders: list[NodeRecorder] = []


_mode = _Mode()


@contextmanager
def _changed(name: str) -> Iterator[None]:
    before, _mode.name = _mode.name, name
    try:
        yield
    finally:
        _mode.name = before


@contextmanager
def eager() -> Iterator[None]:
    """Compute operations at once within the block, for looking around.

    Tensors then have values: ``print`` shows them, ``x.numpy()`` returns them, and Python can
    branch on them, iterate over them and convert them with ``float`` or ``numpy.asarray``.
    Variables belong to the graph: they have the values that models and `function` give them, and
    ``assign`` takes effect at once. Random operations draw anew. NumPy computes, operation by
    operation: it is not for training. The operations stay in their graph, also after the block.
    A tensor that depends on a placeholder, or on one from before the block, has no value yet, as
    always in a graph. Models, sessions and `function` work as elsewhere.
    """
    with _changed(_EAGER):
        yield


@contextmanager
def graph_mode() -> Iterator[None]:
    """Build graphs as usual within the block, also in eager mode."""
    with _changed(_BUILD):
        yield


@contextmanager
def at_once(*values: Any) -> Iterator[None]:
    """Compute operations at once within the block, and keep them out of their graph.

    Their tensors live as long as the program holds them, so that a loop does not make the graph
    grow. What depends on a placeholder, and variables, are added to the graph as usual.

    Args:
        values: if there are any, this applies only if a tensor among them was computed so. It never
            does while a function or a model is being built, nor in `eager`.
    """
    applies = not values or any(is_detached(value) for value in values)
    if _mode.name is None and applies:
        with _changed(_AT_ONCE):
            yield
    else:
        yield


@contextmanager
def attached() -> Iterator[None]:
    """Add operations to the graph within the block, also in `at_once`."""
    with _changed(_BUILD) if _mode.name == _AT_ONCE else nullcontext():
        yield


def is_detached(value: Any) -> bool:
    """Return whether ``value`` is a tensor that was computed outside of its graph."""
    node = getattr(value, "node", None)
    return bool(getattr(node, "detached", False))


def is_eager() -> bool:
    """Return whether operations are computed at once."""
    return _mode.name in (_EAGER, _AT_ONCE)


def is_building() -> bool:
    """Return whether a function, a step or a model is being built."""
    return _mode.name == _BUILD


def is_at_once() -> bool:
    """Return whether operations are computed at once, and kept out of their graph."""
    return _mode.name == _AT_ONCE


def detached_inputs(node: Any) -> Sequence[Any] | None:
    """Return the arrays of the inputs of a new node that its graph does not need; else None."""
    if _mode.name == _AT_ONCE or (_mode.name is None and any(map(is_detached, node.inputs))):
        with graph_mode():
            arrays: Sequence[Any] | None = COMPUTE["inputs"](node, True)
        return arrays
    return None


def compute_if_eager(node: Any) -> None:
    """Compute a node that was added to its graph, in eager mode."""
    if _mode.name == _EAGER:
        with graph_mode():
            arrays = COMPUTE["inputs"](node, False)
            if arrays is not None:
                COMPUTE["node"](node, arrays)


def compute_detached(node: Any, arrays: Sequence[Any]) -> None:
    """Compute a node that is not in its graph."""
    with graph_mode():
        COMPUTE["node"](node, arrays)


def value_of_tensor(tensor: Any) -> Any:
    """Return the value of a tensor that was not computed in eager mode, by running its graph."""
    with graph_mode():
        return COMPUTE["tensor"](tensor)


def assign_values(values: Any) -> None:
    """Assign arrays to the variables that are the keys of ``values``."""
    with graph_mode():
        COMPUTE["assign"](values)


def record(node: Any) -> None:
    """Tell the tapes of the thread of a new node."""
    for recorder in _mode.recorders:
        recorder.record(node)


def start_recording(recorder: NodeRecorder) -> None:
    """Tell ``recorder`` of every new node of the thread from now on."""
    _mode.recorders.append(recorder)


def stop_recording(recorder: NodeRecorder) -> None:
    """Tell ``recorder`` of no more nodes."""
    _mode.recorders.remove(recorder)


def is_recording() -> bool:
    """Return whether a tape is recording in the thread."""
    return bool(_mode.recorders)
