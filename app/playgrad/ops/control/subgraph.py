"""Recorded functions as text: attributes of a node that runs them.

The text is JSON: the graph (graph/serialize.py), and the names of its inputs and outputs. Its
inputs are placeholders for the arguments of the function, then for captured tensors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.copying import CopyMap
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, lookup
from playgrad.graph.serialize import graph_from_json, graph_to_json
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.control.recording import Recording


@dataclass(frozen=True)
class Subgraph:
    """A recorded function in a graph of its own."""

    graph: Graph
    inputs: list[Tensor]
    outputs: list[Tensor]

    def recording(self) -> Recording:
        """Return it as a recording, to be instantiated in another graph."""
        nodes = [node for node in self.graph.nodes if node.op.name != "placeholder"]
        return Recording(self.inputs, None, self.outputs, nodes, [], "", None)


def to_text(recording: Recording, captures: Sequence[Tensor]) -> str:
    """Return ``recording`` as text, whose inputs are its own and ``captures``, in this order."""
    graph = Graph()
    copies = CopyMap(graph)
    inputs = [*recording.inputs, *captures]
    for place, tensor in enumerate(inputs):
        attrs = {"shape": list(tensor.shape), "dtype": tensor.dtype}
        name = f"input_{place}"
        copies[tensor] = graph.add(lookup("placeholder"), attrs=attrs, name=name).output
    for node in recording.nodes:
        name = node.name.removeprefix(recording.prefix)
        copy = graph.copy(node, [copies[tensor] for tensor in node.inputs], name=name)
        copies.replace(node, copy.outputs, copy)
    return json.dumps(
        {
            "graph": graph_to_json(graph),
            "inputs": [copies[tensor].name for tensor in inputs],
            "outputs": [copies[tensor].name for tensor in recording.outputs],
        }
    )


@lru_cache(maxsize=128)
def from_text(text: str, specs: tuple[TensorSpec, ...]) -> Subgraph:
    """Return the function for inputs of ``specs``, with operations on shapes made static.

    Raises:
        GraphError: the text is not a function of so many inputs.
        ShapeError, DTypeError: the inputs do not fit.
    """
    try:
        data = json.loads(text)
        written = graph_from_json(data["graph"])
        inputs = [written.tensor(name) for name in data["inputs"]]
        outputs = [written.tensor(name) for name in data["outputs"]]
    except (KeyError, TypeError, ValueError) as error:
        raise error if isinstance(error, PlaygradError) else _damaged() from None
    if len(inputs) != len(specs):
        raise _damaged()
    graph = Graph()
    copies = CopyMap(graph)
    for tensor, spec in zip(inputs, specs, strict=True):
        attrs = {"shape": list(spec.shape), "dtype": spec.dtype}
        copy = graph.copy(tensor.node, [], attrs=attrs)
        copies.replace(tensor.node, copy.outputs, copy)
    for node in written.nodes:
        if node not in copies.nodes:
            _copy_static(copies, node)
    return Subgraph(graph, [copies[t] for t in inputs], [copies[t] for t in outputs])


def _copy_static(copies: CopyMap, node: Node) -> None:
    values = [copies[tensor] for tensor in node.inputs]
    if node.op.specialise and all(None not in value.shape for value in values):
        static = node.op.specialise([value.spec for value in values], node.attrs)
        if static is not None:
            name, attrs, used = static
            copies.copy(node, op=lookup(name), inputs=[values[i] for i in used], attrs=attrs)
            return
    copies.copy(node)


def _damaged() -> GraphError:
    return GraphError("the function of this loop is damaged.")


def evaluator(subgraph: Subgraph) -> Callable[[Sequence[Array]], list[Array]]:
    """Return a function that computes the outputs from arrays, with the operations' references."""
    place = {tensor: number for number, tensor in enumerate(subgraph.inputs)}
    values: list[Any] = [None] * len(place)
    work = []
    for node in subgraph.graph.nodes:
        if node.op.name == "placeholder":
            continue
        for tensor in node.outputs:
            place[tensor] = len(values)
            values.append(node.attrs["value"] if node.op.name == "constant" else None)
        if node.op.name != "constant":
            targets = [place[tensor] for tensor in node.outputs]
            work.append((_compute(node), [place[t] for t in node.inputs], targets))
    fetched = [place[tensor] for tensor in subgraph.outputs]

    def run(arrays: Sequence[Array]) -> list[Array]:
        now = list(values)
        now[: len(arrays)] = arrays
        for compute, sources, targets in work:
            results = compute([now[source] for source in sources])
            for target, result in zip(targets, results, strict=True):
                now[target] = result
        return [np.asarray(now[number]) for number in fetched]

    return run


def _compute(node: Node) -> Callable[[Sequence[Array]], Sequence[Array]]:
    if node.op.prepare is not None:
        return node.op.prepare([tensor.spec for tensor in node.inputs], node.attrs)
    reference, attrs = node.op.reference, node.attrs
    return lambda arrays: reference(arrays, attrs)
