"""`model_from_onnx`: ONNX files as models that can be trained.

Nodes that use weights become layers (`ImportedLayer`), which are named after their weights:
``conv1.weight`` and ``conv1.bias`` belong to the layer ``conv1``. All others are operations between
them. What the file computes from weights alone, such as a transposed kernel, is part of the layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.data.input_description import InputDescription
from playgrad.errors import CheckpointError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing import naming
from playgrad.interchange.onnx.importing.batch_numbers import BatchNumbers
from playgrad.interchange.onnx.importing.call import TRANSLATIONS
from playgrad.interchange.onnx.importing.file import (
    OnnxGraph,
    OnnxInput,
    OnnxNode,
    read_graph,
)
from playgrad.interchange.onnx.importing.layer import ImportedLayer
from playgrad.interchange.onnx.importing.probe import Facts, facts_of
from playgrad.interchange.onnx.importing.replay import Value, applied, refusal
from playgrad.models.model import Model
from playgrad.nn.basic import Dropout
from playgrad.ops.core.build import constant
from playgrad.ops.state import placeholder

Array = np.ndarray[Any, Any]
_LONGEST = 200
"""The most nodes between weights and the value that is computed from them alone."""
_SMALL = 64
"""Constants of a layer up to this number of elements are part of its configuration."""


_QUANTIZED = {"QuantizeLinear", "DequantizeLinear"}


def model_from_onnx(file: str | Path | bytes) -> Model:
    """Return the model of an ONNX file.

    Raises:
        CheckpointError: the file cannot be read, is damaged, or has an operator that playgrad does
            not.
    """
    graph = read_graph(file)
    if any(node.operator in _QUANTIZED for node in graph.nodes):
        # Imported here: only files of integers need it.
        from playgrad.interchange.onnx.importing.qdq.model import model_from_qdq

        return model_from_qdq(graph)
    weights = naming.weights_of(graph)
    importer = _Import(graph, facts_of(graph, weights), weights)
    try:
        model = importer.model()
        model.set_weights(
            {
                f"{layer.name}/{variable}": graph.initializers[weight["name"]]
                for layer in importer.layers
                for variable, weight in layer.weights_of_nodes.items()
            }
        )
    except CheckpointError:
        raise
    except PlaygradError as error:
        raise CheckpointError(f"the graph of the ONNX file is not a model: {error}") from None
    model.input_description = InputDescription.from_metadata(graph.metadata)
    return model


@dataclass(frozen=True)
class _Prepared:
    """A value that depends on weights alone: these weights, and the nodes that compute it."""

    weights: tuple[str, ...]
    nodes: tuple[OnnxNode, ...]


class _Import:
    """A graph that is being built.

    Attributes:
        layers: the layers so far.
        values: the value of each name.
        variables: the variables of weights whose layer exists.
    """

    def __init__(self, source: OnnxGraph, facts: Facts, weights: Sequence[str]) -> None:
        self.source = source
        self.facts = facts
        self.layers: list[ImportedLayer] = []
        self.values: dict[str, Value | _Prepared] = dict(source.initializers)
        self.values |= {name: _Prepared((name,), ()) for name in weights}
        self.variables: dict[str, Tensor] = {}
        self._averages = naming.averages_of(source)
        self._done: set[OnnxNode] = set()
        self._like: Tensor | None = None
        self._numbers = BatchNumbers(source, facts.constants, self.values)
        self._users: dict[str, list[OnnxNode]] = {}
        for node in facts.nodes:
            for name in node.inputs:
                self._users.setdefault(name, []).append(node)
        self._weights = [name for name in weights if name in self._users]

    def model(self) -> Model:
        self.graph = Graph()
        with self.graph.as_default():
            inputs = [self._input(each) for each in self.source.inputs]
            self._like = next((x for x in inputs if x.shape and x.shape[0] is None), None)
            for node in self.facts.nodes:
                if node not in self._done:
                    self._node(node)
            outputs = [self._tensor(name) for name in self.source.outputs]
        return Model(inputs, outputs, self.source.name or "onnx")

    def _input(self, source: OnnxInput) -> Tensor:
        shape = [None if isinstance(size, str) else size for size in source.shape]
        tensor = placeholder(source.dtype, shape, naming.safe(source.name))
        self.values[source.name] = tensor
        return tensor

    def _node(self, node: OnnxNode) -> None:
        if node.outputs[0] in self.facts.constants:
            self.values |= {name: self.facts.constants[name] for name in filter(None, node.outputs)}
            return
        inputs = [self.values[name] for name in node.inputs if name]
        prepared = [value for value in inputs if isinstance(value, _Prepared)]
        weights = dict.fromkeys(weight for value in prepared for weight in value.weights)
        if node.operator == "Dropout":
            self._dropout(node)
        elif not any(isinstance(value, Tensor) or _is_free(value) for value in inputs):
            before = dict.fromkeys(each for value in prepared for each in value.nodes)
            if len(before) >= _LONGEST:
                why = f"more than {_LONGEST} nodes depend on weights alone."
                raise refusal(node, self.source.opset, why)
            value = _Prepared(tuple(weights), (*before, node))
            self.values |= dict.fromkeys(filter(None, node.outputs), value)
        elif any(weight not in self.variables for weight in weights):
            self._layer(node)
        else:
            self._operation(node)

    def _dropout(self, node: OnnxNode) -> None:
        rate = self.values[node.inputs[1]] if len(node.inputs) > 1 and node.inputs[1] else 0.5
        if isinstance(rate, (Tensor, _Prepared)) or any(
            name in self._users or name in self.source.outputs for name in node.outputs[1:]
        ):
            raise refusal(node, self.source.opset, "its rate must be constant, its mask not used.")
        if np.size(rate) != 1 or not np.issubdtype(np.asarray(rate).dtype, np.floating):
            raise refusal(node, self.source.opset, "its rate is not a number.")
        layer = Dropout(float(np.reshape(rate, ())))
        self.values[node.outputs[0]] = layer(self._tensor(node.inputs[0]))

    # Operations without a layer

    def _operation(self, node: OnnxNode) -> None:
        """Add ``node`` between the layers; any weights that it uses belong to layers."""
        values = [self._resolved(name) if name else None for name in node.inputs]
        shapes = [self.facts.shapes.get(name, ()) for name in node.outputs]
        like = self._like_of(node)
        like = self._source_of_shape(node) if like is None else like
        results = applied(
            node, values, self.source.opset, shapes, like, sizes=self._numbers.of(node)
        )
        self.values |= {name: x for name, x in zip(node.outputs, results, strict=False) if name}

    def _like_of(self, node: OnnxNode) -> Tensor | None:
        """Return a tensor with the batch of the first output, if that has no other free size."""
        return None if node.outputs[0] in self.facts.scaled else self._like

    def _source_of_shape(self, node: OnnxNode) -> Tensor | None:
        """Return the tensor of whose shape the first output is made, if its first size is free."""
        x = self.values.get(self.facts.shapes_of.get(node.inputs[-1], ""))
        shape = self.facts.shapes.get(node.outputs[0])
        if not isinstance(x, Tensor) or not shape or tuple(x.shape) != shape:
            return None
        return x if shape[0] is None else None

    def _resolved(self, name: str) -> Value:
        """Return a value; values that depend on weights alone are computed by operations."""
        value = self.values[name]
        if not isinstance(value, _Prepared):
            return value
        if name in self.variables:
            return self.variables[name]
        for node in value.nodes:
            if isinstance(self.values[node.outputs[0]], _Prepared):
                self._operation(node)
        result = self.values[name]
        assert not isinstance(result, _Prepared)
        return result

    def _tensor(self, name: str) -> Tensor:
        value = self.values[name]
        if not isinstance(value, Tensor):
            raise CheckpointError(f"'{name}' of the ONNX file does not depend on its inputs.")
        return value

    # Layers

    def _layer(self, node: OnnxNode) -> None:
        """Make a layer of ``node``, the nodes that prepare its weights, and later ones that share
        the weights."""
        nodes = [node]
        missing = [weight for weight in self._needed(nodes) if weight not in self.variables]
        shared = naming.prefix(missing[0])
        siblings = [
            weight
            for weight in self._weights
            if shared and naming.prefix(weight) == shared and weight not in self.variables
        ]
        own = list(dict.fromkeys([*siblings, *missing]))
        while (following := self._following(nodes[-1], own)) is not None:
            nodes.append(following)
        layer = self._described(nodes, own, shared)
        called: Any = layer(*self._arguments(layer))
        results = called if isinstance(called, list) else [called]
        self.layers.append(layer)
        self._done |= set(nodes)
        self.values |= zip(layer.outputs, results, strict=True)
        for variable, weight in layer.weights_of_nodes.items():
            self.variables[weight["name"]] = layer.variables[variable]

    def _needed(self, nodes: Sequence[OnnxNode]) -> list[str]:
        """Return the weights of ``nodes``, in order."""
        values = [self.values.get(name) for node in nodes for name in node.inputs]
        prepared = [value for value in values if isinstance(value, _Prepared)]
        return list(dict.fromkeys(weight for value in prepared for weight in value.weights))

    def _following(self, node: OnnxNode, own: Sequence[str]) -> OnnxNode | None:
        """Return the node that alone uses the result of ``node``, if it needs ``own`` weights."""
        result = node.outputs[0]
        users = self._users.get(result, [])
        if len(users) != 1 or result in self.source.outputs or len(node.outputs) > 1:
            return None
        (user,) = users
        others = [self.values.get(name) for name in user.inputs if name and name != result]
        weights = self._needed([user])
        fits = all(isinstance(value, _Prepared) for value in others) and set(weights) <= set(own)
        return user if weights and fits and user.operator in TRANSLATIONS else None

    def _described(
        self, nodes: Sequence[OnnxNode], own: Sequence[str], shared: str
    ) -> ImportedLayer:
        prepared = [
            value
            for node in nodes
            for name in node.inputs
            if isinstance(value := self.values.get(name), _Prepared)
        ]
        before = dict.fromkeys(each for value in prepared for each in value.nodes)
        every = [*before, *nodes]
        computed = {name for node in every for name in node.outputs}
        needed = dict.fromkeys(name for node in every for name in node.inputs if name)
        constants, inputs = {}, []
        for name in needed:
            value = self.values.get(name)
            if name in computed or name in own:
                continue
            if isinstance(value, np.ndarray) and value.size <= _SMALL:
                constants[name] = {
                    "dtype": value.dtype.name,
                    "shape": list(value.shape),
                    "values": value.reshape(-1).tolist(),
                }
            else:
                inputs.append(name)
        free = any(_is_free(self.values.get(name)) for name in needed)
        first = nodes[0].outputs[0]
        if free and (self._like_of(nodes[0]) is None or first not in self.facts.shapes):
            raise refusal(nodes[0], self.source.opset, "its shape depends on several free sizes.")
        if free:
            inputs.append("")
        last = nodes[-1].outputs
        used = [name for name in last if name in self._users or name in self.source.outputs]
        return ImportedLayer(
            [self._plain(node) for node in every],
            {
                variable: {
                    "name": weight,
                    "shape": list(self.source.initializers[weight].shape),
                    "trainable": weight not in self._averages,
                }
                for variable, weight in naming.variable_names(own, shared).items()
            },
            inputs,
            used or last[:1],
            constants,
            {first: list(self.facts.shapes[first])} if free else {},
            self.source.opset,
            naming.unique(naming.layer_name(own[0]), [layer.name or "" for layer in self.layers]),
        )

    def _plain(self, node: OnnxNode) -> dict[str, Any]:
        if any(isinstance(value, np.ndarray) for value in node.attributes.values()):
            raise refusal(node, self.source.opset, "it has weights and a tensor as an attribute.")
        return {
            "operator": node.operator,
            "name": node.name,
            "inputs": list(node.inputs),
            "outputs": list(node.outputs),
            "attributes": dict(node.attributes),
        }

    def _arguments(self, layer: ImportedLayer) -> list[Tensor]:
        """Return the tensors that ``layer`` is called on."""
        tensors: list[Any] = []
        for name in layer.inputs:
            value = self._resolved(name) if name else self._like
            tensors.append(
                constant(value, value.dtype.name) if isinstance(value, np.ndarray) else value
            )
        return tensors


def _is_free(value: Any) -> bool:
    """True for numbers that depend on the size of the batch."""
    return isinstance(value, np.ndarray) and value.dtype == object
