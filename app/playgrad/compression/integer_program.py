"""A quantized network as a list of integer operations: what the writers of files read.

An int8 tensor stands for real numbers: real = scale · (q − zero_point). Shapes are without the
batch. The steps are in an order in which they can be computed; each tensor is an input of the
program or the output of one step. The integers are those of the operations of the same names in
``ops/quantized``, whose references define them.

======================= ============================================== =============================
step                    attributes                                     constants
======================= ============================================== =============================
quantize, dequantize    scale, zero_point
quantized_matmul        zero_point, low, high                          kernel (in, out), and those
                                                                       of every product
quantized_conv2d        strides, padding, dilation, input_dilation,    kernel (height, width,
                        groups, pad_value, zero_point, low, high       in / groups, out), likewise
quantized_add           left_zero_point, right_zero_point,
                        left_multiplier, right_multiplier, shift,
                        zero_point, low, high
rescale                 input_zero_point, multiplier, shift,
                        zero_point, low, high
lookup                                                                 table int8 (256,)
quantized_softmax                                                      table int32 (256,)
quantized_max_pool2d    window, strides, padding
quantized_avg_pool2d    window, strides, padding, input_zero_point,
                        multipliers, shifts, zero_point, low, high
gather                                                                 table int8 (rows, width)
reshape
transpose               permutation
concat                  axis
upsample                factors (height, width)
float                   graph, results
======================= ============================================== =============================

``float`` is a part that stayed float32, in programs that are asked to have them: its ``graph``
(`InferenceGraph`) computes tensors with the names ``results`` from the inputs of the step.

``padding`` is ((top, bottom), (left, right)); ``strides``, ``dilation``, ``input_dilation``,
``window`` and ``factors`` are (height, width). ``permutation`` and ``axis`` count the batch. The
scale of ``quantize`` is not that of its output if the network multiplies its inputs first: pixels
of 0 to 255 with the scale 1 may stand for numbers with the scale 1 / 255.

Products have the constants kernel (int8), bias, multiplier and shift (int32, one for each output),
and weight_scale (float32, likewise): real weight = weight_scale · kernel. The zero point of the
input is folded into the bias: a product of real numbers has the bias ``bias + zero_point · Σ
kernel`` at the scale ``input scale · weight_scale``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from playgrad.compression.float_parts import float_part
from playgrad.compression.quantized_layers.borders import Dequantize, Quantize
from playgrad.compression.quantized_layers.functions import (
    Lookup,
    QuantizedEmbedding,
    QuantizedSoftmax,
)
from playgrad.compression.quantized_layers.merge import QuantizedAdd, QuantizedConcatenate, Rescale
from playgrad.compression.quantized_layers.pooling import (
    QuantizedAveragePooling,
    QuantizedMaxPooling,
)
from playgrad.compression.quantized_layers.products import QuantizedConv, QuantizedDense
from playgrad.errors import ExportError
from playgrad.graph.tensor import Tensor
from playgrad.models.model import Model
from playgrad.networks.structure import StructureItem
from playgrad.nn.basic import Flatten, Permute, Reshape
from playgrad.nn.layer_calls import LayerCall

Array = np.ndarray[Any, Any]
_OF_PRODUCTS = ("kernel", "bias", "multiplier", "shift")


class IntegerTensor(NamedTuple):
    """A tensor of an integer program.

    Attributes:
        shape: without the batch.
        scale, zero_point: int8 values q stand for ``scale * (q - zero_point)``; 1 and 0 for others.
        dtype: "int8", "float32", or "int32" for the whole numbers that an embedding takes.
    """

    shape: tuple[int, ...]
    scale: float
    zero_point: int
    dtype: str


class IntegerStep(NamedTuple):
    """An operation of an integer program.

    Attributes:
        op: the name of the operation, from the table above.
        name: of its layer.
        inputs, output: names of tensors.
        attrs: the arguments of the operation.
        constants: its arrays.
    """

    op: str
    name: str
    inputs: tuple[str, ...]
    output: str
    attrs: Mapping[str, Any]
    constants: Mapping[str, Array]


class IntegerProgram(NamedTuple):
    """A network of integers: from ``inputs`` by ``steps``, in order, to ``outputs``."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: Mapping[str, IntegerTensor]
    steps: tuple[IntegerStep, ...]


def integer_program(model: Model, floats: bool = False) -> IntegerProgram:
    """Return the operations of a model that `playgrad.quantize` has made, or that was loaded from
    its file.

    Args:
        floats: whether layers and operations may have stayed float32.

    Raises:
        ExportError: some of them have.
    """
    return _Program(model, floats).program()


class _Program:
    def __init__(self, model: Model, floats: bool) -> None:
        self.model, self.floats = model, floats
        self.names = {layer: name for name, layer in model.named_layers()}
        self.values = model.named_weights()
        self.tensors: dict[str, IntegerTensor] = {}
        self.named: dict[Tensor, str] = {}
        self.steps: list[IntegerStep] = []
        self.writers: dict[type, Callable[[Any, str, LayerCall], None]] = {
            Quantize: self._border,
            Dequantize: self._border,
            QuantizedDense: self._dense,
            QuantizedConv: self._conv,
            QuantizedAdd: self._add,
            Rescale: self._rescale,
            QuantizedConcatenate: self._concatenate,
            Lookup: self._table,
            QuantizedSoftmax: self._table,
            QuantizedMaxPooling: self._pool,
            QuantizedAveragePooling: self._pool,
            QuantizedEmbedding: self._embedding,
            Flatten: self._reshape,
            Reshape: self._reshape,
            Permute: self._permute,
        }

    def program(self) -> IntegerProgram:
        structure = self.model.structure
        if not self.floats:
            self._expect_integers()
        embedded = {
            call.inputs[0] for call in self._calls() if isinstance(call.layer, QuantizedEmbedding)
        }
        for number, tensor in enumerate(structure.inputs, 1):
            dtype = "int32" if tensor in embedded else "float32"
            if tensor in self._inputs_of_floats():
                dtype = tensor.dtype
            name = "input" if len(structure.inputs) == 1 else f"input_{number}"
            self._add_tensor(name, tensor.shape[1:], None, dtype)
            self.named[tensor] = name
        for item in structure.items:
            if isinstance(item, LayerCall) and self._is_integer(item):
                self.writers[type(item.layer)](item.layer, self.names[item.layer], item)
            else:
                self._float(item)
        return IntegerProgram(
            tuple(self.named[tensor] for tensor in structure.inputs),
            tuple(self.named[tensor] for tensor in structure.outputs),
            self.tensors,
            tuple(self.steps),
        )

    def _calls(self) -> list[LayerCall]:
        return [item for item in self.model.structure.items if isinstance(item, LayerCall)]

    def _expect_integers(self) -> None:
        floats = [
            f"'{self.names[item.layer]}'" if isinstance(item, LayerCall) else f"'{item.name}'"
            for item in self.model.structure.items
            if not isinstance(item, LayerCall) or not self._is_integer(item)
        ]
        if floats:
            raise ExportError(
                f"the model '{self.model.name}' is not a network of integers alone: "
                f"{', '.join(dict.fromkeys(floats))} compute in float32.",
                source=self.model.source,
                hint="pg.quantize(model, x) makes one; report() of its result says which layers "
                "stay float32 and why.",
            )

    def _is_integer(self, call: LayerCall) -> bool:
        layer = call.layer
        if isinstance(layer, Quantize) and self.floats:
            return True
        if isinstance(layer, (Quantize, QuantizedEmbedding)):
            return call.inputs[0] in set(self.model.inputs)
        if isinstance(layer, (Flatten, Reshape, Permute)):
            return call.inputs[0].dtype == "int8"
        return type(layer) in self.writers

    def _inputs_of_floats(self) -> set[Tensor]:
        """Return the tensors that parts of float32 take."""
        return {
            tensor
            for item in self.model.structure.items
            if not isinstance(item, LayerCall) or not self._is_integer(item)
            for tensor in item.inputs
        }

    def _float(self, item: StructureItem) -> None:
        name = self.names[item.layer] if isinstance(item, LayerCall) else item.name
        graph = float_part(item, name, self.named, self.model.session.values)
        results = [tensor.name for tensor in item.outputs]
        for tensor, result in zip(item.outputs, results, strict=True):
            if tensor.dtype == "int8":
                raise ExportError(f"'{name}' computes int8 in a way that no step describes.")
            self._add_tensor(result, tensor.shape[1:], None, tensor.dtype)
            self.named[tensor] = result
        inputs = [self.named[tensor] for tensor in graph.inputs]
        attrs = {"graph": graph, "results": tuple(results)}
        self._step("float", name, inputs, results[0], attrs)

    # Tensors and steps

    def _add_tensor(
        self, name: str, shape: Sequence[int | None], layer: Any, dtype: str = "int8"
    ) -> None:
        known = tuple(size or 1 for size in shape)
        scale, zero_point = (1.0, 0) if layer is None else (layer.scale, layer.zero_point)
        self.tensors[name] = IntegerTensor(known, float(np.float32(scale)), zero_point, dtype)

    def _step(
        self,
        op: str,
        name: str,
        inputs: Sequence[str],
        output: str,
        attrs: Mapping[str, Any] | None = None,
        constants: Sequence[str] = (),
    ) -> None:
        arrays = {each: self.values[f"{name}/{each}"] for each in constants}
        if "multiplier" in arrays:
            layer: Any = self.model.get_layer(name)
            arrays["weight_scale"] = layer.weight_scale(arrays["multiplier"], arrays["shift"])
        self.steps.append(IntegerStep(op, name, tuple(inputs), output, attrs or {}, arrays))

    def _inputs(self, call: LayerCall) -> list[str]:
        return [self.named[tensor] for tensor in call.inputs]

    def _result(self, call: LayerCall, name: str, layer: Any, dtype: str = "int8") -> str:
        self._add_tensor(name, call.outputs[0].shape[1:], layer, dtype)
        self.named[call.outputs[0]] = name
        return name

    # Layers

    def _border(self, layer: Any, name: str, call: LayerCall) -> None:
        scale = layer.input_scale if isinstance(layer, Quantize) else layer.scale
        attrs = {"scale": float(np.float32(scale)), "zero_point": layer.zero_point}
        inputs = self._inputs(call)
        if isinstance(layer, Quantize):
            self._step("quantize", name, inputs, self._result(call, name, layer), attrs)
        else:
            output = self._result(call, name, None, "float32")
            self._step("dequantize", name, inputs, output, attrs)

    def _dense(self, layer: QuantizedDense, name: str, call: LayerCall) -> None:
        output = self._result(call, name, layer)
        attrs = layer.output_range
        self._step("quantized_matmul", name, self._inputs(call), output, attrs, _OF_PRODUCTS)

    def _conv(self, layer: QuantizedConv, name: str, call: LayerCall) -> None:
        attrs = layer.attributes
        self._windowed(
            "quantized_conv2d", name, call, layer, layer.is_sequence, attrs, _OF_PRODUCTS
        )

    def _pool(self, layer: Any, name: str, call: LayerCall) -> None:
        is_max = isinstance(layer, QuantizedMaxPooling)
        attrs = {
            "window": layer.window, "strides": layer.strides, "padding": layer.padding,
            **layer.attributes,
        }  # fmt: skip
        op = "quantized_max_pool2d" if is_max else "quantized_avg_pool2d"
        self._windowed(op, name, call, layer, layer.is_sequence, attrs)

    def _windowed(
        self,
        op: str,
        name: str,
        call: LayerCall,
        layer: Any,
        is_sequence: bool,
        attrs: Mapping[str, Any],
        constants: Sequence[str] = (),
    ) -> None:
        """Add an operation on images, which sequences become before and are again afterwards."""
        (source,) = self._inputs(call)
        shape, result = call.inputs[0].shape[1:], call.outputs[0].shape[1:]
        if is_sequence:
            image = f"{name}/image"
            self.tensors[image] = self.tensors[source]._replace(
                shape=(1, *(size or 1 for size in shape))
            )
            self._step("reshape", name, [source], image)
            source = image
        output = self._result(call, name, layer)
        if not is_sequence and len(result) == 3:
            self._step(op, name, [source], output, attrs, constants)
            return
        inner = (1, *result) if is_sequence and len(result) == 2 else (1, 1, result[-1])
        self._add_tensor(f"{name}/result", inner, layer)
        self._step(op, name, [source], f"{name}/result", attrs, constants)
        self._step("reshape", name, [f"{name}/result"], output)

    def _add(self, layer: QuantizedAdd, name: str, call: LayerCall) -> None:
        output = self._result(call, name, layer)
        self._step("quantized_add", name, self._inputs(call), output, layer.attributes)

    def _rescale(self, layer: Rescale, name: str, call: LayerCall) -> None:
        output = self._result(call, name, layer)
        self._step("rescale", name, self._inputs(call), output, layer.attributes)

    def _concatenate(self, layer: QuantizedConcatenate, name: str, call: LayerCall) -> None:
        attrs = {"axis": layer.axis % len(call.inputs[0].shape)}
        self._step("concat", name, self._inputs(call), self._result(call, name, layer), attrs)

    def _table(self, layer: Any, name: str, call: LayerCall) -> None:
        op = "lookup" if isinstance(layer, Lookup) else "quantized_softmax"
        output = self._result(call, name, layer)
        self._step(op, name, self._inputs(call), output, None, ("table",))

    def _embedding(self, layer: QuantizedEmbedding, name: str, call: LayerCall) -> None:
        table = {"table": self.values[f"{name}/embeddings"]}
        inputs, output = tuple(self._inputs(call)), self._result(call, name, layer)
        self.steps.append(IntegerStep("gather", name, inputs, output, {}, table))

    def _reshape(self, layer: Any, name: str, call: LayerCall) -> None:
        self._moved("reshape", name, call, {})

    def _permute(self, layer: Permute, name: str, call: LayerCall) -> None:
        self._moved("transpose", name, call, {"permutation": (0, *layer.dims)})

    def _moved(self, op: str, name: str, call: LayerCall, attrs: Mapping[str, Any]) -> None:
        (source,) = self._inputs(call)
        shape = tuple(size or 1 for size in call.outputs[0].shape[1:])
        self.tensors[name] = self.tensors[source]._replace(shape=shape)
        self.named[call.outputs[0]] = name
        self._step(op, name, [source], name, attrs)
