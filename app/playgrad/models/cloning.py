"""Copies of the part of a graph that is a model, in a graph of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.scopes import at_top
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
    copying = _Copying(old)
    with at_top(copying.graph):
        for step in old.steps:
            copying.take(step)
        inputs = [copying.tensor(tensor) for tensor in old.inputs]
        outputs = [copying.tensor(tensor) for tensor in old.outputs]
    structure = find_structure(inputs, outputs)
    return ClonedStructure(structure, copying.layers, copying.variables)


@dataclass
class _Copying:
    old: Structure
    graph: Graph = field(init=False)
    layers: dict[Layer, Layer] = field(default_factory=dict)
    variables: dict[Tensor, Tensor] = field(default_factory=dict)
    tensors: dict[Tensor, Tensor] = field(default_factory=dict)
    nodes: dict[Node, Node] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.graph = Graph(self.old.graph.seed)
        self.owned = {v for layer in self.old.layers for v in layer.variables.values()}

    def take(self, step: LayerCall | Node) -> None:
        if isinstance(step, Node):
            self.node(step)
            return
        layer = self._layer(step.layer)
        with self.graph.device(step.device):
            self.tensors[step.output] = layer(*(self.tensor(tensor) for tensor in step.inputs))
        for name, variable in step.layer.variables.items():
            self.variables[variable] = self.tensors[variable] = layer.variables[name]

    def _layer(self, layer: Layer) -> Layer:
        if layer not in self.layers:
            copy = layer.clone()
            copy.name = layer.name  # a number that it was given, too
            self.layers[layer] = copy
        return self.layers[layer]

    def tensor(self, tensor: Tensor) -> Tensor:
        if tensor not in self.tensors:
            self.node(tensor.node)
        return self.tensors[tensor]

    def node(self, node: Node) -> Node:
        """The copy of ``node``, made together with all that it needs."""
        if node in self.nodes:
            return self.nodes[node]
        if any(tensor in self.tensors for tensor in node.outputs):  # a layer's variable
            return self.tensors[node.outputs[0]].node
        if any(tensor in self.owned for tensor in node.outputs):
            raise GraphError(
                f"the model uses '{node.name}' before it calls the layer that it belongs to.",
                op=node.name,
                source=node.source,
            )
        copy = random_step(self.graph).node if node.name == RANDOM_STEP else self._copied(node)
        self.nodes[node] = copy
        self.tensors.update(zip(node.outputs, copy.outputs, strict=True))
        if is_variable(node):
            self.variables[node.outputs[0]] = copy.outputs[0]
        return copy

    def _copied(self, node: Node) -> Node:
        if is_variable(node):
            self.tensor(node.graph.tensor(node.attrs["initializer"]))
        return self.graph.add(
            node.op,
            [self.tensor(tensor) for tensor in node.inputs],
            node.attrs,
            name=node.name,
            control_inputs=[self.node(before) for before in node.control_inputs],
            phase=node.phase,
            device=node.device,
            task=node.task,
            source=node.source,
        )
