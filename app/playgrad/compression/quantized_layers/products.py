"""Fully connected and convolutional layers of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.compression.quantized_layers.quantized_layer import HIGH, LOW, ProductLayer
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import expand_dims, squeeze
from playgrad.ops.quantized.quantized_conv2d import quantized_conv2d
from playgrad.ops.quantized.quantized_matmul import quantized_matmul


class QuantizedDense(ProductLayer):
    """`Dense` of int8: inputs (batch, ..., in), kernel (in, units), results (batch, ..., units).

    Args:
        units: the number of outputs.
        input_scale, input_zero_point, scale, zero_point, low, high, weight_bits: as in
            `ProductLayer`.
    """

    kind = "quantized_dense"

    def __init__(
        self,
        units: int,
        input_scale: float,
        input_zero_point: int,
        scale: float,
        zero_point: int,
        low: int = LOW,
        high: int = HIGH,
        weight_bits: int = 8,
        name: str | None = None,
    ) -> None:
        of_input = input_scale, input_zero_point
        super().__init__(*of_input, scale, zero_point, low, high, weight_bits, name)
        self.units = self.positive("units", units)

    def build(self, *shapes: Shape) -> None:
        self.add_constants((self.known(shapes[0], -1), self.units))

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return quantized_matmul(inputs[0], *self.constants, **self.output_range)


class QuantizedConv(ProductLayer):
    """Convolutions of int8: of images or sequences, of single channels, and transposed ones.

    Inputs (batch, height, width, in), kernel (kernel height, kernel width, in / groups, filters),
    results (batch, height', width', filters). Sequences are images of height 1.

    Args:
        filters: the number of output channels.
        kernel_size, strides, dilation, input_dilation: pairs (vertical, horizontal).
        padding: steps around an image, ((top, bottom), (left, right)).
        groups: groups of channels that are convolved by themselves.
        is_sequence: whether inputs are (batch, steps, in), and results (batch, steps', filters).
        input_scale, input_zero_point, scale, zero_point, low, high, weight_bits: as in
            `ProductLayer`.
    """

    kind = "quantized_conv"

    def __init__(
        self,
        filters: int,
        kernel_size: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[Sequence[int]],
        dilation: Sequence[int],
        groups: int,
        input_dilation: Sequence[int],
        is_sequence: bool,
        input_scale: float,
        input_zero_point: int,
        scale: float,
        zero_point: int,
        low: int = LOW,
        high: int = HIGH,
        weight_bits: int = 8,
        name: str | None = None,
    ) -> None:
        of_input = input_scale, input_zero_point
        super().__init__(*of_input, scale, zero_point, low, high, weight_bits, name)
        self.filters = self.positive("filters", filters)
        self.kernel_size = self.pair("kernel_size", kernel_size)
        self.strides = self.pair("strides", strides)
        self.padding = self.sides("padding", padding, 2)
        self.dilation = self.pair("dilation", dilation)
        self.groups = self.divisor("groups", groups, "filters", self.filters)
        self.input_dilation = self.pair("input_dilation", input_dilation)
        self.is_sequence = bool(is_sequence)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], 1 if self.is_sequence else 2)
        channels = self.divided_channels(shapes[0], self.groups)
        self.add_constants((*self.kernel_size, channels, self.filters))

    @property
    def attributes(self) -> dict[str, Any]:
        """The arguments of the operation."""
        return {
            "strides": self.strides,
            "padding": self.padding,
            "dilation": self.dilation,
            "groups": self.groups,
            "input_dilation": self.input_dilation,
            "pad_value": self.input_zero_point,
            **self.output_range,
        }

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = expand_dims(inputs[0], 1) if self.is_sequence else inputs[0]
        y = quantized_conv2d(x, *self.constants, **self.attributes)
        return squeeze(y, 1) if self.is_sequence else y
