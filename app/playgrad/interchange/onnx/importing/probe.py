"""The constants of a graph, and the shapes that depend on the size of the batch.

The graph is built twice with free dimensions set to numbers, and everything that does not depend
on data or weights is computed. What is equal in both is constant. Chains such as
Shape → Gather → Concat, from which exporters compute the target of a Reshape, end in numbers that
differ; those depend on the size of the batch.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError, PlaygradError, shape_text
from playgrad.graph.graph import Graph
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors
from playgrad.interchange.onnx.importing.call import (
    LARGEST,
    MOST_NUMBERS,
    Budget,
    NotApplicableError,
)
from playgrad.interchange.onnx.importing.file import OnnxGraph, OnnxNode
from playgrad.interchange.onnx.importing.replay import Value, applied, refusal
from playgrad.ops.state import placeholder

Array = np.ndarray[Any, Any]
_BATCHES, _OTHERS = (3, 5), (64, 96)
_MOST_ELEMENTS = 2**28
"""The most elements of a result for a batch of 3 or 5."""


@dataclass(frozen=True)
class Facts:
    """The facts that are known of a graph before it is built.

    Attributes:
        constants: values by name, with None in arrays of objects where they depend on the batch.
        shapes: the shape of every other value, with None for sizes that depend on free dimensions.
        scaled: the names of values with a size that depends on free dimensions, but is not the
            size of the batch.
        nodes: the nodes that the outputs depend on, in order, without nodes that only constants
            need.
        shapes_of: the value whose shape each result of a ``Shape`` node is.
    """

    constants: Mapping[str, Array]
    shapes: Mapping[str, Shape]
    scaled: frozenset[str]
    nodes: Sequence[OnnxNode]
    shapes_of: Mapping[str, str]


def facts_of(graph: OnnxGraph, weights: Sequence[str]) -> Facts:
    """Return the facts of ``graph``.

    Args:
        weights: the initializers that are not constant.

    Raises:
        CheckpointError: a node cannot be imported.
    """
    free = [size for each in graph.inputs for size in each.shape if isinstance(size, str)]
    batches = {each.shape[0] for each in graph.inputs if each.shape}
    first, second = (
        _probe(
            graph,
            weights,
            {name: (_BATCHES if name in batches else _OTHERS)[run] for name in free},
        )
        for run in range(2)
    )
    constants: dict[str, Array] = {}
    shapes: dict[str, Shape] = {}
    scaled: set[str] = set()
    for name, one in first.items():
        two = second[name]
        if isinstance(one, Tensor) or one.shape != two.shape:
            if len(one.shape) != len(two.shape):
                raise CheckpointError(f"the rank of '{name}' in the ONNX file is not fixed.")
            pairs = list(zip(one.shape, two.shape, strict=True))
            shapes[name] = tuple(a if a == b else None for a, b in pairs)
            if any(a != b and (a, b) != _BATCHES for a, b in pairs):
                scaled.add(name)
            continue
        assert isinstance(two, np.ndarray)
        if np.array_equal(one, two, equal_nan=one.dtype.kind == "f"):
            constants[name] = one
        elif one.size > MOST_NUMBERS:
            raise CheckpointError(
                f"'{name}' in the ONNX file has {one.size} numbers that depend on free sizes."
            )
        else:
            varying = one.astype(object)
            varying[one != two] = None
            constants[name] = varying
    of = {node.outputs[0]: node.inputs[0] for node in graph.nodes if node.operator == "Shape"}
    nodes = _needed(graph, constants, scaled, of)
    return Facts(constants, shapes, frozenset(scaled), nodes, of)


def _needed(
    graph: OnnxGraph, constants: Container[str], scaled: Container[str], of: Mapping[str, str]
) -> list[OnnxNode]:
    needed = set(graph.outputs)
    nodes: list[OnnxNode] = []
    for node in reversed(graph.nodes):
        if needed.intersection(node.outputs):
            nodes.append(node)
            if node.outputs[0] not in constants:
                needed.update(node.inputs)
                if node.outputs[0] in scaled:  # its size is that of the value, not of the batch
                    needed.update(of[name] for name in node.inputs if name in of)
    return nodes[::-1]


def _probe(graph: OnnxGraph, weights: Sequence[str], sizes: Mapping[str, int]) -> dict[str, Value]:
    values: dict[str, Value] = dict(graph.initializers)
    stored = sum(array.size for array in graph.initializers.values())
    budget = Budget(LARGEST + 2 * stored)
    with Graph().as_default():
        for name in weights:
            values[name] = placeholder("float32", graph.initializers[name].shape)
        for each in graph.inputs:
            shape = [sizes[size] if isinstance(size, str) else size for size in each.shape]
            values[each.name] = placeholder(each.dtype, shape)
        for node in graph.nodes:
            inputs = [values[name] if name else None for name in node.inputs]
            constant = not any(isinstance(value, Tensor) for value in inputs)
            results = _results(node, inputs, graph.opset, budget)
            for tensor in results:
                if (tensor.spec.size or 0) > _MOST_ELEMENTS:
                    raise refusal(
                        node, graph.opset, f"its result has the shape {shape_text(tensor.shape)}."
                    )
            if constant or node.operator in ("Shape", "Size"):
                computed = _computed(node, results, graph.opset, budget)
                values |= zip(node.outputs, computed, strict=False)
            else:
                values |= zip(node.outputs, results, strict=False)
    return values


def _results(
    node: OnnxNode, inputs: Sequence[Value | None], opset: int, budget: Budget
) -> list[Tensor]:
    if node.operator == "Dropout":
        node = OnnxNode("Identity", node.name, node.inputs[:1], node.outputs[:1], {})
        inputs = inputs[:1]
    return applied(node, inputs, opset, budget=budget)


def _computed(node: OnnxNode, results: Sequence[Tensor], opset: int, budget: Budget) -> list[Array]:
    """Return the values of ``results``, which depend on constants alone."""
    values: dict[Tensor, Array] = {}
    needed = ancestors([tensor.node for tensor in results], control=False)
    for each in sorted(needed, key=lambda other: other.id):
        try:
            for tensor in each.outputs:
                budget.spend(tensor.spec.size or 0)
            inputs = [values[tensor] for tensor in each.inputs]
            with np.errstate(all="ignore"):
                values |= zip(each.outputs, each.op.reference(inputs, each.attrs), strict=True)
        except NotApplicableError as error:
            raise refusal(node, opset, f"playgrad does not support {error}.") from None
        except (PlaygradError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise refusal(node, opset, f"it cannot be computed: {error}.") from None
    return [np.asarray(values[tensor]) for tensor in results]
