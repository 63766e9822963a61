"""From a canonical network and the ranges of its tensors to a network of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from playgrad.compression.compressed_model import Pair
from playgrad.compression.conv_geometry import geometry
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
from playgrad.compression.report import Note
from playgrad.compression.rewriting import Draft, Rewrite
from playgrad.compression.scales import (
    Parameters,
    addition_multipliers,
    integer_limits,
    integer_weights,
    mean_factors,
    multiplier_and_shift,
    parameters,
    quantized,
    softmax_table,
    sums,
)
from playgrad.compression.units import Unit, Units
from playgrad.graph.tensor import Node, Tensor
from playgrad.networks.structure import StructureItem
from playgrad.nn.basic import Rescaling
from playgrad.nn.dense import Dense
from playgrad.nn.global_pooling import GlobalAveragePooling1D, GlobalMaxPooling1D
from playgrad.nn.layer_calls import LayerCall
from playgrad.nn.pooling import AveragePool1D, AveragePool2D, MaxPool1D, MaxPool2D
from playgrad.ops.core.build import constant
from playgrad.ops.quantized.quantized_avg_pool2d import MOST_FACTORS, MOST_PIXELS

Array = np.ndarray[Any, Any]
Range = tuple[float, float]
OF_SOFTMAX = Parameters(1 / 256, -128)
BYTES = np.arange(-128, 128)


_convolution: Any = QuantizedConv


class NotConvertibleError(Exception):
    """A unit has no integer form after all. Its text is the reason."""


class Conversion(Rewrite):
    """A canonical network whose units become layers of integers.

    Args:
        ranges: those of the points of its units.
        bits: of the weights of each layer, by its name.

    Attributes:
        notes: the forms of the layers, by name.
        pairs: for layers of integers, the tensors that their results stand for.
    """

    def __init__(
        self, draft: Draft, units: Units, ranges: Mapping[Tensor, Range], bits: Mapping[str, int]
    ) -> None:
        super().__init__(draft)
        self.units = units
        self.ranges = ranges
        self.bits = bits
        self.integers: dict[Tensor, Tensor] = {}
        self.known: dict[Tensor, Parameters] = {}
        self.notes: dict[str, Note] = {}
        self.pairs: dict[str, Pair] = {}
        self.counts: dict[str, int] = {}
        self._converters: dict[str, Callable[[Unit, str], Tensor]] = {
            "linear": self._linear,
            "embedding": self._embedding,
            "add": self._add,
            "concatenate": self._concatenate,
            "max_pool": self._pool,
            "average_pool": self._pool,
            "reshape": self._reshape,
            "scale": self._scale,
            "table": self._table,
            "softmax": self._softmax,
        }

    # Tensors

    def __getitem__(self, original: Tensor) -> Tensor:
        """Return the float32 tensor, or the one of another dtype that never was float32."""
        if original not in self.tensors and original in self.integers:
            layer = Dequantize(*self.parameters(original), name=self._numbered("dequantize"))
            self.tensors[original] = self.put(layer, [self.integers[original]])
        return super().__getitem__(original)

    def integer(self, original: Tensor) -> Tensor:
        """Return the int8 tensor."""
        if original not in self.integers:
            layer = Quantize(*self.parameters(original), name=self._numbered("quantize"))
            self.integers[original] = self.put(layer, [self[original]])
        return self.integers[original]

    def parameters(self, original: Tensor) -> Parameters:
        """Return scale and zero point of a tensor."""
        if original not in self.known:
            self.known[original] = self._parameters(original)
        return self.known[original]

    def _parameters(self, original: Tensor) -> Parameters:
        unit = self.units.by_output.get(original)
        if original in self.ranges:
            return parameters(*self.ranges[original])
        assert unit is not None
        first = unit.call.inputs[0]
        if unit.kind == "scale":
            before, layer = self.parameters(first), unit.call.layer
            assert isinstance(layer, Rescaling)
            return Parameters(float(np.float32(before.scale * layer.scale)), before.zero_point)
        if unit.kind == "softmax":
            return OF_SOFTMAX
        if unit.kind == "embedding":
            table = self.weights(unit.call.layer)["embeddings"]
            return parameters(float(table.min()), float(table.max()))
        assert unit.keeps_parameters
        return self.parameters(first)

    def _numbered(self, kind: str) -> str:
        taken = set(self.names.values())
        while True:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            name = f"{kind}_{self.counts[kind]}"
            if name not in taken:
                return name

    # Items

    def take(self, item: StructureItem) -> None:
        if isinstance(item, Node):
            super().take(item)
            return
        name, unit = self.names[item.layer], self.units.by_call.get(item)
        if self.units.counts[item.layer] > 1 and unit is not None and unit.is_integer:
            name = self._numbered(name)
        reason = self.units.reasons.get(item, "is between layers that stay float32")
        if unit is not None and unit.is_integer:
            try:
                with self.graph.device(item.device):
                    result = self._converters[unit.kind](unit, name)
            except NotConvertibleError as error:
                unit.is_integer = False
                reason = str(error)
            else:
                self.integers[unit.output] = result
                bits = self.bits[name] if unit.kind == "linear" else 8
                self.notes[name] = Note(f"int{bits}")
                if unit.kind != "scale":
                    at = self.parameters(unit.output)
                    self.pairs[name] = Pair(unit.output, result, at.scale, at.zero_point)
                return
        owner = self.units.clamps.get(item)
        if owner is not None and owner.is_integer:
            self.notes[name] = Note("folded", f"into {self.names[owner.call.layer]}")
            return
        self.notes[name] = Note("float32", reason)
        super().take(item)

    # Units

    def _linear(self, unit: Unit, name: str) -> Tensor:
        call = unit.call
        weights = self.weights(call.layer)
        bits = self.bits[name]
        at, to = self.parameters(call.inputs[0]), self.parameters(unit.output)
        shape = None if isinstance(call.layer, Dense) else geometry(call)
        if shape is None and not isinstance(call.layer, Dense):
            raise NotConvertibleError("has a padding that integers cannot have")
        kernel = weights["kernel"] if shape is None else shape.kernel(weights["kernel"])
        integers = integer_weights(kernel, bits)
        bias = weights.get("bias", np.zeros(kernel.shape[-1], np.float32))
        constants = sums(integers, bias, at, to)
        if constants is None:
            raise NotConvertibleError("its sums might not fit in 32 bits")
        arguments = (*at, *to, *integer_limits(unit.limits, to), bits, name)
        if shape is None:
            layer: Any = QuantizedDense(kernel.shape[-1], *arguments)
        else:
            sizes = kernel.shape[-1], kernel.shape[:2]
            layer = _convolution(*sizes, *shape.arguments, *arguments)
        values = {"kernel": integers.values, **constants._asdict()}
        return self.put(layer, [self.integer(call.inputs[0])], values)

    def _embedding(self, unit: Unit, name: str) -> Tensor:
        table = self.weights(unit.call.layer)["embeddings"]
        at = self.parameters(unit.output)
        rows, columns = table.shape
        layer = QuantizedEmbedding(rows, columns, *at, name)
        return self.put(layer, [self[unit.call.inputs[0]]], {"embeddings": quantized(table, at)})

    def _add(self, unit: Unit, name: str) -> Tensor:
        left, right = (self.parameters(tensor) for tensor in unit.call.inputs)
        to = self.parameters(unit.output)
        factors = addition_multipliers(left.scale / to.scale, right.scale / to.scale)
        if factors is None:
            raise NotConvertibleError("its result is much smaller than its inputs")
        limits = integer_limits(unit.limits, to)
        layer = QuantizedAdd(*to, left.zero_point, right.zero_point, *factors, *limits, name=name)
        return self.put(layer, map(self.integer, unit.call.inputs))

    def _concatenate(self, unit: Unit, name: str) -> Tensor:
        to = self.parameters(unit.output)
        factors = []
        for tensor in unit.call.inputs:
            at = self.parameters(tensor)
            factor = multiplier_and_shift(at.scale / to.scale)
            if factor is None:
                raise NotConvertibleError("its result is much smaller than its inputs")
            factors.append((at, factor))
        parts = []
        for number, (tensor, (at, factor)) in enumerate(
            zip(unit.call.inputs, factors, strict=True), 1
        ):
            part = self.integer(tensor)
            if at != to:
                layer = Rescale(*to, at.zero_point, *factor, name=f"{name}_rescale_{number}")
                part = self.put(layer, [part])
            parts.append(part)
        merged: Any = unit.call.layer
        return self.put(QuantizedConcatenate(*to, merged.axis, name=name), parts)

    def _pool(self, unit: Unit, name: str) -> Tensor:
        call, layer = unit.call, unit.call.layer
        sequence = (AveragePool1D, MaxPool1D, GlobalAveragePooling1D, GlobalMaxPooling1D)
        is_sequence = isinstance(layer, sequence)
        at = self.parameters(unit.output)
        if isinstance(layer, (AveragePool1D, AveragePool2D, MaxPool1D, MaxPool2D)):
            attrs = _pooling_attrs(call)
            windows = attrs["pool_size"], attrs["strides"], attrs["padding"]
            is_global = False
        else:
            sizes = [size or 1 for size in call.inputs[0].shape[1:-1]]
            window = [1, *sizes] if is_sequence else sizes
            windows = window, window, [[0, 0], [0, 0]]
            is_global = len(call.outputs[0].shape) == 2
        if unit.kind == "max_pool":
            pooling: Any = QuantizedMaxPooling(*at, *windows, is_sequence, is_global, name=name)
        else:
            of = self.parameters(call.inputs[0])
            (height, width), padded = windows[0], any(map(any, windows[2]))
            factors = mean_factors(of.scale / at.scale, height * width, padded)
            if factors is None:
                raise NotConvertibleError("its result is much smaller than its inputs")
            if height * width > (MOST_FACTORS if padded else MOST_PIXELS):
                raise NotConvertibleError("its windows are too large")
            pooling = QuantizedAveragePooling(
                *at, *windows, of.zero_point, *factors, is_sequence, is_global, name=name
            )
        return self.put(pooling, [self.integer(call.inputs[0])])

    def _reshape(self, unit: Unit, name: str) -> Tensor:
        copy = unit.call.layer.clone()
        copy.name = copy.given_name = name
        return self.put(copy, [self.integer(unit.call.inputs[0])])

    def _scale(self, unit: Unit, name: str) -> Tensor:
        tensor, at = unit.call.inputs[0], self.parameters(unit.output)
        layer = Quantize(*at, self.parameters(tensor).scale, self._numbered("quantize"))
        return self.put(layer, [self[tensor]])

    def _table(self, unit: Unit, name: str) -> Tensor:
        at, to = self.parameters(unit.call.inputs[0]), self.parameters(unit.output)
        numbers = (np.float32(at.scale) * (BYTES - at.zero_point)).astype(np.float32)
        results = unit.call.layer.clone()(constant(numbers[:, None])).numpy()
        table = quantized(np.nan_to_num(results, nan=0.0).reshape(-1), to)
        layer = Lookup(*to, name=name)
        return self.put(layer, [self.integer(unit.call.inputs[0])], {"table": table})

    def _softmax(self, unit: Unit, name: str) -> Tensor:
        tensor = unit.call.inputs[0]
        table = softmax_table(self.parameters(tensor).scale, tensor.shape[-1] or 1)
        layer = QuantizedSoftmax(*OF_SOFTMAX, name=name)
        return self.put(layer, [self.integer(tensor)], {"table": table})


def _pooling_attrs(call: LayerCall) -> Mapping[str, Any]:
    """Return the attributes of the pooling operation of ``call``."""
    node = call.outputs[0].node
    while "pool" not in node.op.name:
        node = node.inputs[0].node
    return node.attrs
