"""Interpreters of programs, which specify the results that every pass must preserve.

``interpret`` gives each reader of a variable its value from before the run, and lets the last
writer win. ``interpret_in_place`` works like a GPU: a variable is one buffer that its writers
overwrite, aliases share bytes, and nodes run in any order that the edges allow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.program import Program
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors

Array = np.ndarray[Any, Any]
Values = dict[str, Array]


def interpret(
    program: Program, feeds: Mapping[str, Array], state: Mapping[str, Array]
) -> tuple[list[Array], Values]:
    """Return the fetched values, and the state after the run.

    Args:
        feeds: by the names of ``program.feeds``.
        state: values of variables by name.
    """
    values: dict[Tensor, Array] = {t: feeds[name] for name, t in program.feeds.items()}
    after = dict(state)
    for node in program.order():
        if node.op.name == "variable":
            results: Sequence[Array] = [state[node.name]]
        elif node.op.name == "read_variable":
            results = [after[node.attrs["variable"]]]
        elif node.outputs and all(tensor in values for tensor in node.outputs):
            continue
        else:
            results = node.op.reference([values[tensor] for tensor in node.inputs], node.attrs)
        for tensor, result in zip(node.outputs, results, strict=True):
            values.setdefault(tensor, result)
        if node.op.writes:
            after.update(zip(node.attrs["variables"], results, strict=True))
    return [values[tensor] for tensor in program.fetches], after


def interpret_in_place(
    program: Program,
    feeds: Mapping[str, Array],
    state: Mapping[str, Array],
    choose: Callable[[Sequence[Node]], Node],
) -> tuple[list[Array], Values]:
    """Do the same with variables as buffers; ``choose`` picks the next of the nodes that may run.

    Fetches are read when everything has run, as a runner does after a submit.
    """
    buffers = {name: array.copy() for name, array in state.items()}
    stored: dict[Tensor, Callable[[], Array]] = {}
    for name, tensor in program.feeds.items():
        stored[tensor] = _always(feeds[name])
    waiting = ancestors(program.roots)
    done: set[Node] = set()
    while waiting:
        ready = [node for node in waiting if done.issuperset(node.predecessors)]
        node = choose(sorted(ready, key=lambda node: node.id))
        waiting.remove(node)
        done.add(node)
        if node.op.name == "placeholder":
            continue
        if node.op.name == "variable":
            stored[node.outputs[0]] = _buffer(buffers, node.name)
        elif node.op.name == "read_variable":
            stored[node.outputs[0]] = _always(buffers[node.attrs["variable"]].copy())
        elif node.op.alias:
            stored[node.outputs[0]] = _reshaped(stored[node.inputs[0]], node)
        else:
            results = node.op.reference([stored[t]() for t in node.inputs], node.attrs)
            for index, (tensor, result) in enumerate(zip(node.outputs, results, strict=True)):
                if node.op.writes:
                    name = node.attrs["variables"][index]
                    buffers[name][...] = result
                    stored[tensor] = _buffer(buffers, name)
                else:
                    stored[tensor] = _always(np.array(result))
    return [stored[tensor]().copy() for tensor in program.fetches], buffers


def _always(value: Array) -> Callable[[], Array]:
    return lambda: value


def _buffer(buffers: Values, name: str) -> Callable[[], Array]:
    return lambda: buffers[name]


def _reshaped(source: Callable[[], Array], node: Node) -> Callable[[], Array]:
    shape = node.outputs[0].spec.static_shape
    return lambda: source().reshape(shape)
