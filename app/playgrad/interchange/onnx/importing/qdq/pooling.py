"""The pooling of files in QDQ form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.compression.quantized_layers.pooling import (
    QuantizedAveragePooling,
    QuantizedMaxPooling,
)
from playgrad.compression.scales import Parameters, mean_factors
from playgrad.interchange.onnx.importing.file import OnnxNode
from playgrad.interchange.onnx.importing.qdq.reader import QDQReader
from playgrad.interchange.onnx.importing.qdq.values import Integers, Real, Unscaled, Value
from playgrad.ops.quantized.quantized_avg_pool2d import MOST_FACTORS, MOST_PIXELS


def max_pool(reader: QDQReader, node: OnnxNode, values: Sequence[Value | None]) -> Value:
    x = values[0]
    if not isinstance(x, Integers):
        raise reader.refusal(node, "it does not take integers.")
    at = reader.parameters.get(node.outputs[0], Parameters(1.0, 0))
    name = reader.layer_name(node.outputs[0])
    layer = QuantizedMaxPooling(*at, *windows_of(reader, node), name=name)
    return Integers(reader.put(layer, [reader.image(x, node.outputs[0])]), nchw=True)


def avg_pool(reader: QDQReader, node: OnnxNode, values: Sequence[Value | None]) -> Value:
    x = values[0]
    if not isinstance(x, Real):
        raise reader.refusal(node, "it does not take the numbers of integers.")
    window, strides, padding = windows_of(reader, node)
    if any(map(any, padding)) and node.attributes.get("count_include_pad", 0):
        raise reader.refusal(node, "its means include the padding.")
    return _means(reader, node, x, window, strides, padding)


def global_avg_pool(reader: QDQReader, node: OnnxNode, values: Sequence[Value | None]) -> Value:
    x = values[0]
    if not isinstance(x, Real):
        raise reader.refusal(node, "it does not take the numbers of integers.")
    image = reader.image(x.integers, node.outputs[0])
    window = [int(size or 0) for size in image.shape[1:3]]
    x = x._replace(integers=Integers(image, nchw=True))
    return _means(reader, node, x, window, window, [[0, 0], [0, 0]])


def _means(
    reader: QDQReader, node: OnnxNode, source: Real, window: Any, strides: Any, padding: Any
) -> Unscaled:
    padded, pixels = any(map(any, padding)), window[0] * window[1]
    if not 0 < pixels <= (MOST_FACTORS if padded else MOST_PIXELS):
        raise reader.refusal(node, f"its windows have {pixels} pixels.")

    def make(to: Parameters, low: int, high: int) -> Integers:
        factors = mean_factors(source.at.scale / to.scale, pixels, padded)
        if factors is None:
            raise reader.refusal(node, "its result is much smaller than its input.")
        name = reader.layer_name(node.outputs[0])
        zero_point = source.at.zero_point
        layer = QuantizedAveragePooling(
            *to, window, strides, padding, zero_point, *factors, low=low, high=high, name=name
        )
        tensor = reader.put(layer, [reader.image(source.integers, node.outputs[0])])
        return Integers(tensor, nchw=True)

    return Unscaled(make)


def windows_of(reader: QDQReader, node: OnnxNode) -> tuple[Any, Any, Any]:
    """Return window, strides and padding of images."""
    attributes = node.attributes
    if attributes.get("ceil_mode", 0) or set(attributes.get("dilations", [1])) != {1}:
        raise reader.refusal(node, "its windows are dilated, or reach beyond the padding.")
    window = _two(reader, node, attributes["kernel_shape"])
    strides = _two(reader, node, attributes.get("strides", [1, 1]))
    return window, strides, sides_of(reader, node)


def sides_of(reader: QDQReader, node: OnnxNode) -> list[list[int]]:
    """Return the padding ((top, bottom), (left, right)) of a node for images."""
    if node.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        raise reader.refusal(node, "its padding is not written out.")
    pads = [int(pad) for pad in node.attributes.get("pads", [0] * 4)]
    if len(pads) != 4 or min(pads) < 0:
        raise reader.refusal(node, "it does not take images.")
    top, left, bottom, right = pads
    return [[top, bottom], [left, right]]


def _two(reader: QDQReader, node: OnnxNode, values: Any) -> list[int]:
    numbers = [int(value) for value in values]
    if len(numbers) != 2:
        raise reader.refusal(node, "it does not take images.")
    return numbers
