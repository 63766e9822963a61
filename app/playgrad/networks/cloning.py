"""Copies of networks, each in a graph of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.copying import CopyMap
from playgrad.graph.graph import at_top
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.network import Network
from playgrad.networks.shared_session import shared_session
from playgrad.networks.structure import Structure, StructureItem, find_structure
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall
from playgrad.ops.state import RANDOM_STEP, is_variable, random_step


@dataclass
class ClonedStructure:
    """A copy of a structure in a graph of its own.

    Attributes:
        structure: the copy, whose layers and nodes have the names of the originals.
        layers: the copy of each layer.
        variables: the copy of each variable.
    """

    structure: Structure
    layers: dict[Layer, Layer]
    variables: dict[Tensor, Tensor]


def copy_structure(old: Structure) -> ClonedStructure:
    """Copy layers, operations and variables to a new graph; variables get their initial values.

    A layer that is called several times is copied once.

    Raises:
        GraphError: an operation uses a variable of a layer that is not called before it.
    """
    copy = StructureCopy(old)
    return ClonedStructure(copy.structure(), copy.layers, copy.variables)


def copy_values(old: Network, new: Network, variables: Mapping[Tensor, Tensor]) -> None:
    """Copy the values of the variables of ``old`` to the variables of ``new``.

    Args:
        variables: the variable of ``new`` for each variable of ``old``.
    """
    session = shared_session(old.graph).session
    if session is not None:  # until there is one, all variables have their initial values
        values = session.values(list(variables))
        new.session.assign(dict(zip(variables.values(), values, strict=True)))


def clone_network(network: Network) -> Network:
    """Return a copy of ``network`` with the same values, in a graph and a session of its own."""
    copies = copy_structure(network.structure)
    clone = Network(copies.structure.graph, copies.structure, network.name)
    clone.take_settings(network)
    copy_values(network, clone, copies.variables)
    return clone


class StructureCopy(CopyMap):
    """A structure that is copied to a graph of its own.

    Whatever is looked up is copied, together with everything that it needs. A subclass that
    overrides `call` changes the copy.

    Attributes:
        layers: the copy of each layer.
        variables: the copy of each variable.
    """

    def __init__(self, old: Structure) -> None:
        super().__init__(old.graph.empty())
        self.old = old
        self.layers: dict[Layer, Layer] = {}
        self.variables: dict[Tensor, Tensor] = {}
        self.of_layers = {v for layer in old.layers for v in layer.variables.values()}

    def structure(self) -> Structure:
        """Copy all items, and return the structure of the copies."""
        with at_top(self.graph):
            for item in self.old.items:
                self.take(item)
            inputs = [self[tensor] for tensor in self.old.inputs]
            outputs = [self[tensor] for tensor in self.old.outputs]
        return find_structure(inputs, outputs)

    def take(self, item: StructureItem) -> None:
        """Copy ``item``."""
        if isinstance(item, Node):
            self.node(item)
            return
        with self.graph.device(item.device):
            results = self.call(item)
        for output, copy in zip(item.outputs, results, strict=True):
            self[output] = copy

    def call(self, call: LayerCall) -> Sequence[Tensor]:
        """Call the copy of a layer on the copies of its inputs, and return its results."""
        layer = self._layer(call.layer)
        result: Any = layer(*(self[tensor] for tensor in call.inputs), **call.options)
        for name, variable in call.layer.variables.items():
            self.variables[variable] = self[variable] = layer.variables[name]
        return [result] if isinstance(result, Tensor) else list(result)

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
