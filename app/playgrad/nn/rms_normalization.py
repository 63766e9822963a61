"""Normalization by the root mean square."""

from __future__ import annotations

import math
from collections.abc import Sequence

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.masks import warn_of_masked_steps
from playgrad.nn.normalization import axes_after_batch, axis_argument
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import square
from playgrad.ops.reductions.reduce import reduce_mean
from playgrad.ops.reductions.statistics import inverse_deviation
from playgrad.records import LayerRecord


class RMSNormalization(Layer):
    """Normalization by the root mean square: ``inputs / sqrt(mean(inputs**2) + epsilon) * scale``.

    Zhang and Sennrich 2019. The mean is computed along ``axis``. Inputs (batch, ...), result of the
    same shape.

    Args:
        axis: the axis to normalize, or several, with one ``scale`` for each position along them.
        epsilon: added to the mean, so that it is never 0.
    """

    kind = "rms_normalization"
    record = LayerRecord(
        rule="rootMeanSquare",
        keras="RMSNormalization",
        torch="rms_normalization",
    )
    passes_mask = True

    def __init__(
        self, axis: int | Sequence[int] = -1, epsilon: float = 1e-6, name: str | None = None
    ) -> None:
        super().__init__(name)
        self.axis = axis_argument(self, axis)
        self.epsilon = self.number("epsilon", epsilon, most=math.inf)

    def build(self, *shapes: Shape) -> None:
        axes = axes_after_batch(self, self.axis, shapes[0])
        sizes = [self.known(shapes[0], axis) for axis in axes]
        self.add_weight("scale", sizes, "ones")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        axes = axes_after_batch(self, self.axis, x.shape)
        warn_of_masked_steps(self.name, x, axes)
        factor = inverse_deviation(reduce_mean(square(x), axes, keepdims=True), self.epsilon)
        sizes = [self.known(x.shape, n) if n in axes else 1 for n in range(1, x.spec.rank)]
        return x * factor * reshape(self.variables["scale"], sizes)
