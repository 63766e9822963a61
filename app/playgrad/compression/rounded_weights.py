"""A layer whose weights are rounded in training as they will be stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.dtypes import dtype
from playgrad.errors import ShapeError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.conv2d_transpose import Conv2DTranspose
from playgrad.nn.depthwise_conv import DepthwiseConv2D
from playgrad.nn.fake_quantize import BITS, affine_parameters, limits, symmetric_scale
from playgrad.nn.layer import Layer
from playgrad.nn.wrapper import WrapperLayer
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.elementwise.fake_quantize import fake_quantize

_MOST_STEPS = 1 << 30
"""Of a bias."""


class QuantizationAware(WrapperLayer):
    """A layer whose kernel is rounded to integers of ``bits`` bits, with a scale for each output.

    The scale follows the largest weight of the output in each step, and gradients pass the rounding
    unchanged. The bias is rounded to the step of the sums, if the range of the inputs is known: its
    ends are further inputs, ``layer(x, low, high)``.

    Args:
        layer: a layer with a kernel, of which a copy is used.
        bits: 2 to 8.
        input_factor: the range of ``x`` is from ``low`` to ``high``, times this.
    """

    kind = "quantization_aware"
    takes_floats = False

    def __init__(
        self, layer: Layer, bits: int = 8, input_factor: float = 1.0, name: str | None = None
    ) -> None:
        super().__init__(name)
        self.layer = layer
        self.bits = checked_bits(bits)
        self.input_factor = float(input_factor)
        self._inner = layer.clone()

    def reset(self) -> None:
        super().reset()
        self._inner.reset()

    def build(self, *shapes: Shape) -> None:
        self.contain("layer", self._inner, shapes[0])

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        inner, variables = self._inner, self._inner.variables
        x, ends = inputs[0], inputs[1:]
        if not dtype(x.dtype).floating:
            x = cast(x, "float32")
        kernel = variables["kernel"]
        scale = symmetric_scale(kernel, _summed_axes(inner, kernel), self.bits)
        rounded: Any = fake_quantize(kernel, scale, 0.0, *limits(self.bits, symmetric=True))
        inner.variables = {**variables, "kernel": rounded}
        if ends and "bias" in variables:
            input_scale, _ = affine_parameters(ends[0], ends[1])
            step = input_scale * self.input_factor * reshape(scale, (-1,))
            bias: Any = fake_quantize(variables["bias"], step, 0.0, -_MOST_STEPS, _MOST_STEPS)
            inner.variables["bias"] = bias
        try:
            return inner.call(x, training=training)
        finally:
            inner.variables = variables


def checked_bits(bits: Any) -> int:
    """Return the bits of weights.

    Raises:
        ShapeError: they are not a whole number from 2 to 8.
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or bits not in BITS:
        raise ShapeError(f"weights have {BITS[0]} to {BITS[-1]} bits, got {bits!r}.")
    return bits


def _summed_axes(layer: Layer, kernel: Tensor) -> Sequence[int]:
    """Return the axes of a kernel that belong to one output."""
    if isinstance(layer, DepthwiseConv2D):
        return (0, 1)
    if isinstance(layer, Conv2DTranspose):
        return (0, 1, 3)
    return range(kernel.spec.rank - 1)
