"""The part of a graph that predicts, which formats translate operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.input_description import InputDescription
from playgrad.errors import ExportError
from playgrad.graph.tensor import Node, Tensor

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class InferenceGraph:
    """The graph with which a network computes its outputs.

    Attributes:
        name: the name of the network.
        inputs: placeholders; their unknown dimensions stay free.
        outputs: the results.
        values: the arrays of the variables that the outputs depend on.
        input: how a picture becomes the input; None if it is not known.
    """

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    values: Mapping[Tensor, Array]
    input: InputDescription | None = None

    @property
    def nodes(self) -> list[Node]:
        """The nodes between inputs and outputs, variables and constants too, in order."""
        return needed(self.inputs, self.outputs)


def inference_graph(
    name: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    read: Callable[[list[Tensor]], Sequence[Array]],
    described: InputDescription | None = None,
) -> InferenceGraph:
    """Return the prediction of ``outputs``.

    Args:
        read: returns the values of variables.
        described: how a picture becomes the input, if it is known.
    """
    nodes = needed(inputs, outputs)
    variables = [node.output for node in nodes if node.op.name == "variable"]
    values = dict(zip(variables, read(variables), strict=True))
    return InferenceGraph(name, tuple(inputs), tuple(outputs), values, described)


def needed(inputs: Iterable[Tensor], outputs: Iterable[Tensor]) -> list[Node]:
    """Return the nodes between inputs and outputs, variables and constants too, in order."""
    borders = {tensor.node for tensor in inputs}
    nodes: set[Node] = set()
    pending = [tensor.node for tensor in outputs]
    while pending:
        node = pending.pop()
        if node not in nodes and node not in borders:
            nodes.add(node)
            pending.extend(tensor.node for tensor in node.inputs)
    return sorted(nodes, key=lambda node: node.id)


def refusal(node: Node, why: str) -> ExportError:
    """Return the error of an operation that a format cannot express."""
    layer, _, _ = node.name.rpartition("/")
    place = f"layer '{layer}', operation '{node.name}'" if layer else f"operation '{node.name}'"
    return ExportError(f"{place} ({node.op.name}): {why}", op=node.name, source=node.source)
