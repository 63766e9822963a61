"""The operators of files in QDQ form that move integers or look them up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.compression.quantized_layers.functions import Lookup, QuantizedEmbedding
from playgrad.compression.quantized_layers.merge import QuantizedConcatenate
from playgrad.compression.scales import Parameters
from playgrad.interchange.onnx.importing.file import OnnxNode
from playgrad.interchange.onnx.importing.qdq.reader import TO_NCHW, TO_NHWC, Operator, QDQReader
from playgrad.interchange.onnx.importing.qdq.values import (
    Index,
    Integers,
    Numbers,
    Real,
    Value,
    Weights,
)
from playgrad.nn.basic import Flatten, Permute, Reshape

Values = Sequence[Value | None]


def moves(operator: Operator) -> Operator:
    """Return an operator on integers that takes the real numbers of them as well."""

    def on_either(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
        if not isinstance(values[0], Real):
            return operator(reader, node, values)
        at = values[0].at
        reader.parameters.setdefault(node.outputs[0], at)
        known = [value.integers if isinstance(value, Real) else value for value in values]
        if any(isinstance(value, Real) and value.at != at for value in values):
            raise reader.refusal(node, "its inputs have different scales.")
        result = operator(reader, node, known)
        assert isinstance(result, Integers)
        return Real(result, at)

    return on_either


def identity(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    assert values[0] is not None
    return values[0]


def transpose(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    perm = list(node.attributes["perm"])
    if isinstance(values[0], Weights):
        weights = values[0]
        axis = perm.index(weights.axis) if weights.scale.size > 1 else 0
        return Weights(weights.values.transpose(perm), weights.scale, axis)
    x = _integers(reader, node, values[0])
    if x.nchw and perm == TO_NHWC:
        return Integers(x.tensor)
    if not x.nchw and perm == TO_NCHW and len(x.tensor.shape) == 4:
        return Integers(x.tensor, nchw=True)
    if perm[:1] != [0]:
        raise reader.refusal(node, "it moves the batch.")
    layer = Permute(tuple(perm[1:]), name=reader.layer_name(node.outputs[0]))
    return Integers(reader.put(layer, [reader.plain(x, node.outputs[0])]))


def reshape(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    x, shape = _integers(reader, node, values[0]), values[1]
    if not isinstance(shape, np.ndarray) or shape.ndim != 1 or shape[0] not in (-1, 0):
        raise reader.refusal(node, "its shape must be constant, and that of the batch free.")
    sizes = [int(size) for size in shape[1:]]
    layer = Reshape(tuple(sizes), name=reader.layer_name(node.outputs[0]))
    return Integers(reader.put(layer, [reader.plain(x, node.outputs[0])]))


def flatten(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    if int(node.attributes.get("axis", 1)) != 1:
        raise reader.refusal(node, "it does not keep the batch.")
    x = _integers(reader, node, values[0])
    layer = Flatten(name=reader.layer_name(node.outputs[0]))
    return Integers(reader.put(layer, [reader.plain(x, node.outputs[0])]))


def concat(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    parts = [_integers(reader, node, value) for value in values]
    tensors, nchw = reader.alike(parts, node.outputs[0])
    axis = int(node.attributes["axis"]) % len(tensors[0].shape)
    if not axis:
        raise reader.refusal(node, "it joins batches.")
    # The scale does not matter to the integers.
    at = reader.parameters.get(node.outputs[0], Parameters(1.0, 0))
    name = reader.layer_name(node.outputs[0])
    layer = QuantizedConcatenate(*at, _moved(axis, nchw), name)
    return Integers(reader.put(layer, tensors), nchw)


def _moved(axis: int, nchw: bool) -> int:
    """Return the place among (batch, height, width, channels) of an axis of the file."""
    return TO_NCHW[axis] if nchw else axis


def cast(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    return Index(_integers(reader, node, values[0]), 0)


def gather(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    table, index = values
    at = reader.parameters.get(node.outputs[0], Parameters(1.0, 0))
    if not isinstance(table, np.ndarray) or table.dtype != np.int8:
        raise reader.refusal(node, "its table must be a constant of int8.")
    if int(node.attributes.get("axis", 0)):
        raise reader.refusal(node, "it does not take rows.")
    name = reader.layer_name(node.outputs[0])
    if isinstance(index, Index) and index.offset == 128 and table.shape == (256,):
        tensor = reader.put(Lookup(*at, name), [index.integers.tensor], {"table": table})
        return Integers(tensor, index.integers.nchw)
    if isinstance(index, Numbers) and table.ndim == 2:
        rows, width = table.shape
        layer = QuantizedEmbedding(rows, width, *at, name)
        return Integers(reader.put(layer, [index.tensor], {"embeddings": table}))
    raise reader.refusal(node, "it is neither a function of int8 nor an embedding.")


def _integers(reader: QDQReader, node: OnnxNode, value: Value | None) -> Integers:
    if not isinstance(value, Integers):
        raise reader.refusal(node, "it does not take integers.")
    return value
