"""Networks that are rewritten layer by layer, with the values of their weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.networks.cloning import StructureCopy
from playgrad.networks.network import Network
from playgrad.networks.structure import Structure
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall
from playgrad.ops.state import Variable

Array = np.ndarray[Any, Any]
Values = Mapping[Tensor, Array]


class Draft(NamedTuple):
    """A structure with the values of its variables, which no session need hold.

    Attributes:
        names: of its layers in the model.
    """

    structure: Structure
    values: Values
    names: Mapping[Layer, str]


def draft_of(network: Network) -> Draft:
    """Return the structure of ``network`` and the values of its variables, as they are now."""
    structure = network.structure
    variables = [v for layer in structure.layers for v in layer.variables.values()]
    values = network.session.values(variables) if variables else []
    names = {layer: name for name, layer in network.named_layers()}
    return Draft(structure, dict(zip(variables, values, strict=True)), names)


@contextmanager
def opened(draft: Draft, like: Network) -> Iterator[Network]:
    """Yield a network of ``draft`` on the device of ``like``, which is closed afterwards."""
    network = Network(draft.structure.graph, draft.structure, like.name)
    network.take_settings(like)
    try:
        network.session.assign(dict(draft.values))
        yield network
    finally:
        network.close()


class Rewrite(StructureCopy):
    """A copy of a draft in which subclasses replace calls of layers, by overriding `call`.

    Attributes:
        new_values: the values of the variables of the copy.
    """

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft.structure)
        self.values = draft.values
        self.names = draft.names
        self.new_values: dict[Tensor, Array] = {}
        self.users = _users(draft.structure)

    def draft(self) -> Draft:
        """Make the copy, and return it. What training keeps, such as zeros, its variables keep."""
        structure = self.structure()
        for old, new in self.variables.items():
            if isinstance(old, Variable) and isinstance(new, Variable):
                new.keep = old.keep
        copied = {
            self.variables[v]: array for v, array in self.values.items() if v in self.variables
        }
        names = {layer: str(layer.name) for layer in structure.layers}
        return Draft(structure, {**copied, **self.new_values}, names)

    def put(
        self, layer: Layer, inputs: Iterable[Tensor], weights: Mapping[str, Array] | None = None
    ) -> Tensor:
        """Call a new layer on tensors of the copy, and return its result.

        Args:
            weights: the values of its variables, by their names.
        """
        result = layer(*inputs)
        for name, array in (weights or {}).items():
            variable = layer.variables[name]
            self.new_values[variable] = np.asarray(array, variable.dtype)
        return result

    def weights(self, layer: Layer) -> dict[str, Array]:
        """Return the values of the variables of a layer of the draft, by their names."""
        return {name: self.values[variable] for name, variable in layer.variables.items()}

    def only_user(self, tensor: Tensor) -> LayerCall | None:
        """Return the call of a layer that alone uses ``tensor``; None if it is not used so."""
        users = self.users.get(tensor, [])
        return users[0] if len(users) == 1 and isinstance(users[0], LayerCall) else None

    def _layer(self, layer: Layer) -> Layer:
        copy = super()._layer(layer)
        copy.name = copy.given_name = self.names[layer]
        return copy


def _users(structure: Structure) -> dict[Tensor, list[Any]]:
    """Return the items that use each tensor; "output" for the outputs of the model."""
    users: dict[Tensor, list[Any]] = {}
    for item in structure.items:
        for tensor in item.inputs:
            users.setdefault(tensor, []).append(item)
    for tensor in structure.outputs:
        users.setdefault(tensor, []).append("output")
    return users
