"""Networks as plain data, without weights, and back.

The data lists the parts of the network, in order: calls of layers, and operations that the user
added without a layer, with the constants and variables that they need. Tensors have the names that
they have in the graph of the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.serialize import add_node, decode, encode, node_to_json
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.structure import Structure, StructureItem, find_structure
from playgrad.nn.layer import Layer, layer_type
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP, Variable, is_variable, random_step


def structure_config(structure: Structure) -> dict[str, Any]:
    """Return ``structure`` as plain data.

    Raises:
        GraphError: an argument of a layer is a function; or an operation uses a variable of a layer
            that is not called before it.
    """
    return _Writing(structure).config()


def structure_from_config(config: Mapping[str, Any]) -> Structure:
    """Return a structure with new layers and variables, in a graph of its own.

    Raises:
        GraphError: the data is damaged, or has an unknown layer or operation.
        ShapeError, DTypeError: the inputs of a layer or of an operation do not fit.
    """
    try:
        return _Reading(config).structure()
    except PlaygradError:
        raise
    # The constructors of layers and the rules of operations can raise anything for damaged data.
    except Exception as error:
        raise GraphError(
            f"the configuration of the model is damaged: {type(error).__name__} {str(error)[:200]}."
        ) from None


class _Writing:
    """A structure that is being written.

    Attributes:
        layers: the number of each layer.
        steps: the calls and nodes so far.
        written: the nodes in them, and the nodes of variables of called layers.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.layers: dict[Layer, int] = {}
        self.steps: list[dict[str, Any]] = []
        self.written: set[Node] = set()
        self.of_layers = {v.node for layer in structure.layers for v in layer.variables.values()}

    def config(self) -> dict[str, Any]:
        for tensor in self.structure.inputs:
            self._node(tensor.node)
        for item in self.structure.items:
            self._item(item)
        return {
            "seed": self.structure.graph.seed,
            "layers": [
                {"kind": layer.kind, "name": layer.name, "config": layer.get_config()}
                for layer in self.layers
            ],
            "steps": self.steps,
            "inputs": [tensor.name for tensor in self.structure.inputs],
            "outputs": [tensor.name for tensor in self.structure.outputs],
        }

    def _item(self, item: StructureItem) -> None:
        if isinstance(item, Node):
            self._node(item)
            return
        for tensor in item.inputs:
            self._node(tensor.node)
        layer = item.layer
        optional = {
            "variables": {name: v.name for name, v in layer.variables.items()},
            "options": encode(dict(item.options)),
            "device": item.device,
        }
        self.steps.append(
            {
                "layer": self.layers.setdefault(layer, len(self.layers)),
                "inputs": [tensor.name for tensor in item.inputs],
                "outputs": [tensor.name for tensor in item.outputs],
                **{key: value for key, value in optional.items() if value},
            }
        )
        self.written |= {tensor.node for tensor in item.outputs}
        self.written |= {variable.node for variable in layer.variables.values()}

    def _node(self, node: Node) -> None:
        """Write ``node`` and everything that it needs."""
        if node in self.written:
            return
        if node in self.of_layers:
            raise GraphError(
                f"the model uses '{node.name}' before it calls the layer that it belongs to.",
                op=node.name,
                source=node.source,
            )
        self.written.add(node)
        if node.name != RANDOM_STEP:
            if is_variable(node):
                self._node(node.graph.tensor(node.attrs["initializer"]).node)
            for tensor in node.inputs:
                self._node(tensor.node)
        names = {before.name for before in node.control_inputs if before in self.written}
        data = node_to_json(node, names)
        data.pop("source", None)  # a path on this machine
        self.steps.append({"node": data})


class _Reading:
    """A structure that is being built from its configuration.

    Attributes:
        tensors: by their names in the configuration.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self.config = config
        self.graph = Graph(int(config["seed"]))
        self.layers = [self._layer(data) for data in config["layers"]]
        self.tensors: dict[str, Tensor] = {}

    def structure(self) -> Structure:
        with at_top(self.graph):
            for step in self.config["steps"]:
                if "node" in step:
                    self._node(step["node"])
                else:
                    self._call(step)
        inputs, outputs = (
            [self.tensors[name] for name in self.config[key]] for key in ("inputs", "outputs")
        )
        return find_structure(inputs, outputs)

    def _layer(self, data: Mapping[str, Any]) -> Layer:
        layer = layer_type(data["kind"]).from_config(data["config"])
        layer.name = data["name"]  # including a number that made it unique
        return layer

    def _node(self, data: dict[str, Any]) -> None:
        if data["name"] == RANDOM_STEP:
            node = random_step(self.graph).node
        elif data["name"] == RANDOM_ADVANCE:
            node = self.graph.node(RANDOM_ADVANCE)
        else:
            node = add_node(self.graph, data, {}, self.tensors)
            if is_variable(node):
                Variable.of(node)
        for number, output in enumerate(node.outputs):
            self.tensors[f"{data['name']}:{number}"] = output

    def _call(self, step: Mapping[str, Any]) -> None:
        layer = self.layers[step["layer"]]
        with self.graph.device(step.get("device")):
            arguments = [self.tensors[name] for name in step["inputs"]]
            result: Any = layer(*arguments, **decode(step.get("options", {})))
        results = [result] if isinstance(result, Tensor) else result
        self.tensors.update(zip(step["outputs"], results, strict=True))
        for name, tensor in step.get("variables", {}).items():
            self.tensors[tensor] = layer.variables[name]
