"""Building the protocol buffers of ONNX: tensors, attributes, nodes and graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import ExportError
from playgrad.interchange.onnx.messages import messages
from playgrad.interchange.onnx.opsets import (
    AXES_AS_INPUT,
    REDUCTIONS,
    WRITTEN,
    ir_version,
    opset_of,
)

Array = np.ndarray[Any, Any]
Attribute = int | float | str | Sequence[int] | Array

TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "float64": 11, "uint32": 12,
}  # fmt: skip
"""Element types: ``TensorProto.DataType`` by playgrad's names."""
_INT, _FLOAT, _STRING, _TENSOR, _INTS = 2, 1, 3, 4, 7  # AttributeProto.AttributeType


class GraphBuilder:
    """A graph of ONNX that grows by nodes and constants.

    Attributes:
        graph: the message.
        metadata: texts about the model, by name.

    Raises:
        ExportError: the message classes of ONNX cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        self._messages = messages(ExportError)
        self.graph = self._messages.GraphProto(name=name)
        self.metadata: dict[str, str] = {}
        self._needed = (WRITTEN[0], "")
        self._taken: dict[str, int] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def unique(self, name: str) -> str:
        """Return ``name``, with a number behind it if it is taken."""
        count = self._taken.get(name, 0)
        self._taken[name] = count + 1
        return self.unique(f"{name}__{count}") if count else name

    def add(
        self,
        op: str,
        inputs: Iterable[str],
        outputs: Sequence[str],
        attributes: dict[str, Any],
        dtype: str,
    ) -> None:
        """Append a node.

        Args:
            op: the operator of ONNX.
            inputs: names of tensors; "" for an optional one that is left out.
            dtype: the dtype of the inputs.
        """
        self._needed = max(self._needed, (opset_of(op, dtype, attributes), op))
        node = self.graph.node.add(op_type=op, name=outputs[0])
        node.input.extend(inputs)
        node.output.extend(outputs)
        for name, value in attributes.items():
            self._attribute(node.attribute.add(name=name), value)

    def constant(self, array: Array, name: str = "constant") -> str:
        """Return the name of a constant; equal ones are stored once."""
        key = (str(array.dtype), array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.unique(name)
            self.initializer(self._constants[key], array)
        return self._constants[key]

    def initializer(self, name: str, array: Array) -> None:
        """Store the values of the tensor ``name``."""
        self._tensor(self.graph.initializer.add(name=name), array)

    def value(self, infos: Any, name: str, dtype: str, shape: Sequence[int | None]) -> None:
        """Append the description of an input or output; the dimension None may have any size."""
        tensor = infos.add(name=name).type.tensor_type
        tensor.elem_type = TYPES[dtype]
        tensor.shape.SetInParent()
        for axis, size in enumerate(shape):
            dimension = tensor.shape.dim.add()
            if size is not None:
                dimension.dim_value = size
            else:
                dimension.dim_param = "batch" if axis == 0 else f"{name}_dim_{axis}"

    def model(self, opset: int | None = None) -> bytes:
        """Return the bytes of a file with the graph, which cannot grow after that.

        Args:
            opset: the version of the operators; the lowest that they need if None.

        Raises:
            ExportError: an operator is not in ``opset``, or playgrad does not write it.
        """
        needed, operator = self._needed
        opset = needed if opset is None else opset
        if type(opset) is not int or opset not in WRITTEN:
            raise ExportError(f"opset {opset!r} is not written; {WRITTEN[0]} to {WRITTEN[-1]} are.")
        if opset < needed:
            raise ExportError(
                f"the network needs the operator {operator} as it is since opset {needed}, and "
                f"opset {opset} was asked for.",
                hint=f"Without an opset, the file has the lowest that it needs: {needed}.",
            )
        if opset >= AXES_AS_INPUT:
            self._give_axes_as_inputs()
        model = self._messages.ModelProto(
            ir_version=ir_version(opset), producer_name="playgrad", graph=self.graph
        )
        model.opset_import.add(domain="", version=opset)
        for key, value in self.metadata.items():
            model.metadata_props.add(key=key, value=value)
        data: bytes = model.SerializeToString()
        return data

    def _give_axes_as_inputs(self) -> None:
        for node in self.graph.node:
            for number, attribute in enumerate(node.attribute):
                if node.op_type in REDUCTIONS and attribute.name == "axes":
                    node.input.append(self.constant(np.asarray(attribute.ints, np.int64)))
                    del node.attribute[number]
                    break

    def _attribute(self, message: Any, value: Attribute) -> None:
        if isinstance(value, np.ndarray):
            message.type = _TENSOR
            self._tensor(message.t, value)
        elif isinstance(value, int):
            message.type, message.i = _INT, value
        elif isinstance(value, float):
            message.type, message.f = _FLOAT, value
        elif isinstance(value, str):
            message.type, message.s = _STRING, value.encode()
        else:
            message.type = _INTS
            message.ints.extend(int(number) for number in value)

    def _tensor(self, message: Any, array: Array) -> None:
        message.dims.extend(array.shape)
        message.data_type = TYPES[array.dtype.name]
        message.raw_data = (
            np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        )
