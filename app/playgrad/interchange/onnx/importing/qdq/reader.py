"""The state in which the operators of a file in QDQ form are read, node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compression.quantized_layers.borders import Dequantize
from playgrad.compression.scales import Parameters, integer_limits
from playgrad.errors import CheckpointError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing import naming
from playgrad.interchange.onnx.importing.file import OnnxGraph, OnnxNode
from playgrad.interchange.onnx.importing.qdq.values import (
    Integers,
    Numbers,
    Real,
    Unscaled,
    Value,
)
from playgrad.interchange.onnx.importing.replay import refusal
from playgrad.models.model import Model
from playgrad.nn.basic import Permute
from playgrad.nn.layer import Layer
from playgrad.ops.state import placeholder

Array = np.ndarray[Any, Any]
TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]
_KEEP_SCALES = {"Transpose", "Reshape", "MaxPool", "Concat", "Identity"}
"""Operators on integers whose results have the scale of their inputs."""

Operator = Callable[["QDQReader", OnnxNode, Sequence[Value | None]], Value]


class QDQReader:
    """A model that is being built.

    Attributes:
        weights: the values of the variables of its layers, by name.
        parameters: the scale and zero point of tensors of int8, by name, as far as it is known.
    """

    def __init__(self, source: OnnxGraph, operators: Mapping[str, Operator]) -> None:
        self.source = source
        self.weights: dict[str, Array] = {}
        self._operators = operators
        self._values: dict[str, Value] = dict(source.initializers)
        self._taken: list[str] = []
        self.parameters = self._known_parameters()

    def model(self) -> Model:
        with Graph().as_default():
            inputs = []
            for each in self.source.inputs:
                shape = [None if isinstance(size, str) else size for size in each.shape]
                inputs.append(placeholder(each.dtype, shape, naming.safe(each.name)))
                kind = Integers if each.dtype == "int8" else Numbers
                self._values[each.name] = kind(inputs[-1])
            for node in self.source.nodes:
                self._node(node)
            outputs = [self._output(name) for name in self.source.outputs]
            return Model(inputs, outputs, self.source.name or "onnx")

    def _node(self, node: OnnxNode) -> None:
        operator = self._operators.get(node.operator)
        if operator is None or len(node.outputs) != 1:
            raise self.refusal(node, "it has no integer form.")
        values = [self._values[name] if name else None for name in node.inputs]
        try:
            self._values[node.outputs[0]] = operator(self, node, values)
        except CheckpointError:
            raise
        except PlaygradError as error:
            raise self.refusal(node, f"its inputs do not fit: {error.message}") from None
        # Attributes and constants of a damaged file can break an operator in any way.
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise self.refusal(
                node, f"it is damaged: {type(error).__name__} {str(error)[:200]}."
            ) from None

    def _output(self, name: str) -> Tensor:
        value = self._values[name]
        if isinstance(value, Numbers):
            return value.tensor
        if isinstance(value, Real):
            return self.real_output(value, name)
        if isinstance(value, Integers):
            return self.plain(value, name)
        raise CheckpointError(
            f"the output '{name[:200]}' of the ONNX file is neither integers nor their real "
            "numbers, between which its operators should stand."
        )

    def _known_parameters(self) -> dict[str, Parameters]:
        """Return the scale and zero point that a later DequantizeLinear gives each tensor."""
        known: dict[str, Parameters] = {}
        for node in reversed(self.source.nodes):
            if node.operator == "DequantizeLinear":
                ends = [self.source.initializers.get(name) for name in node.inputs[1:3]]
                scale, zero = ends if len(ends) == 2 else (None, None)
                if scale is not None and zero is not None and scale.size == zero.size == 1:
                    at = Parameters(float(scale.reshape(())), int(zero.reshape(())))
                    known[node.inputs[0]] = at
            elif node.operator in _KEEP_SCALES and node.outputs[0] in known:
                for name in node.inputs:
                    known.setdefault(name, known[node.outputs[0]])
        return known

    # For operators

    def refusal(self, node: OnnxNode, why: str) -> CheckpointError:
        """Return the error of a node that has no integer form."""
        return refusal(node, self.source.opset, why)

    def put(
        self, layer: Layer, inputs: Sequence[Tensor], weights: Mapping[str, Array] | None = None
    ) -> Tensor:
        """Call a new layer, and return its result.

        Args:
            weights: the values of its variables, by their names.
        """
        result: Any = layer(*inputs)
        for name, array in (weights or {}).items():
            self.weights[f"{layer.name}/{name}"] = array
        assert isinstance(result, Tensor)
        return result

    def layer_name(self, output: str) -> str:
        """Return a name for the layer that computes ``output``: of "conv1/Conv" it is "conv1"."""
        name = naming.unique(naming.safe(output.rpartition("/")[0] or output), self._taken)
        self._taken.append(name)
        return name

    def plain(self, value: Integers, name: str) -> Tensor:
        """Return integers with the axes that they have in the file."""
        if not value.nchw:
            return value.tensor
        return self.put(Permute((3, 1, 2), name=self.layer_name(f"{name}_nchw/")), [value.tensor])

    def image(self, value: Integers, name: str) -> Tensor:
        """Return integers (batch, height, width, channels)."""
        if value.nchw:
            return value.tensor
        return self.put(Permute((2, 3, 1), name=self.layer_name(f"{name}_nhwc/")), [value.tensor])

    def alike(self, values: Sequence[Integers], name: str) -> tuple[list[Tensor], bool]:
        """Return tensors with their axes in one order, and whether that is not the file's."""
        if all(value.nchw for value in values):
            return [value.tensor for value in values], True
        return [self.plain(value, name) for value in values], False

    def real_output(self, value: Real, name: str) -> Tensor:
        """Return the real numbers of integers, as float32."""
        tensor = self.plain(value.integers, name)
        return self.put(Dequantize(*value.at, name=self.layer_name(name)), [tensor])

    def finished(self, pending: Unscaled, at: Parameters) -> Integers:
        """Return the integers of real numbers that have the scale ``at``."""
        return pending.make(at, *integer_limits(pending.limits, at))
