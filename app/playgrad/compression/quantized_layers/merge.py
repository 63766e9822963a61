"""Layers that merge branches of integers, which have scales of their own."""

from __future__ import annotations

from typing import Any

from playgrad.compression.quantized_layers.quantized_layer import HIGH, LOW, QuantizedLayer
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.quantized.quantized_add import quantized_add
from playgrad.ops.quantized.rescale import rescale


class QuantizedAdd(QuantizedLayer):
    """Sum of two int8 tensors of the same shape; the arguments are those of `quantized_add`."""

    kind = "quantized_add"

    def __init__(
        self,
        scale: float,
        zero_point: int,
        left_zero_point: int,
        right_zero_point: int,
        left_multiplier: int,
        right_multiplier: int,
        shift: int,
        low: int = LOW,
        high: int = HIGH,
        name: str | None = None,
    ) -> None:
        super().__init__(scale, zero_point, name)
        self.left_zero_point = self.byte("left_zero_point", left_zero_point)
        self.right_zero_point = self.byte("right_zero_point", right_zero_point)
        self.left_multiplier = int(left_multiplier)
        self.right_multiplier = int(right_multiplier)
        self.shift = self.positive("shift", shift)
        self.low = self.byte("low", low)
        self.high = self.byte("high", high)

    @property
    def attributes(self) -> dict[str, Any]:
        """The arguments of the operation."""
        return {
            "left_zero_point": self.left_zero_point,
            "right_zero_point": self.right_zero_point,
            "left_multiplier": self.left_multiplier,
            "right_multiplier": self.right_multiplier,
            "shift": self.shift,
            "zero_point": self.zero_point,
            "low": self.low,
            "high": self.high,
        }

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return quantized_add(*inputs, **self.attributes)


class Rescale(QuantizedLayer):
    """The same numbers in another scale; the arguments are those of `rescale`."""

    kind = "rescale"

    def __init__(
        self,
        scale: float,
        zero_point: int,
        input_zero_point: int,
        multiplier: int,
        shift: int,
        low: int = LOW,
        high: int = HIGH,
        name: str | None = None,
    ) -> None:
        super().__init__(scale, zero_point, name)
        self.input_zero_point = self.byte("input_zero_point", input_zero_point)
        self.low = self.byte("low", low)
        self.high = self.byte("high", high)
        self.multiplier = self.positive("multiplier", multiplier)
        self.shift = self.positive("shift", shift)

    @property
    def attributes(self) -> dict[str, Any]:
        """The arguments of the operation."""
        return {
            "input_zero_point": self.input_zero_point,
            "multiplier": self.multiplier,
            "shift": self.shift,
            "zero_point": self.zero_point,
            "low": self.low,
            "high": self.high,
        }

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return rescale(inputs[0], **self.attributes)


class QuantizedConcatenate(QuantizedLayer):
    """Concatenation along ``axis`` of int8 tensors that have one scale; see `Rescale`."""

    kind = "quantized_concatenate"

    def __init__(
        self, scale: float, zero_point: int, axis: int = -1, name: str | None = None
    ) -> None:
        super().__init__(scale, zero_point, name)
        self.axis = int(axis)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return concat(list(inputs), self.axis)
