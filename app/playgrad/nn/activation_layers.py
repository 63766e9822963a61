"""Activations that have arguments, as layers."""

from __future__ import annotations

from playgrad.errors import ShapeError
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.ops.core.build import normalize_axis
from playgrad.ops.elementwise import activations
from playgrad.ops.elementwise.definitions import greater_equal, minimum, where
from playgrad.ops.reductions.softmax import softmax


class ReLU(Layer):
    """``x`` from ``threshold`` on, at most ``max_value``, and a line of another slope below it.

    Args:
        max_value: the largest result; None for no limit.
        negative_slope: below the threshold the result is ``negative_slope * (x - threshold)``.
        threshold: where the result begins to be ``x``; at least 0.

    Raises:
        ShapeError: an argument is negative.
    """

    kind = "re_lu"

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0.0,
        threshold: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        for what, value in (
            ("max_value", max_value),
            ("negative_slope", negative_slope),
            ("threshold", threshold),
        ):
            if value is not None and value < 0:
                raise ShapeError(f"{what} of ReLU must be at least 0, got {value}.")
        self.max_value = max_value
        self.negative_slope = float(negative_slope)
        self.threshold = float(threshold)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if self.threshold:
            above = where(greater_equal(x, self.threshold), x, 0.0)
        else:
            above = activations.relu(x)
        if self.max_value is not None:
            above = minimum(above, self.max_value)
        if not self.negative_slope:
            return above
        return above + self.negative_slope * minimum(x - self.threshold, 0.0)


class LeakyReLU(Layer):
    """``x`` where it is positive, and ``negative_slope * x`` elsewhere."""

    kind = "leaky_re_lu"

    def __init__(self, negative_slope: float = 0.3, name: str | None = None) -> None:
        super().__init__(name)
        self.negative_slope = float(negative_slope)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return activations.leaky_relu(inputs[0], self.negative_slope)


class ELU(Layer):
    """``x`` where it is positive, and ``alpha * (exp(x) - 1)`` elsewhere (Clevert et al. 2016)."""

    kind = "elu"

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        super().__init__(name)
        self.alpha = float(alpha)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return activations.elu(inputs[0], self.alpha)


class Softmax(Layer):
    """Softmax along ``axis``, as a layer."""

    kind = "softmax"

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__(name)
        self.axis = axis

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return softmax(inputs[0], normalize_axis(self.axis, len(inputs[0].shape)))
