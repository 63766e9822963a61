"""Copies of the part of a graph that is a model, in a graph of their own."""

from __future__ import annotations

from dataclasses import dataclass

from playgrad.errors import GraphError
from playgrad.graph.copying import CopyMap
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.tensor import Node, Tensor
from playgrad.models.structure import Structure, find_structure
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall
from playgrad.ops.state import RANDOM_STEP, is_variable, random_step


@dataclass
class ClonedStructure:
    """A structure in a graph of its own.

    Attributes:
        structure: equal to the one that was copied, under the same names.
        layers: the copy of each layer.
        variables: the copy of each variable.
    """

    structure: Structure
    layers: dict[Layer, Layer]
    variables: dict[Tensor, Tensor]


def copy_structure(old: Structure) -> ClonedStructure:
    """Copy layers, operations and variables, in their initial state, to a new graph.

    A layer that is called several times is copied once.

    Raises:
        GraphError: an operation uses a variable of a layer that is not called before it.
    """
    clones = _Cloning(old)
    with at_top(clones.graph):
        for step in old.steps:
            clones.take(step)
        inputs = [clones[tensor] for tensor in old.inputs]
        outputs = [clones[tensor] for tensor in old.outputs]
    structure = find_structure(inputs, outputs)
    return ClonedStructure(structure, clones.layers, clones.variables)


class _Cloning(CopyMap):
    """Clones whatever is looked up, together with everything that it needs."""

    def __init__(self, old: Structure) -> None:
        super().__init__(Graph(old.graph.seed))
        self.layers: dict[Layer, Layer] = {}
        self.variables: dict[Tensor, Tensor] = {}
        self.of_layers = {v for layer in old.layers for v in layer.variables.values()}

    def take(self, step: LayerCall | Node) -> None:
        if isinstance(step, Node):
            self.node(step)
            return
        layer = self._layer(step.layer)
        with self.graph.device(step.device):
            self[step.output] = layer(*(self[tensor] for tensor in step.inputs))
        for name, variable in step.layer.variables.items():
            self.variables[variable] = self[variable] = layer.variables[name]

    def _layer(self, layer: Layer) -> Layer:
        if layer not in self.layers:
            copy = layer.clone()
            copy.name = layer.name  # including a number that made it unique
            self.layers[layer] = copy
        return self.layers[layer]

    def __getitem__(self, original: Tensor) -> Tensor:
        if original not in self.tensors:
            self.node(original.node)
        return self.tensors[original]

    def node(self, original: Node) -> Node:
        if (copy := self.nodes.get(original)) is not None:
            return copy
        if any(tensor in self.tensors for tensor in original.outputs):  # a layer's variable
            return self.tensors[original.outputs[0]].node
        if any(tensor in self.of_layers for tensor in original.outputs):
            raise GraphError(
                f"the model uses '{original.name}' before it calls the layer that it belongs to.",
                op=original.name,
                source=original.source,
            )
        if original.name == RANDOM_STEP:
            copy = random_step(self.graph).node
            self.replace(original, copy.outputs, copy)
        else:
            if is_variable(original):
                self.node(original.graph.tensor(original.attrs["initializer"]).node)
            copy = self.copy(original)
        if is_variable(original):
            self.variables[original.outputs[0]] = copy.outputs[0]
        return copy
