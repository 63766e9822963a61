"""The layer of an imported graph: nodes of ONNX with the weights that they use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad import ops
from playgrad.errors import GraphError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing.file import OnnxNode
from playgrad.interchange.onnx.importing.replay import Value, applied
from playgrad.nn.layer import Layer
from playgrad.ops.state import Variable
from playgrad.ops.training.replica import cross_replica_mean


class ImportedLayer(Layer):
    """Nodes of an ONNX graph in order, and the weights that they use.

    `pg.load_model` makes these layers from ONNX files. A batch normalization among the nodes
    normalizes by the moments of the batch in training steps and updates its moving averages, unless
    the layer is frozen.

    Args:
        nodes: the nodes: operator, name, names of inputs and outputs, attributes.
        weights: for each variable its name in the nodes, its shape, and whether it is trainable.
        inputs: the names, in the nodes, of the tensors that the layer is called on. The name "" is
            a tensor whose first dimension is the batch.
        outputs: the names of its results.
        constants: other values by name: dtype, shape and the numbers, None for a number that
            depends on the size of the batch.
        shapes: the shapes of outputs of nodes that depend on the size of the batch.
        opset: the version of the operators.
    """

    kind = "onnx"
    takes_floats = False

    def __init__(
        self,
        nodes: Sequence[Mapping[str, Any]],
        weights: Mapping[str, Mapping[str, Any]],
        inputs: Sequence[str],
        outputs: Sequence[str],
        constants: Mapping[str, Mapping[str, Any]],
        shapes: Mapping[str, Sequence[int | None]],
        opset: int,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.nodes = list(nodes)
        self.weights_of_nodes = dict(weights)
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.constants = dict(constants)
        self.shapes = dict(shapes)
        self.opset = int(opset)
        self._nodes = [
            OnnxNode(
                str(node["operator"]),
                str(node["name"]),
                tuple(node["inputs"]),
                tuple(node["outputs"]),
                node["attributes"],
            )
            for node in nodes
        ]

    def _arguments(self) -> dict[str, Any]:
        # Not the property `weights`, which lists the variables.
        return {
            "nodes": self.nodes,
            "weights": self.weights_of_nodes,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "constants": self.constants,
            "shapes": self.shapes,
            "opset": self.opset,
            "name": self.given_name,
        }

    def build(self, *shapes: Shape) -> None:
        for variable, weight in self.weights_of_nodes.items():
            self.add_weight(variable, weight["shape"], "zeros", bool(weight["trainable"]))

    def call(self, *inputs: Tensor, training: bool = False) -> Any:
        if len(inputs) != len(self.inputs):
            raise GraphError(
                f"layer '{self.name}' takes {len(self.inputs)} inputs, got {len(inputs)}."
            )
        values: dict[str, Value] = dict(zip(self.inputs, inputs, strict=True))
        for variable, weight in self.weights_of_nodes.items():
            values[weight["name"]] = self.variables[variable]
        for name, data in self.constants.items():
            array = np.asarray(data["values"], data["dtype"])
            values[name] = array.reshape(data["shape"])
        like = values.pop("", None)
        assert like is None or isinstance(like, Tensor)
        for node in self._nodes:
            arguments = [values[name] if name else None for name in node.inputs]
            if node.operator == "BatchNormalization" and training and self.trainable:
                results = [self._by_batch(node, arguments)]
            else:
                shape = self.shapes.get(node.outputs[0])
                shapes = () if shape is None else (tuple(shape),)
                results = applied(node, arguments, self.opset, shapes, like)
            values |= zip(node.outputs, results, strict=False)
        outputs = [values[name] for name in self.outputs]
        return outputs[0] if len(outputs) == 1 else outputs

    def _by_batch(self, node: OnnxNode, arguments: Sequence[Value | None]) -> Tensor:
        """Normalize by the moments of the batch, and update the moving averages."""
        x = arguments[0]
        assert isinstance(x, Tensor)
        axes = [0, *range(2, x.spec.rank)]
        moments = [ops.reduce_mean(x, axes), ops.var(x, axes)]
        momentum = float(node.attributes.get("momentum", 0.9))
        for average, moment in zip(arguments[3:5], moments, strict=True):
            if isinstance(average, Variable):
                self.add_update(average, _moved(momentum, cross_replica_mean(moment)))
        return applied(node, [*arguments[:3], *moments], self.opset)[0]


def _moved(momentum: float, moment: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda average: average * momentum + moment * (1.0 - momentum)
