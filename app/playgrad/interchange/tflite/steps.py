"""The steps of an integer program as operators of TensorFlow Lite.

Both have images as (batch, height, width, channels).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad.compression.integer_program import IntegerStep
from playgrad.compression.real_product import (
    RealProduct,
    TransposedConvolution,
    real_product,
    transposed_convolution,
)
from playgrad.errors import ExportError
from playgrad.interchange.tflite.builder import Quantization
from playgrad.interchange.tflite.pooling import write_avg_pool, write_max_pool
from playgrad.interchange.tflite.writer import TFLiteWriter, quantization

Array = np.ndarray[Any, Any]

_SOFTMAX_ENDS = (1 / 256, -128)
"""Scale and zero point that the operator prescribes for its output."""


def _quantize(w: TFLiteWriter, step: IntegerStep) -> None:
    (x,), kept = w.inputs(step), w.program.tensors[step.output]
    if step.attrs["scale"] != kept.scale:  # the network multiplies its inputs
        factor = np.array([kept.scale / step.attrs["scale"]], np.float32)
        scaled = w.temporary(step, kept.shape, step.inputs[0], "float32")
        number = w.builder.constant(f"{step.name}/factor", factor)
        w.builder.operator("MUL", [x, number], scaled, 1, "MulOptions")
        x = scaled
    w.builder.operator("QUANTIZE", [x], w.tensor(step.output), 1, "QuantizeOptions")


def _dequantize(w: TFLiteWriter, step: IntegerStep) -> None:
    w.builder.operator("DEQUANTIZE", w.inputs(step), w.tensor(step.output), 2, "DequantizeOptions")


def _constants(
    w: TFLiteWriter, step: IntegerStep, kernel: Array, product: RealProduct, axis: int
) -> list[int]:
    zero = np.zeros(product.kernel_scale.shape)
    ends = Quantization(product.kernel_scale, zero, axis)
    of_bias = Quantization(product.bias_scale, zero, 0)
    return [
        w.builder.constant(f"{step.name}/kernel", np.ascontiguousarray(kernel), ends),
        w.builder.constant(f"{step.name}/bias", product.bias, of_bias),
    ]


def _matmul(w: TFLiteWriter, step: IntegerStep) -> None:
    product = real_product(w.program, step)
    constants = _constants(w, step, product.kernel.T, product, 0)
    keep = len(w.program.tensors[step.inputs[0]].shape) > 1

    def add(output: int, activation: int) -> None:
        w.builder.operator(
            "FULLY_CONNECTED", [*w.inputs(step), *constants], output, 12, "FullyConnectedOptions",
            FusedActivationFunction=activation, KeepNumDims=keep,
        )  # fmt: skip

    w.limited(step, add)


def _conv2d(w: TFLiteWriter, step: IntegerStep) -> None:
    turned = transposed_convolution(step)
    if turned is not None:
        _transposed(w, step, turned)
        return
    product, attrs = real_product(w.program, step), step.attrs
    height, width, _, units = product.kernel.shape
    channels = w.program.tensors[step.inputs[0]].shape[2]
    strides, dilation, groups = attrs["strides"], attrs["dilation"], attrs["groups"]
    window = [(height - 1) * dilation[0] + 1, (width - 1) * dilation[1] + 1]
    x, padding = w.padded(step, attrs["padding"], window, attrs["pad_value"])
    fields: dict[str, Any] = {
        "Padding": w.padding(padding), "StrideH": strides[0], "StrideW": strides[1],
        "DilationHFactor": dilation[0], "DilationWFactor": dilation[1],
    }  # fmt: skip
    if groups == channels and groups > 1:
        kind, version, options = "DEPTHWISE_CONV_2D", 3, "DepthwiseConv2DOptions"
        kernel, axis = product.kernel.transpose(2, 0, 1, 3), 3
        fields["DepthMultiplier"] = units // channels
    else:
        kind, version, options = "CONV_2D", 3 if groups == 1 else 6, "Conv2DOptions"
        kernel, axis = product.kernel.transpose(3, 0, 1, 2), 0
    constants = _constants(w, step, kernel, product, axis)

    def add(output: int, activation: int) -> None:
        w.builder.operator(
            kind, [x, *constants], output, version, options,
            FusedActivationFunction=activation, **fields,
        )  # fmt: skip

    w.limited(step, add)


def _transposed(w: TFLiteWriter, step: IntegerStep, turned: TransposedConvolution) -> None:
    w.builder.fixed_batch = True  # the operator takes the shape of its output
    shape, (crop_y, crop_x) = w.program.tensors[step.output].shape, turned.crop
    same = [_cut_for_same(*pair) for pair in zip(turned.kernel.shape, turned.strides, strict=False)]
    padding = "SAME" if [crop_y, crop_x] == same else "VALID"
    whole = shape if padding == "SAME" else (
        shape[0] + sum(crop_y), shape[1] + sum(crop_x), shape[2]
    )  # fmt: skip
    size = w.ints(step, [1, *whole])
    product = real_product(w.program, step)
    kernel, bias = _constants(w, step, turned.kernel.transpose(3, 0, 1, 2), product, 0)

    def add(output: int, activation: int) -> None:
        result = output if whole == shape else w.temporary(step, whole, step.output)
        w.builder.operator(
            "TRANSPOSE_CONV", [size, kernel, *w.inputs(step), bias], result, 3,
            "TransposeConvOptions", Padding=w.padding(padding),
            StrideH=turned.strides[0], StrideW=turned.strides[1],
        )  # fmt: skip
        if whole != shape:
            corner = w.ints(step, [0, crop_y[0], crop_x[0], 0])
            kept = w.ints(step, [1, *shape])
            w.builder.operator("SLICE", [result, corner, kept], output, 2, "SliceOptions")

    w.limited(step, add, bare=True)


def _cut_for_same(window: int, stride: int) -> tuple[int, int]:
    """Return what the padding "SAME" cuts off before and after the result."""
    total = max(0, window - stride)
    return total // 2, total - total // 2


def _add(w: TFLiteWriter, step: IntegerStep) -> None:
    def add(output: int, activation: int) -> None:
        fields = {"FusedActivationFunction": activation}
        w.builder.operator("ADD", w.inputs(step), output, 2, "AddOptions", **fields)

    w.limited(step, add)


def _rescale(w: TFLiteWriter, step: IntegerStep) -> None:
    def add(output: int, activation: int) -> None:
        w.builder.operator("QUANTIZE", w.inputs(step), output, 2, "QuantizeOptions")

    w.limited(step, add, bare=True)


def _lookup(w: TFLiteWriter, step: IntegerStep) -> None:
    shape = w.program.tensors[step.output].shape
    number, index = (w.temporary(step, shape, step.output, "int32") for _ in range(2))
    kinds = {name: w.builder.enum("TensorType", name) for name in ("INT8", "INT32")}
    w.builder.operator(
        "CAST", w.inputs(step), number, 1, "CastOptions",
        InDataType=kinds["INT8"], OutDataType=kinds["INT32"],
    )  # fmt: skip
    w.builder.operator("ADD", [number, w.ints(step, [128])], index, 1, "AddOptions")
    _take(w, step, step.constants["table"].astype(np.int8), index)


def _gather(w: TFLiteWriter, step: IntegerStep) -> None:
    _take(w, step, step.constants["table"], w.tensor(step.inputs[0]))


def _take(w: TFLiteWriter, step: IntegerStep, values: Array, index: int) -> None:
    kept = quantization(w.program.tensors[step.output])
    table = w.builder.constant(f"{step.name}/table", np.ascontiguousarray(values), kept)
    w.builder.operator("GATHER", [table, index], w.tensor(step.output), 2, "GatherOptions")


def _softmax(w: TFLiteWriter, step: IntegerStep) -> None:
    kept = w.program.tensors[step.output]
    if (kept.scale, kept.zero_point) != _SOFTMAX_ENDS:
        raise ExportError(f"the output of '{step.name}' must have the scale 1/256.", op=step.name)
    fields = {"Beta": 1.0}
    output = w.tensor(step.output)
    w.builder.operator("SOFTMAX", w.inputs(step), output, 2, "SoftmaxOptions", **fields)


def _reshape(w: TFLiteWriter, step: IntegerStep) -> None:
    shape = w.ints(step, [-1, *w.program.tensors[step.output].shape])
    output = w.tensor(step.output)
    w.builder.operator("RESHAPE", [*w.inputs(step), shape], output, 1, "ReshapeOptions")


def _transpose(w: TFLiteWriter, step: IntegerStep) -> None:
    perm = w.ints(step, step.attrs["permutation"])
    output = w.tensor(step.output)
    w.builder.operator("TRANSPOSE", [*w.inputs(step), perm], output, 2, "TransposeOptions")


def _concat(w: TFLiteWriter, step: IntegerStep) -> None:
    axis = {"Axis": step.attrs["axis"]}
    output = w.tensor(step.output)
    w.builder.operator("CONCATENATION", w.inputs(step), output, 2, "ConcatenationOptions", **axis)


def _upsample(w: TFLiteWriter, step: IntegerStep) -> None:
    size = w.ints(step, w.program.tensors[step.output].shape[:2])
    kind, options = "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"
    w.builder.operator(kind, [*w.inputs(step), size], w.tensor(step.output), 2, options)


WRITERS: dict[str, Callable[[TFLiteWriter, IntegerStep], None]] = {
    "quantize": _quantize,
    "dequantize": _dequantize,
    "quantized_matmul": _matmul,
    "quantized_conv2d": _conv2d,
    "quantized_add": _add,
    "rescale": _rescale,
    "lookup": _lookup,
    "quantized_softmax": _softmax,
    "quantized_max_pool2d": write_max_pool,
    "quantized_avg_pool2d": write_avg_pool,
    "gather": _gather,
    "reshape": _reshape,
    "transpose": _transpose,
    "concat": _concat,
    "upsample": _upsample,
}
"""The function that writes each kind of step."""
