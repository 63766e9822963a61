"""The pooling of an integer program as operators of TensorFlow Lite."""

from __future__ import annotations

import numpy as np

from playgrad.compression.integer_program import IntegerStep
from playgrad.errors import ExportError
from playgrad.interchange.tflite.builder import Quantization
from playgrad.interchange.tflite.writer import TFLiteWriter


def write_max_pool(w: TFLiteWriter, step: IntegerStep) -> None:
    x, padding = w.padded(step, step.attrs["padding"], step.attrs["window"], -128)
    _pool(w, step, "MAX_POOL_2D", x, padding, w.tensor(step.output))


def write_avg_pool(w: TFLiteWriter, step: IntegerStep) -> None:
    """Add an average pooling. The operator of that name cannot change the scale: a mean over whole
    images and a convolution can, with one rounding."""
    of, to = w.program.tensors[step.inputs[0]], w.program.tensors[step.output]
    x, padding = w.padded(step, step.attrs["padding"], step.attrs["window"], 0)
    if x != w.tensor(step.inputs[0]):
        raise ExportError(
            f"TensorFlow Lite has no average pooling with the padding {step.attrs['padding']} of "
            f"'{step.name}': only 'same' and 'valid'.",
            op=step.name,
        )
    same_scale = (of.scale, of.zero_point) == (to.scale, to.zero_point)

    def add(output: int, activation: int) -> None:
        if same_scale:
            _pool(w, step, "AVERAGE_POOL_2D", x, padding, output)
        elif padding == "SAME":
            pooled = w.temporary(step, to.shape, step.inputs[0])
            _pool(w, step, "AVERAGE_POOL_2D", x, padding, pooled)
            w.builder.operator("QUANTIZE", [pooled], output, 2, "QuantizeOptions")
        elif tuple(step.attrs["window"]) == of.shape[:2]:
            axes = w.ints(step, [1, 2])
            w.builder.operator("MEAN", [x, axes], output, 2, "ReducerOptions", KeepDims=True)
        else:
            _convolution(w, step, x, output)

    w.limited(step, add, bare=True)


def _pool(w: TFLiteWriter, step: IntegerStep, kind: str, x: int, padding: str, output: int) -> None:
    (height, width), (down, right) = step.attrs["window"], step.attrs["strides"]
    w.builder.operator(
        kind, [x], output, 2, "Pool2DOptions", Padding=w.padding(padding),
        StrideH=down, StrideW=right, FilterHeight=height, FilterWidth=width,
    )  # fmt: skip


def _convolution(w: TFLiteWriter, step: IntegerStep, x: int, output: int) -> None:
    """Add a convolution of each channel by itself, with weights of 1 and a scale of 1 / pixels."""
    kept = w.program.tensors[step.inputs[0]]
    (height, width), (down, right) = step.attrs["window"], step.attrs["strides"]
    channels = kept.shape[2]
    scales = np.full(channels, 1 / (height * width), np.float32)
    zero = np.zeros(channels)
    ones = np.ones((1, height, width, channels), np.int8)
    kernel = w.builder.constant(f"{step.name}/kernel", ones, Quantization(scales, zero, 3))
    of_bias = Quantization(np.float32(kept.scale) * scales, zero, 0)
    bias = w.builder.constant(f"{step.name}/bias", np.zeros(channels, np.int32), of_bias)
    w.builder.operator(
        "DEPTHWISE_CONV_2D", [x, kernel, bias], output, 3, "DepthwiseConv2DOptions",
        Padding=w.padding("VALID"), StrideH=down, StrideW=right, DepthMultiplier=1,
        DilationHFactor=1, DilationWFactor=1,
    )  # fmt: skip
