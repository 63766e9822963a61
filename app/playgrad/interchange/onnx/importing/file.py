"""`read_graph`: the graph of an ONNX file as plain data, checked.

Nothing is believed before it is checked: the sizes of arrays against the bytes that the file has,
names against the existing names, the order of nodes against their inputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.interchange.bounds import MOST_NODES
from playgrad.interchange.onnx.importing.call import MOST_NUMBERS
from playgrad.interchange.onnx.messages import messages
from playgrad.io.tensor_entry import is_possible
from playgrad.io.weights import read_file

Array = np.ndarray[Any, Any]

OPSETS = range(13, 29)
"""The versions of the operators that are read."""
_LARGEST, _MOST_AXES, _LONGEST_NAME = 2**31 - 1, 16, 200
_DTYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64",
}  # fmt: skip
_UNKNOWN = {
    8: "string", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn",
    18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4",
    23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2",
}  # fmt: skip
"""Element types that neither NumPy nor playgrad has."""
_FIELDS = {"float32": "float_data", "int64": "int64_data", "float64": "double_data"}
_FIELDS |= dict.fromkeys(("uint32", "uint64"), "uint64_data")
_STORED = {
    "float_data": "float32", "double_data": "float64", "int32_data": "int32",
    "int64_data": "int64", "uint64_data": "uint64",
}  # fmt: skip
_KINDS = {1: "f", 2: "i", 3: "s", 4: "t", 6: "floats", 7: "ints", 8: "strings"}


@dataclass(frozen=True, eq=False)
class OnnxNode:
    """A node: an operator with the names of its inputs ("" for one left out) and outputs."""

    operator: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class OnnxInput:
    """An input: a dimension is a number, or the name of a free one."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class OnnxGraph:
    """A graph whose nodes stand in an order in which they can be computed.

    Attributes:
        opset: the version of the operators.
        metadata: texts about the model, by name.
    """

    name: str
    opset: int
    inputs: tuple[OnnxInput, ...]
    outputs: tuple[str, ...]
    initializers: Mapping[str, Array]
    nodes: tuple[OnnxNode, ...]
    metadata: Mapping[str, str]


def dtype_name(number: int) -> str:
    """Return the dtype of playgrad for that of a tensor: int64 is computed as int32.

    Raises:
        CheckpointError: playgrad has no such dtype.
    """
    name = _DTYPES.get(number) or _UNKNOWN.get(number, f"number {number}")
    if name == "int64":
        return "int32"
    if name not in ("float32", "uint8", "int8", "int32", "bool", "float16", "float64", "uint32"):
        raise CheckpointError(f"the ONNX file uses the element type {name}, which playgrad lacks.")
    return name


def read_graph(file: str | Path | bytes) -> OnnxGraph:
    """Return the graph of an ONNX file.

    Raises:
        CheckpointError: the file cannot be read, is damaged, keeps its weights in other files, or
            has another opset; or the message classes of ONNX cannot be loaded.
    """
    content = file if isinstance(file, bytes) else read_file(file)
    model = messages(CheckpointError).ModelProto()
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model.ParseFromString(content)
        return _graph(model)
    except (DecodeError, UnicodeDecodeError):
        raise CheckpointError("the file is not in the ONNX format, or is damaged.") from None


def _graph(model: Any) -> OnnxGraph:
    opsets = [each.version for each in model.opset_import if each.domain in ("", "ai.onnx")]
    if not model.graph.node or len(opsets) != 1:
        raise CheckpointError("the file is not in the ONNX format, or is damaged.")
    if opsets[0] not in OPSETS:
        raise CheckpointError(
            f"the ONNX file has opset {opsets[0]}; {OPSETS[0]} to {OPSETS[-1]} are read.",
            hint="Convert it with onnx.version_converter, or export it again.",
        )
    graph = model.graph
    for each in (graph.node, graph.initializer, graph.input, graph.output):
        if len(each) > MOST_NODES:
            raise CheckpointError(
                f"the graph of the ONNX file has more than {MOST_NODES} nodes, weights, inputs or "
                "outputs."
            )
    if graph.sparse_initializer:
        raise CheckpointError("the ONNX file has sparse weights, which are not read.")
    initializers = {each.name: tensor_array(each) for each in graph.initializer}
    if len(initializers) < len(graph.initializer):
        raise CheckpointError("the ONNX file is damaged: two initializers have the same name.")
    inputs = tuple(_input(info) for info in graph.input if info.name not in initializers)
    nodes = tuple(read_node(node, number) for number, node in enumerate(graph.node))
    outputs = tuple(info.name for info in graph.output)
    _expect_names([each.name for each in inputs], initializers, nodes, outputs)
    metadata = {each.key: each.value for each in model.metadata_props}
    return OnnxGraph(graph.name, opsets[0], inputs, outputs, initializers, nodes, metadata)


def _input(info: Any) -> OnnxInput:
    if not info.type.HasField("tensor_type") or not info.type.tensor_type.HasField("shape"):
        raise CheckpointError(
            f"the input '{info.name}' of the ONNX file is not a tensor of known rank."
        )
    tensor = info.type.tensor_type
    shape: list[int | str] = []
    if len(tensor.shape.dim) > _MOST_AXES:
        raise CheckpointError(
            f"the input '{info.name[:_LONGEST_NAME]}' of the ONNX file has more than {_MOST_AXES} "
            "dimensions."
        )
    for axis, dim in enumerate(tensor.shape.dim):
        if not dim.HasField("dim_value"):
            shape.append(dim.dim_param or f"{info.name}:{axis}")
        elif 0 < dim.dim_value <= _LARGEST:
            shape.append(dim.dim_value)
        else:
            raise CheckpointError(
                f"the input '{info.name}' of the ONNX file has a dimension of {dim.dim_value}."
            )
    return OnnxInput(info.name, dtype_name(tensor.elem_type), tuple(shape))


def read_node(node: Any, number: int) -> OnnxNode:
    """Return a node as plain data.

    Args:
        number: its place, which is part of its name if it has none.

    Raises:
        CheckpointError: an attribute is not read, or it has no output.
    """
    name = node.name[:_LONGEST_NAME] or f"{node.op_type[:_LONGEST_NAME]}_{number}"
    attributes: dict[str, Any] = {}
    for each in node.attribute:
        if each.type not in _KINDS:
            raise CheckpointError(
                f"the attribute '{each.name}' of {node.op_type} '{name}' is a graph or of an "
                "unknown type, which is not read."
            )
        attributes[each.name] = _attribute(getattr(each, _KINDS[each.type]))
    operator = node.op_type
    if node.domain not in ("", "ai.onnx"):
        operator = f"{node.domain}.{node.op_type}"
    inputs, outputs = tuple(node.input), list(node.output)
    while outputs and not outputs[-1]:
        outputs.pop()
    if not outputs or len(inputs) > MOST_NODES or len(outputs) > MOST_NODES:
        raise CheckpointError(
            f"the ONNX file is damaged: {operator[:_LONGEST_NAME]} '{name}' has no outputs, or "
            f"more than {MOST_NODES} inputs or outputs."
        )
    named = tuple(each or f"unused output {i} of node {number}" for i, each in enumerate(outputs))
    return OnnxNode(operator[:_LONGEST_NAME], name, inputs, named, attributes)


def _attribute(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (int, float)):
        return value
    if hasattr(value, "data_type"):
        return tensor_array(value)
    if len(value) > MOST_NUMBERS:
        raise CheckpointError(f"an attribute in the ONNX file has {len(value)} values.")
    return [_attribute(each) for each in value]


def tensor_array(tensor: Any) -> Array:
    """Return the values of a tensor; int64 becomes int32.

    Numbers that do not fit become the largest or smallest, as slices use them: they end there.

    Raises:
        CheckpointError: the values are in another file, of an unknown type, or do not fill it.
    """
    if tensor.data_location == tensor.EXTERNAL or tensor.external_data:
        raise CheckpointError(
            f"the values of '{tensor.name}' are in another file, which is not read.",
            hint="Save the ONNX model as one file.",
        )
    name = _DTYPES.get(tensor.data_type)
    if name is None:
        dtype_name(tensor.data_type)  # raises
    dtype, shape = np.dtype(name), tuple(tensor.dims)
    if tensor.raw_data:
        values: Array = np.frombuffer(
            tensor.raw_data[: len(tensor.raw_data) // dtype.itemsize * dtype.itemsize],
            dtype.newbyteorder("<"),
        )
        whole = len(tensor.raw_data) % dtype.itemsize == 0
    else:
        field = _FIELDS.get(dtype.name, "int32_data")
        stored = np.fromiter(getattr(tensor, field), _STORED[field])
        values = stored.astype("uint16").view(dtype) if name == "float16" else stored.astype(dtype)
        whole = True
    fits = len(shape) <= _MOST_AXES and all(0 <= size <= _LARGEST for size in shape)
    if not fits or not whole or math.prod(shape) != values.size or not is_possible(shape, dtype):
        raise CheckpointError(
            f"the ONNX file is damaged: '{tensor.name[:_LONGEST_NAME]}' has {values.size} values "
            f"for its shape {shape[:_MOST_AXES]}."
        )
    if dtype == np.int64:
        values, dtype = np.clip(values, -(2**31), 2**31 - 1), np.dtype(np.int32)
    return values.astype(dtype, copy=False).reshape(shape)


def _expect_names(
    inputs: Sequence[str],
    initializers: Iterable[str],
    nodes: Sequence[OnnxNode],
    outputs: Sequence[str],
) -> None:
    """Check that each name is computed once, and before it is used."""
    known = {*inputs, *initializers}
    if len(set(inputs)) < len(inputs):
        raise CheckpointError("the ONNX file is damaged: two inputs have the same name.")
    for node in nodes:
        for name in node.inputs:
            if name and name not in known:
                raise CheckpointError(
                    f"the ONNX file is damaged: {node.operator} '{node.name}' uses '{name}', which "
                    "no earlier node computes: its nodes form a cycle or are out of order."
                )
        for name in filter(None, node.outputs):
            if name in known:
                raise CheckpointError(
                    f"the ONNX file is damaged: '{name}' is computed twice ({node.operator} "
                    f"'{node.name}')."
                )
            known.add(name)
    missing = [name for name in outputs if name not in known]
    if missing or not outputs or not inputs:
        raise CheckpointError(
            f"the ONNX file is damaged: no node computes its output '{missing[0]}'."
            if missing
            else "the graph of the ONNX file has no inputs or no outputs."
        )
