"""The part of a graph between a model's inputs and outputs, and replaying it on other inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall, layers_of

StructureItem = LayerCall | Node
"""A layer call, or an operation that the user added without a layer."""


@dataclass(frozen=True)
class Structure:
    """The layer calls and operations from ``inputs`` to ``outputs``, in topological order.

    A model whose class has no ``call`` has no outputs.
    """

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    items: tuple[StructureItem, ...]

    @property
    def graph(self) -> Graph:
        return self.inputs[0].graph

    @property
    def layers(self) -> list[Layer]:
        """Each layer once, in the order of their first calls."""
        calls = (item for item in self.items if isinstance(item, LayerCall))
        return list(dict.fromkeys(call.layer for call in calls))

    def layers_by_distance(self) -> list[Layer]:
        """Return each layer once, in the order in which Keras' models have their weights.

        The layers farthest from the outputs come first; layers at the same distance are in the
        order in which a depth-first search from the outputs meets them.
        """
        made = {output: item for item in self.items for output in item.outputs}
        met: dict[Any, int] = {}
        visited: set[StructureItem] = set()
        stack = [made[output] for output in reversed(self.outputs) if output in made]
        while stack:
            item = stack.pop()
            if item not in visited:
                visited.add(item)
                met.setdefault(_operation(item), len(met))
                stack += [made[tensor] for tensor in reversed(item.inputs) if tensor in made]
        distances: dict[Any, int] = {}
        of_items: dict[StructureItem, int] = {}
        for item in reversed(self.items):
            operation = _operation(item)
            distance = max(of_items.get(item, 0), distances.get(operation, 0))
            distances[operation] = distance
            for tensor in item.inputs:
                before = made.get(tensor)
                if before is not None:
                    of_items[before] = max(of_items.get(before, 0), distance + 1)
        return sorted(self.layers, key=lambda layer: (-distances[layer], met[layer]))

    def replay(
        self, inputs: Sequence[Tensor], training: bool, devices: Sequence[str | None] = ()
    ) -> list[Tensor]:
        """Apply the structure to other ``inputs``: new nodes that use the same variables.

        Args:
            devices: the device scope of each of ``items``; empty for the user's own scopes.

        Returns:
            The new outputs.
        """
        new = dict(zip(self.inputs, inputs, strict=True))
        for item, device in zip(self.items, devices or map(_device, self.items), strict=True):
            arguments = [new.get(tensor, tensor) for tensor in item.inputs]
            if isinstance(item, LayerCall):
                with self.graph.device(device):
                    result: Any = item.layer(*arguments, training=training, **item.options)
                results = [result] if isinstance(result, Tensor) else result
                new.update(zip(item.outputs, results, strict=True))
            else:
                copy = self.graph.copy(
                    item, arguments, control_inputs=item.control_inputs, device=device
                )
                new.update(zip(item.outputs, copy.outputs, strict=True))
        return [new.get(tensor, tensor) for tensor in self.outputs]


def outputs_of(item: StructureItem) -> tuple[Tensor, ...]:
    """Return the tensors that ``item`` computes."""
    return item.outputs


def _operation(item: StructureItem) -> Any:
    """Return the owner of one operation in Keras: a layer, with all of its calls, or a node."""
    return item.layer if isinstance(item, LayerCall) else item


def _device(item: StructureItem) -> str | None:
    return item.device


def find_structure(inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Structure:
    """Return the structure between ``inputs`` and ``outputs``.

    Operations that do not depend on an input (constants, variables) are shared when the structure
    is replayed, so they are not part of it.

    Raises:
        GraphError: an output does not depend on any input, or depends on another placeholder, or
            two layers have the same name.
    """
    calls = layers_of(outputs[0].graph).calls
    items: dict[StructureItem, bool] = {}
    depends: dict[Tensor, bool] = dict.fromkeys(inputs, True)
    stack = [(tensor, False) for tensor in reversed(outputs)]
    while stack:
        tensor, entered = stack.pop()
        if tensor in depends:
            continue
        item: StructureItem = calls.get(tensor) or tensor.node
        if not entered:
            if isinstance(item, Node) and item.op.name == "placeholder":
                raise GraphError(
                    f"the model's outputs depend on '{item.name}', which is not one of its inputs.",
                    op=item.name,
                    source=item.source,
                )
            stack.append((tensor, True))
            stack.extend((below, False) for below in reversed(item.inputs))
            continue
        depends[tensor] = any(depends[below] for below in item.inputs)
        if depends[tensor]:
            items[item] = True
    for output in outputs:
        if not depends[output]:
            raise GraphError(
                f"the output '{output.name}' does not depend on the model's inputs.",
                op=output.node.name,
                source=output.node.source,
            )
    structure = Structure(tuple(inputs), tuple(outputs), tuple(items))
    expect_unique_names(structure.layers)
    return structure


def expect_unique_names(layers: Sequence[Layer]) -> None:
    """Raise GraphError if two layers have the same name."""
    named: dict[str, Layer] = {}
    for layer in layers:
        name = layer.given_name
        if name is not None and named.setdefault(name, layer) is not layer:
            raise GraphError(
                f"two layers of the model are named '{name}'.",
                op=layer.name,
                source=layer.source,
                hint="Rename one of them.",
            )
