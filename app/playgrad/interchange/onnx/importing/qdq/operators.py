"""The operators of files in QDQ form, as layers of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.compression.quantized_layers.borders import Quantize
from playgrad.compression.quantized_layers.functions import (
    QuantizedSoftmax,
)
from playgrad.compression.quantized_layers.merge import QuantizedAdd, Rescale
from playgrad.compression.scales import (
    Parameters,
    addition_multipliers,
    multiplier_and_shift,
    softmax_table,
)
from playgrad.interchange.onnx.importing.file import OnnxNode
from playgrad.interchange.onnx.importing.qdq.moves import (
    cast,
    concat,
    flatten,
    gather,
    identity,
    moves,
    reshape,
    transpose,
)
from playgrad.interchange.onnx.importing.qdq.pooling import avg_pool, global_avg_pool, max_pool
from playgrad.interchange.onnx.importing.qdq.products import (
    conv,
    conv_transpose,
    gemm,
    matmul,
    unscaled,
)
from playgrad.interchange.onnx.importing.qdq.reader import Operator, QDQReader
from playgrad.interchange.onnx.importing.qdq.values import (
    Index,
    Integers,
    Numbers,
    OpenProduct,
    Real,
    Unscaled,
    Value,
    Weights,
)

Values = Sequence[Value | None]
_OF_SOFTMAX = Parameters(1 / 256, -128)


def _quantize(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    x, (scale, zero) = values[0], _ends(reader, node, values)
    to = Parameters(float(scale.reshape(())), int(zero.reshape(())))
    if isinstance(x, Numbers):
        known = reader.parameters.get(node.outputs[0], to)
        if known.zero_point != to.zero_point:
            raise reader.refusal(node, "the zero point of its result is another one later.")
        layer = Quantize(*known, to.scale, name=reader.layer_name(node.outputs[0]))
        return Integers(reader.put(layer, [x.tensor]))
    if isinstance(x, Real):
        return x.integers if x.at == to else reader.finished(_rescaled(reader, node, x), to)
    if isinstance(x, OpenProduct):
        x = unscaled(reader, node, x, None)
    if not isinstance(x, Unscaled):
        raise reader.refusal(node, "its input is not a result of integers.")
    return reader.finished(x, to)


def _dequantize(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    x = values[0]
    scale, zero = _ends(reader, node, values, needs_zero=not isinstance(x, np.ndarray))
    if isinstance(x, Integers) and scale.size == 1:
        return Real(x, Parameters(float(scale.reshape(())), int(zero.reshape(()))))
    if isinstance(x, np.ndarray) and x.dtype.name in ("int8", "int32") and not zero.any():
        axis = int(node.attributes.get("axis", 1))
        return Weights(x, scale.reshape(-1), axis % max(x.ndim, 1))
    why = "it takes int8 of an activation, or int8 or int32 constants whose zero point is 0."
    raise reader.refusal(node, why)


def _ends(reader: QDQReader, node: OnnxNode, values: Values, needs_zero: bool = True) -> Any:
    """Return scale and zero point."""
    scale, zero = values[1], values[2] if len(values) > 2 else None
    if zero is None and not needs_zero:
        zero = np.zeros((), np.int8)
    if not isinstance(scale, np.ndarray) or not isinstance(zero, np.ndarray):
        raise reader.refusal(node, "its scale and its zero point must be constants of int8.")
    if scale.dtype != np.float32 or not np.isfinite(scale).all() or not (scale > 0).all():
        raise reader.refusal(node, "its scale must be positive and of float32.")
    if zero.dtype.name not in ("int8", "int32") or (needs_zero and zero.dtype != np.int8):
        raise reader.refusal(node, f"its integers are {zero.dtype}, but must be int8.")
    return scale, zero


def _rescaled(reader: QDQReader, node: OnnxNode, x: Real) -> Unscaled:
    def make(to: Parameters, low: int, high: int) -> Integers:
        factor = multiplier_and_shift(x.at.scale / to.scale)
        if factor is None:
            raise reader.refusal(node, "its result is much smaller than its input.")
        name = reader.layer_name(node.outputs[0])
        layer = Rescale(*to, x.at.zero_point, *factor, low, high, name)
        return x.integers._replace(tensor=reader.put(layer, [x.integers.tensor]))

    return Unscaled(make)


def _clip(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    ends = [-np.inf, np.inf]
    for number, end in enumerate(values[1:3]):
        if end is not None:
            if not isinstance(end, np.ndarray) or end.size != 1:
                raise reader.refusal(node, "its limits must be constants.")
            ends[number] = float(end.reshape(()))
    return _limited(reader, node, values[0], ends[0], ends[1])


def _relu(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    return _limited(reader, node, values[0], 0.0, np.inf)


def _limited(
    reader: QDQReader, node: OnnxNode, x: Value | None, low: float, high: float
) -> Unscaled:
    if isinstance(x, OpenProduct):
        x = unscaled(reader, node, x, None)
    if isinstance(x, Real):
        x = _rescaled(reader, node, x)
    if not isinstance(x, Unscaled) or not low <= high:
        raise reader.refusal(node, "it does not limit a result of integers.")
    return Unscaled(x.make, (max(low, x.limits[0]), min(high, x.limits[1])))


def _add(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    a, b = values
    if isinstance(b, (OpenProduct, Index)) or (
        isinstance(a, np.ndarray) and not isinstance(b, Real)
    ):
        a, b = b, a
    if isinstance(a, OpenProduct) and isinstance(b, Weights):
        return unscaled(reader, node, a, b)
    if isinstance(a, Index) and isinstance(b, np.ndarray) and b.size == 1:
        return Index(a.integers, a.offset + int(b.reshape(())))
    if not isinstance(a, Real) or not isinstance(b, Real):
        raise reader.refusal(node, "it does not add two results of integers.")
    left, right = a, b

    def make(to: Parameters, low: int, high: int) -> Integers:
        factors = addition_multipliers(left.at.scale / to.scale, right.at.scale / to.scale)
        if factors is None:
            raise reader.refusal(node, "its result is much smaller than its inputs.")
        tensors, nchw = reader.alike([left.integers, right.integers], node.outputs[0])
        if tensors[0].shape != tensors[1].shape:
            raise reader.refusal(node, "its inputs have different shapes.")
        zeros = left.at.zero_point, right.at.zero_point
        name = reader.layer_name(node.outputs[0])
        layer = QuantizedAdd(*to, *zeros, *factors, low, high, name=name)
        return Integers(reader.put(layer, tensors), nchw)

    return Unscaled(make)


def _softmax(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    x = values[0]
    if not isinstance(x, Real):
        raise reader.refusal(node, "it does not take the numbers of integers.")
    tensor = reader.plain(x.integers, node.outputs[0])
    if int(node.attributes.get("axis", -1)) not in (-1, len(tensor.shape) - 1):
        raise reader.refusal(node, "it is not along the last axis.")
    at = x.at

    def make(to: Parameters, low: int, high: int) -> Integers:
        if to != _OF_SOFTMAX or (low, high) != (-128, 127):
            raise reader.refusal(node, "the scale of its result is not 1/256.")
        layer = QuantizedSoftmax(*to, name=reader.layer_name(node.outputs[0]))
        table = softmax_table(at.scale, tensor.shape[-1] or 1)
        return Integers(reader.put(layer, [tensor], {"table": table}))

    return Unscaled(make)


OPERATORS: dict[str, Operator] = {
    "QuantizeLinear": _quantize,
    "DequantizeLinear": _dequantize,
    "Clip": _clip,
    "Relu": _relu,
    "Add": _add,
    "Softmax": _softmax,
    "Gemm": gemm,
    "MatMul": matmul,
    "Conv": conv,
    "ConvTranspose": conv_transpose,
    "AveragePool": avg_pool,
    "GlobalAveragePool": global_avg_pool,
    "MaxPool": moves(max_pool),
    "Identity": identity,
    "Transpose": moves(transpose),
    "Reshape": moves(reshape),
    "Flatten": moves(flatten),
    "Concat": moves(concat),
    "Cast": cast,
    "Gather": gather,
}
"""The function that reads each operator."""
