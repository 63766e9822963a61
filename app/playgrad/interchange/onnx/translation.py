"""The table of translations, and the objects that a translation works with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import ExportError
from playgrad.graph.tensor import Node
from playgrad.interchange.onnx.builder import GraphBuilder
from playgrad.networks.inference import refusal

Array = np.ndarray[Any, Any]


class Translation:
    """One operation on its way to ONNX.

    Attributes:
        node: the operation.
        inputs: the names of its inputs in the ONNX graph.
        attrs: its attributes.
    """

    def __init__(self, builder: GraphBuilder, node: Node, inputs: Sequence[str]) -> None:
        self._builder = builder
        self.node = node
        self.inputs = list(inputs)
        self.attrs = node.attrs
        self.outputs = [
            builder.unique(node.name if number == 0 else f"{node.name}:{number}")
            for number in range(len(node.outputs))
        ]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type of the first output."""
        return np.dtype(self.node.outputs[0].dtype)

    def shape(self, number: int = 0) -> tuple[int | None, ...]:
        """Return the static shape of an input."""
        return tuple(self.node.inputs[number].shape)

    def rank(self, number: int = 0) -> int:
        """Return the number of dimensions of an input."""
        return len(self.shape(number))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of ONNX with one output, and return the name of the output."""
        output = self._builder.unique(f"{self.node.name}/{kind}")
        self._add(kind, inputs, [output], attributes)
        return output

    def second(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of ONNX with two outputs, and return the name of the second."""
        outputs = [self._builder.unique(f"{self.node.name}/{kind}") for _ in range(2)]
        self._add(kind, inputs, outputs, attributes)
        return outputs[1]

    def last(self, kind: str, *inputs: str, number: int = 0, **attributes: Any) -> None:
        """Add the node of ONNX whose output is the operation's output ``number``."""
        self._add(kind, inputs, [self.outputs[number]], attributes)

    def _add(
        self, kind: str, inputs: Sequence[str], outputs: list[str], attributes: dict[str, Any]
    ) -> None:
        operands = self.node.inputs or self.node.outputs
        self._builder.add(kind, inputs, outputs, attributes, operands[0].dtype)

    def like(self, value: float) -> str:
        """Return a scalar of the dtype of the first output."""
        return self.constant(np.asarray(value, self.dtype))

    def ints(self, values: Sequence[int]) -> str:
        """Return a constant vector of int64, as shapes and axes are."""
        return self.constant(np.asarray(values, np.int64).reshape(-1))

    def constant(self, array: Array) -> str:
        return self._builder.constant(array)

    def transposed(self, name: str, perm: Sequence[int]) -> str:
        return self.op("Transpose", name, perm=list(perm))

    def refusal(self, why: str) -> ExportError:
        """Return the error of an operation that ONNX cannot express."""
        return refusal(self.node, why)


Translate = Callable[[Translation], None]
TRANSLATIONS: dict[str, Translate] = {}
"""The translation of each operation, by its name."""


def translates(*names: str) -> Callable[[Translate], Translate]:
    """Register a function as the translation of operations."""

    def register(function: Translate) -> Translate:
        for name in names:
            TRANSLATIONS[name] = function
        return function

    return register
