"""The layers between a network's numbers and integers, in both directions."""

from __future__ import annotations

from playgrad.compression.quantized_layers.quantized_layer import QuantizedLayer
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer_calls import cast_with_mask
from playgrad.ops.quantized.dequantize import dequantize_linear
from playgrad.ops.quantized.quantize import quantize_linear


class Quantize(QuantizedLayer):
    """int8 of numbers: inputs (batch, ...), results of the same shape.

    Args:
        scale, zero_point: of the results.
        input_scale: the input that one step stands for, where results stand for multiples of the
            inputs, as after `playgrad.nn.Rescaling`; None for ``scale``.
    """

    kind = "quantize"

    def __init__(
        self,
        scale: float,
        zero_point: int,
        input_scale: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(scale, zero_point, name)
        self.input_scale = self.scale if input_scale is None else float(input_scale)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = cast_with_mask(inputs[0], "float32")
        return quantize_linear(x, self.input_scale, self.zero_point)


class Dequantize(QuantizedLayer):
    """The numbers that int8 stands for: inputs (batch, ...), results of the same shape."""

    kind = "dequantize"

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return dequantize_linear(inputs[0], self.scale, self.zero_point)
