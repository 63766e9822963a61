"""The base classes of layers that compute in integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError
from playgrad.graph.eager import graph_mode
from playgrad.nn.layer import Layer
from playgrad.ops.core.build import whole
from playgrad.ops.state import Variable

Array = np.ndarray[Any, Any]
LOW, HIGH = -128, 127


class QuantizedLayer(Layer):
    """A layer with int8 results.

    Args:
        scale: the number that one step of the results stands for, positive.
        zero_point: the result that stands for 0, from -128 to 127.
    """

    takes_floats = False

    def __init__(self, scale: float, zero_point: int, name: str | None = None) -> None:
        super().__init__(name)
        self.scale = float(scale)
        self.zero_point = self.byte("zero_point", zero_point)

    def byte(self, what: str, value: Any) -> int:
        """Return ``value``, the argument ``what``, as an int from -128 to 127.

        Raises:
            ShapeError: it is none.
        """
        number = whole(value, f"{what} of {type(self).__name__}")
        if not LOW <= number <= HIGH:
            raise ShapeError(
                f"{what} of {type(self).__name__} must be {LOW} to {HIGH}, got {number}.",
                source=self.source,
            )
        return number

    def add_constant(self, name: str, shape: Sequence[int], dtype: str) -> Variable:
        """Create the variable ``<layer>/<name>`` of zeros, which is never trained. For ``build``.

        `playgrad.quantize` sets its value, or a file does.
        """
        assert self.graph is not None
        with graph_mode(), self.graph.control_dependencies(None), self.graph.phase("variable"):
            zeros = np.zeros(tuple(shape), dtype)
            variable = Variable(zeros, name, trainable=False, dtype=dtype)
        self.variables[name] = variable
        self.keep_fixed(name)
        return variable


class ProductLayer(QuantizedLayer):
    """A layer of sums of products.

    Attributes:
        variables: "kernel" of int8, and for each output "bias", "multiplier" and "shift", the int32
            arguments of the operation.

    Args:
        input_scale, input_zero_point: those of the inputs.
        low, high: the smallest and the largest result.
        weight_bits: the bits of a weight, of which files may store fewer than 8.
    """

    def __init__(
        self,
        input_scale: float,
        input_zero_point: int,
        scale: float,
        zero_point: int,
        low: int = LOW,
        high: int = HIGH,
        weight_bits: int = 8,
        name: str | None = None,
    ) -> None:
        super().__init__(scale, zero_point, name)
        self.input_scale = float(input_scale)
        self.input_zero_point = self.byte("input_zero_point", input_zero_point)
        self.low = self.byte("low", low)
        self.high = self.byte("high", high)
        self.weight_bits = self.positive("weight_bits", weight_bits)

    def add_constants(self, shape: Sequence[int]) -> None:
        """Create the variables for a kernel of ``shape``."""
        self.add_constant("kernel", shape, "int8")
        for name in ("bias", "multiplier", "shift"):
            self.add_constant(name, shape[-1:], "int32")

    @property
    def constants(self) -> list[Variable]:
        """The inputs of the operation beside the first."""
        return [self.variables[name] for name in ("kernel", "bias", "multiplier", "shift")]

    def weight_scale(self, multiplier: Array, shift: Array) -> Array:
        """Return the float32 numbers that one step of the kernel stands for, one for each output.

        They follow from the values of the variables of these names, which have more digits.
        """
        factor = np.ldexp(multiplier.astype(np.float64), -shift)
        scales = np.float64(np.float32(self.scale)) / np.float64(np.float32(self.input_scale))
        return (factor * scales).astype(np.float32)

    @property
    def output_range(self) -> dict[str, Any]:
        """The arguments of the operation for its results."""
        return {"zero_point": self.zero_point, "low": self.low, "high": self.high}
