"""Pooling layers of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from playgrad.compression.quantized_layers.quantized_layer import HIGH, LOW, QuantizedLayer
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.shape import expand_dims, reshape, squeeze
from playgrad.ops.quantized.quantized_avg_pool2d import quantized_avg_pool2d
from playgrad.ops.quantized.quantized_max_pool2d import quantized_max_pool2d


class _QuantizedPooling(QuantizedLayer):
    """Inputs (batch, height, width, channels), results (batch, height', width', channels).

    Args:
        scale, zero_point: of the results.
        window, strides: pairs (vertical, horizontal).
        padding: steps around an image, ((top, bottom), (left, right)).
        is_sequence: whether inputs are (batch, steps, channels), and results likewise.
        is_global: whether results are (batch, channels): there is one window.
    """

    pool: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        scale: float,
        zero_point: int,
        window: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[Sequence[int]],
        is_sequence: bool = False,
        is_global: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(scale, zero_point, name)
        self.window = self.pair("window", window)
        self.strides = self.pair("strides", strides)
        self.padding = self.sides("padding", padding, 2)
        self.is_sequence = bool(is_sequence)
        self.is_global = bool(is_global)

    @property
    def attributes(self) -> dict[str, Any]:
        """The arguments of the operation beside the window."""
        return {}

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], 1 if self.is_sequence else 2)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = expand_dims(inputs[0], 1) if self.is_sequence else inputs[0]
        y = type(self).pool(x, self.window, self.strides, self.padding, **self.attributes)
        if self.is_global:
            return reshape(y, (-1, self.known(y.shape, -1)))
        return squeeze(y, 1) if self.is_sequence else y


class QuantizedMaxPooling(_QuantizedPooling):
    """Maximum of each window of int8, in the scale of the inputs."""

    kind = "quantized_max_pooling"
    pool = staticmethod(quantized_max_pool2d)


class QuantizedAveragePooling(_QuantizedPooling):
    """Mean of each window of int8, in a scale of its own; padding does not count.

    Args:
        input_zero_point, multipliers, shifts, low, high: the arguments of `quantized_avg_pool2d`.
        scale, zero_point, window, strides, padding, is_sequence, is_global: as in
            `QuantizedMaxPooling`.
    """

    kind = "quantized_average_pooling"
    pool = staticmethod(quantized_avg_pool2d)

    def __init__(
        self,
        scale: float,
        zero_point: int,
        window: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[Sequence[int]],
        input_zero_point: int,
        multipliers: Sequence[int],
        shifts: Sequence[int],
        is_sequence: bool = False,
        is_global: bool = False,
        low: int = LOW,
        high: int = HIGH,
        name: str | None = None,
    ) -> None:
        super().__init__(scale, zero_point, window, strides, padding, is_sequence, is_global, name)
        self.low = self.byte("low", low)
        self.high = self.byte("high", high)
        self.input_zero_point = self.byte("input_zero_point", input_zero_point)
        self.multipliers = [self.positive("a multiplier", each) for each in multipliers]
        self.shifts = [self.positive("a shift", each) for each in shifts]

    @property
    def attributes(self) -> dict[str, Any]:
        return {
            "input_zero_point": self.input_zero_point,
            "multipliers": self.multipliers,
            "shifts": self.shifts,
            "zero_point": self.zero_point,
            "low": self.low,
            "high": self.high,
        }
