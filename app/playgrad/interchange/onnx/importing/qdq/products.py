"""The products of files in QDQ form: matrices and convolutions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.compression.quantized_layers.products import QuantizedConv, QuantizedDense
from playgrad.compression.scales import IntegerWeights, Parameters, integer_sums
from playgrad.interchange.onnx.importing.file import OnnxNode
from playgrad.interchange.onnx.importing.qdq.pooling import sides_of
from playgrad.interchange.onnx.importing.qdq.reader import QDQReader
from playgrad.interchange.onnx.importing.qdq.values import (
    Array,
    Integers,
    OpenProduct,
    Real,
    Unscaled,
    Value,
    Weights,
)

Values = Sequence[Value | None]
_convolution: Any = QuantizedConv


def gemm(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    attributes = node.attributes
    plain = (attributes.get("alpha", 1.0), attributes.get("beta", 1.0)) == (1.0, 1.0)
    if not plain or attributes.get("transA", 0):
        raise reader.refusal(node, "it multiplies by other factors, or turns its input.")
    transposed = bool(attributes.get("transB", 0))
    product = _dense(reader, node, values, transposed)
    return _with_bias(reader, node, product, values)


def matmul(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    return _dense(reader, node, values, transposed=False)


def _dense(reader: QDQReader, node: OnnxNode, values: Values, transposed: bool) -> OpenProduct:
    x, weights = _operands(reader, node, values, 2)
    kernel = weights.values.T if transposed else weights.values
    scale = _scales(reader, node, weights, 0 if transposed else 1)

    def layer(*arguments: Any) -> QuantizedDense:
        return QuantizedDense(kernel.shape[1], *arguments)

    plain = Integers(reader.plain(x.integers, node.outputs[0]))
    return OpenProduct(x._replace(integers=plain), kernel, scale, layer, nchw=False)


def conv(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    x, weights = _operands(reader, node, values, 4)
    kernel = weights.values.transpose(2, 3, 1, 0)
    attributes = node.attributes
    dilation, groups = attributes.get("dilations", [1, 1]), int(attributes.get("group", 1))
    strides, padding = attributes.get("strides", [1, 1]), sides_of(reader, node)
    shape = (strides, padding, dilation, groups, [1, 1], False)
    product = _image_product(reader, node, x, kernel, _scales(reader, node, weights, 0), shape)
    return _with_bias(reader, node, product, values)


def conv_transpose(reader: QDQReader, node: OnnxNode, values: Values) -> Value:
    """A convolution of the image whose pixels are spread."""
    x, weights = _operands(reader, node, values, 4)
    attributes = node.attributes
    if (
        int(attributes.get("group", 1)) != 1
        or set(attributes.get("dilations", [1])) != {1}
        or any(attributes.get("output_padding", [0]))
        or "output_shape" in attributes
    ):
        raise reader.refusal(node, "it has groups, is dilated, or has a shape of its own.")
    kernel = np.ascontiguousarray(weights.values.transpose(2, 3, 0, 1)[::-1, ::-1])
    sides = [
        [size - 1 - cut for cut in cuts]
        for size, cuts in zip(kernel.shape[:2], sides_of(reader, node), strict=True)
    ]
    if min(min(pair) for pair in sides) < 0:
        raise reader.refusal(node, "it cuts off more than its window.")
    shape = ([1, 1], sides, [1, 1], 1, attributes.get("strides", [1, 1]), False)
    product = _image_product(reader, node, x, kernel, _scales(reader, node, weights, 1), shape)
    return _with_bias(reader, node, product, values)


def _image_product(
    reader: QDQReader, node: OnnxNode, x: Real, kernel: Array, scale: Array, shape: Any
) -> OpenProduct:
    def layer(*arguments: Any) -> QuantizedConv:
        made: QuantizedConv = _convolution(kernel.shape[-1], kernel.shape[:2], *shape, *arguments)
        return made

    image = Integers(reader.image(x.integers, node.outputs[0]))
    return OpenProduct(x._replace(integers=image), kernel, scale, layer, nchw=True)


def _operands(reader: QDQReader, node: OnnxNode, values: Values, rank: int) -> tuple[Real, Weights]:
    x, weights = values[0], values[1]
    if not isinstance(x, Real) or not isinstance(weights, Weights):
        raise reader.refusal(node, "it does not multiply integers by constants.")
    if weights.values.dtype != np.int8 or weights.values.ndim != rank or not weights.values.size:
        raise reader.refusal(node, f"its weights are not int8 of {rank} axes.")
    return x, weights


def _scales(reader: QDQReader, node: OnnxNode, weights: Weights, axis: int) -> Array:
    """Return a scale for each output, which ``axis`` of the weights counts."""
    outputs = weights.values.shape[axis]
    if weights.scale.size == 1:
        return np.full(outputs, weights.scale[0], np.float32)
    if weights.axis != axis or weights.scale.size != outputs:
        raise reader.refusal(node, "the scales of its weights are not of its outputs.")
    return weights.scale


def _with_bias(reader: QDQReader, node: OnnxNode, product: OpenProduct, values: Values) -> Unscaled:
    bias = values[2] if len(values) > 2 else None
    if bias is not None and not isinstance(bias, Weights):
        raise reader.refusal(node, "its bias is not a constant of integers.")
    return unscaled(reader, node, product, bias)


def unscaled(
    reader: QDQReader, node: OnnxNode, product: OpenProduct, bias: Weights | None
) -> Unscaled:
    """Return the result of a product that is complete."""
    x, layer = product.x, product.layer
    unit = np.float64(np.float32(x.at.scale)) * product.kernel_scale.astype(np.float64)
    outputs = product.kernel.shape[-1]
    whole: Array = np.zeros(outputs)
    if bias is not None:
        if bias.values.size not in (1, outputs) or bias.scale.size not in (1, outputs):
            raise reader.refusal(node, f"its bias has {bias.values.size} values.")
        steps = np.float32(x.at.scale) * product.kernel_scale
        whole = np.broadcast_to(bias.values.reshape(-1), outputs).astype(np.float64)
        if not np.array_equal(np.broadcast_to(bias.scale, outputs), steps):
            whole = np.rint(whole * bias.scale.astype(np.float64) / unit)
    weights = IntegerWeights(np.ascontiguousarray(product.kernel), product.kernel_scale)
    return Unscaled(_maker(reader, node, product, weights, whole, layer))


def _maker(
    reader: QDQReader,
    node: OnnxNode,
    product: OpenProduct,
    weights: IntegerWeights,
    bias: Array,
    layer: Callable[..., Any],
) -> Callable[[Parameters, int, int], Integers]:
    def make(to: Parameters, low: int, high: int) -> Integers:
        constants = integer_sums(weights, bias, product.x.at, to)
        if constants is None:
            raise reader.refusal(node, "its sums might not fit in 32 bits.")
        name = reader.layer_name(node.outputs[0])
        made = layer(*product.x.at, *to, low, high, 8, name)
        values = {"kernel": weights.values, **constants._asdict()}
        return Integers(reader.put(made, [product.x.integers.tensor], values), product.nchw)

    return make
