"""Numbers that depend on the size of the batch, as operations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad import ops
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing.call import NotApplicableError
from playgrad.interchange.onnx.importing.file import OnnxGraph, OnnxNode
from playgrad.interchange.onnx.importing.replay import Sizes, applied

Array = np.ndarray[Any, Any]
_DEEPEST = 32
"""The most nodes between a size and a number that is computed from it."""


class BatchNumbers:
    """The constants of a graph that nodes need as tensors, although the batch decides them.

    Args:
        source: the graph.
        constants: values that do not depend on data, by name.
        values: the value of each name.
    """

    def __init__(
        self, source: OnnxGraph, constants: Mapping[str, Array], values: Mapping[str, Any]
    ) -> None:
        self._opset = source.opset
        self._nodes = {name: node for node in source.nodes for name in node.outputs}
        self._constants = constants
        self._values = values
        self._computed: dict[str, Tensor] = {}

    def of(self, node: OnnxNode, depth: int = _DEEPEST) -> Sizes:
        """Return a function that adds the operations of an input of ``node``, by its number."""

        def computed(number: int) -> Tensor:
            name = node.inputs[number]
            if name not in self._computed:
                result = self._result(name, depth)
                if result is None:
                    raise NotApplicableError(f"input {number} depends on the size of the batch")
                self._computed[name] = result
            return self._computed[name]

        return computed

    def _result(self, name: str, depth: int) -> Tensor | None:
        node = self._nodes[name]
        if node.operator == "Shape":
            x = self._values.get(node.inputs[0])
            if not isinstance(x, Tensor):
                return None
            part = slice(node.attributes.get("start", 0), node.attributes.get("end"))
            return ops.stack([ops.size(x, [axis]) for axis in range(x.spec.rank)[part]])
        if depth == 0:
            return None
        values = [self._constants[each] if each else None for each in node.inputs]
        results = applied(node, values, self._opset, sizes=self.of(node, depth - 1))
        return results[node.outputs.index(name)]
