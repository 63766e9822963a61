"""`quantized_onnx_bytes`: quantized networks as ONNX files in QDQ form.

In this form, operators of float32 stand between DequantizeLinear and QuantizeLinear, and runtimes
replace the whole by integer arithmetic: https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad.compression.integer_program import IntegerProgram, IntegerStep
from playgrad.compression.real_product import bounds, real_product, transposed_convolution
from playgrad.data.input_description import KEY, InputDescription
from playgrad.errors import ExportError
from playgrad.interchange.onnx.builder import TYPES, GraphBuilder
from playgrad.interchange.onnx.export import add_nodes
from playgrad.networks.inference import InferenceGraph

Array = np.ndarray[Any, Any]

_TO_NCHW, _TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]


def quantized_onnx_bytes(
    program: IntegerProgram,
    name: str,
    described: InputDescription | None = None,
    opset: int | None = None,
) -> bytes:
    """Return the ONNX model of a quantized network.

    Args:
        name: of the network.
        described: how a picture becomes the input, if it is known.
        opset: the version of the operators; the lowest that the network needs if None.

    Raises:
        ExportError: ONNX has no equivalent of a step, or the network needs a later opset.
    """
    writer = _QDQWriter(program, name)
    for step in program.steps:
        write = _STEPS.get(step.op)
        if write is None:
            raise ExportError(f"ONNX has no equivalent of '{step.op}' in '{step.name}'.")
        write(writer, step)
    for tensor in program.outputs:
        writer.output(tensor)
    if described is not None:
        writer.builder.metadata[KEY] = described.to_json()
    return writer.builder.model(opset)


class _QDQWriter:
    """A graph of ONNX in the making.

    Images are (batch, channels, height, width) in ONNX and (batch, height, width, channels) in
    playgrad. They stay in the layout of ONNX from one convolution to the next.
    """

    def __init__(self, program: IntegerProgram, name: str) -> None:
        self.program = program
        self.builder = GraphBuilder(name)
        self._names: dict[str, str] = {}
        self._nchw: dict[str, str] = {}
        self._real: dict[str, str] = {}
        for tensor in program.inputs:
            kept = program.tensors[tensor]
            self._names[tensor] = self.builder.unique(tensor)
            self.builder.value(
                self.builder.graph.input, self._names[tensor], kept.dtype, (None, *kept.shape)
            )

    def output(self, tensor: str) -> None:
        """Append an output of the model."""
        kept = self.program.tensors[tensor]
        name = self.builder.unique(f"{tensor}/output")
        self.builder.add("Identity", [self.name(tensor)], [name], {}, kept.dtype)
        self.builder.value(self.builder.graph.output, name, kept.dtype, (None, *kept.shape))

    def op(self, kind: str, step: IntegerStep, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output, and return its name."""
        output = self.builder.unique(f"{step.name}/{kind}")
        self.builder.add(kind, inputs, [output], attributes, "float32")
        return output

    def constant(self, array: Array, name: str = "constant") -> str:
        return self.builder.constant(array, name)

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def name(self, tensor: str, nchw: bool = False) -> str:
        """Return the name of a tensor's integers, in one of the layouts."""
        names, others = (self._nchw, self._names) if nchw else (self._names, self._nchw)
        if tensor not in names:
            names[tensor] = self.builder.unique(f"{tensor}/{'nchw' if nchw else 'nhwc'}")
            perm = {"perm": _TO_NCHW if nchw else _TO_NHWC}
            self.builder.add("Transpose", [others[tensor]], [names[tensor]], perm, "int8")
        return names[tensor]

    def is_nchw(self, tensor: str) -> bool:
        """Return whether only the layout of ONNX has been computed."""
        return tensor not in self._names

    def real(self, step: IntegerStep, number: int = 0, nchw: bool = False) -> str:
        """Return the name of the real numbers of an input."""
        integers = self.name(step.inputs[number], nchw)
        if integers not in self._real:
            kept = self.program.tensors[step.inputs[number]]
            scale = np.array(kept.scale, np.float32)
            zero = np.array(kept.zero_point, np.int8)
            self._real[integers] = self._dequantized(integers, step, scale, zero)
        return self._real[integers]

    def real_constant(
        self, step: IntegerStep, name: str, values: Array, scale: Array, axis: int
    ) -> str:
        """Return the name of a constant's real numbers, with a scale for each index of ``axis``."""
        integers = self.constant(values, f"{step.name}/{name}")
        # ONNX Runtime needs the zeros to compute in integers, but not those of a bias.
        zero = np.zeros(scale.shape, np.int8) if values.dtype == np.int8 else None
        return self._dequantized(integers, step, scale, zero, axis=axis)

    def _dequantized(
        self, integers: str, step: IntegerStep, scale: Array, zero: Array | None, **attributes: int
    ) -> str:
        ends = [self.constant(scale, "scale")]
        if zero is not None:
            ends.append(self.constant(zero, "zero_point"))
        return self.op("DequantizeLinear", step, integers, *ends, **attributes)

    def keep(self, step: IntegerStep, integers: str, nchw: bool = False) -> None:
        """Take ``integers`` as the output of a step."""
        (self._nchw if nchw else self._names)[step.output] = integers

    def keep_as(self, tensor: str, name: str) -> None:
        """Take ``name`` as that of a tensor without a scale."""
        self._names[tensor] = name

    def keep_real(self, step: IntegerStep, real: str, nchw: bool = False) -> None:
        """Quantize ``real``, which becomes the output of a step; with its bounds, if it has any."""
        if "low" in step.attrs and (limits := bounds(self.program, step)):
            ends = [self.constant(np.array(limit, np.float32)) for limit in limits]
            real = self.op("Clip", step, real, *ends)
        self.keep(step, self.quantized(step, real, self.program.tensors[step.output].scale), nchw)

    def quantized(self, step: IntegerStep, real: str, scale: float) -> str:
        """Return the name of the integers for ``real``, with the zero point of a step's output."""
        zero_point = self.program.tensors[step.output].zero_point
        factor = self.constant(np.array(scale, np.float32), "scale")
        zero = self.constant(np.array(zero_point, np.int8), "zero_point")
        return self.op("QuantizeLinear", step, real, factor, zero)


def _quantize(w: _QDQWriter, step: IntegerStep) -> None:
    x = w.name(step.inputs[0])
    if w.program.tensors[step.inputs[0]].dtype != "float32":
        x = w.op("Cast", step, x, to=TYPES["float32"])
    # The network may multiply its inputs: then these have another scale than the integers.
    w.keep(step, w.quantized(step, x, step.attrs["scale"]))


def _dequantize(w: _QDQWriter, step: IntegerStep) -> None:
    w.keep(step, w.real(step))


def _matmul(w: _QDQWriter, step: IntegerStep) -> None:
    product = real_product(w.program, step)
    kernel = w.real_constant(step, "kernel", product.kernel, product.kernel_scale, axis=1)
    bias = w.real_constant(step, "bias", product.bias, product.bias_scale, axis=0)
    if len(w.program.tensors[step.inputs[0]].shape) == 1:
        w.keep_real(step, w.op("Gemm", step, w.real(step), kernel, bias))
    else:
        w.keep_real(step, w.op("Add", step, w.op("MatMul", step, w.real(step), kernel), bias))


def _conv2d(w: _QDQWriter, step: IntegerStep) -> None:
    product = real_product(w.program, step)
    bias = w.real_constant(step, "bias", product.bias, product.bias_scale, axis=0)
    transposed, attrs = transposed_convolution(step), step.attrs
    if transposed is None:
        kernel, axis, kind = product.kernel.transpose(3, 2, 0, 1), 0, "Conv"
        pads, strides = _pads(attrs["padding"]), attrs["strides"]
        attributes = {"dilations": list(attrs["dilation"]), "group": attrs["groups"]}
    else:
        kernel, axis, kind = transposed.kernel.transpose(2, 3, 0, 1), 1, "ConvTranspose"
        pads, strides = _pads(transposed.crop), transposed.strides
        attributes = {}
    attributes |= {"strides": list(strides), "pads": pads}
    weights = w.real_constant(step, "kernel", kernel, product.kernel_scale, axis)
    result = w.op(kind, step, w.real(step, nchw=True), weights, bias, **attributes)
    w.keep_real(step, result, nchw=True)


def _pads(padding: Any) -> list[int]:
    (top, bottom), (left, right) = padding
    return [top, left, bottom, right]


def _add(w: _QDQWriter, step: IntegerStep) -> None:
    nchw = any(map(w.is_nchw, step.inputs))
    w.keep_real(step, w.op("Add", step, *(w.real(step, n, nchw) for n in (0, 1))), nchw)


def _rescale(w: _QDQWriter, step: IntegerStep) -> None:
    nchw = w.is_nchw(step.inputs[0])
    w.keep_real(step, w.real(step, nchw=nchw), nchw)


def _lookup(w: _QDQWriter, step: IntegerStep) -> None:
    nchw = w.is_nchw(step.inputs[0])
    number = w.op("Cast", step, w.name(step.inputs[0], nchw), to=TYPES["int32"])
    index = w.op("Add", step, number, w.constant(np.array(128, np.int32)))
    table = w.constant(step.constants["table"].astype(np.int8), f"{step.name}/table")
    w.keep(step, w.op("Gather", step, table, index), nchw)


def _softmax(w: _QDQWriter, step: IntegerStep) -> None:
    w.keep_real(step, w.op("Softmax", step, w.real(step), axis=-1))


def _max_pool(w: _QDQWriter, step: IntegerStep) -> None:
    integers = w.name(step.inputs[0], nchw=True)
    w.keep(step, w.op("MaxPool", step, integers, **_window(step)), nchw=True)


def _avg_pool(w: _QDQWriter, step: IntegerStep) -> None:
    w.keep_real(step, w.op("AveragePool", step, w.real(step, nchw=True), **_window(step)), True)


def _window(step: IntegerStep) -> dict[str, list[int]]:
    attrs = step.attrs
    return {
        "kernel_shape": list(attrs["window"]), "strides": list(attrs["strides"]),
        "pads": _pads(attrs["padding"]),
    }  # fmt: skip


def _gather(w: _QDQWriter, step: IntegerStep) -> None:
    table = w.constant(step.constants["table"], f"{step.name}/table")
    w.keep(step, w.op("Gather", step, table, w.name(step.inputs[0])))


def _float(w: _QDQWriter, step: IntegerStep) -> None:
    graph: InferenceGraph = step.attrs["graph"]
    names = {tensor: w.name(name) for tensor, name in zip(graph.inputs, step.inputs, strict=True)}
    add_nodes(w.builder, graph, names)
    for tensor, result in zip(graph.outputs, step.attrs["results"], strict=True):
        w.keep_as(result, names[tensor])


def _reshape(w: _QDQWriter, step: IntegerStep) -> None:
    shape = w.ints(-1, *w.program.tensors[step.output].shape)
    w.keep(step, w.op("Reshape", step, w.name(step.inputs[0]), shape))


def _transpose(w: _QDQWriter, step: IntegerStep) -> None:
    perm = list(step.attrs["permutation"])
    w.keep(step, w.op("Transpose", step, w.name(step.inputs[0]), perm=perm))


def _concat(w: _QDQWriter, step: IntegerStep) -> None:
    nchw, axis = all(map(w.is_nchw, step.inputs)), step.attrs["axis"]
    names = [w.name(name, nchw) for name in step.inputs]
    w.keep(step, w.op("Concat", step, *names, axis=_TO_NHWC[axis] if nchw else axis), nchw)


def _upsample(w: _QDQWriter, step: IntegerStep) -> None:
    factors = w.constant(np.array([1, 1, *step.attrs["factors"]], np.float32))
    attributes = {
        "mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor",
    }  # fmt: skip
    integers = w.name(step.inputs[0], nchw=True)
    w.keep(step, w.op("Resize", step, integers, "", factors, **attributes), nchw=True)


_STEPS: dict[str, Callable[[_QDQWriter, IntegerStep], None]] = {
    "quantize": _quantize,
    "dequantize": _dequantize,
    "quantized_matmul": _matmul,
    "quantized_conv2d": _conv2d,
    "quantized_add": _add,
    "rescale": _rescale,
    "lookup": _lookup,
    "quantized_softmax": _softmax,
    "quantized_max_pool2d": _max_pool,
    "quantized_avg_pool2d": _avg_pool,
    "gather": _gather,
    "reshape": _reshape,
    "transpose": _transpose,
    "concat": _concat,
    "upsample": _upsample,
    "float": _float,
}
