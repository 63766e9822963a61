"""The layer that trains a network for integer arithmetic, and the choice of scales."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.errors import ShapeError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.ops.elementwise.definitions import (
    absolute,
    clip,
    greater,
    maximum,
    minimum,
    round,
    where,
)
from playgrad.ops.elementwise.fake_quantize import fake_quantize
from playgrad.ops.reductions.reduce import reduce_max, reduce_min
from playgrad.ops.training.replica import cross_replica_mean
from playgrad.records import LayerRecord

BITS = range(2, 9)
_LEAST_RANGE = 2.0**-90
"""A smaller range counts as none: scales are at least 2**-100, as `quantize_linear` takes them."""


def limits(bits: int, symmetric: bool = False) -> tuple[int, int]:
    """Return the smallest and the largest integer of ``bits`` bits; -127 and 127 if symmetric."""
    half = 1 << bits - 1
    return (1 - half if symmetric else -half), half - 1


def affine_parameters(low: Any, high: Any, bits: int = 8) -> tuple[Tensor, Tensor]:
    """Return scale and zero point of integers for numbers from ``low`` to ``high``, as float32.

    The range is widened to include 0, which a whole number stands for (Jacob et al. 2018). The
    scale of a range of 0 alone is 1.
    """
    least, most = limits(bits)
    low, high = minimum(low, 0.0), maximum(high, 0.0)
    width = high - low
    scale = where(greater(width, _LEAST_RANGE), width / float(most - least), 1.0)
    return scale, clip(round(float(least) - low / scale), float(least), float(most))


def symmetric_scale(weights: Any, axes: Sequence[int], bits: int = 8) -> Tensor:
    """Return the scale of integers for ``weights``, largest along ``axes``; 1 where all are 0."""
    most = reduce_max(absolute(weights), list(axes), keepdims=True)
    return where(greater(most, _LEAST_RANGE), most / float(limits(bits)[1]), 1.0)


class FakeQuantize(Layer):
    """Round to what integers of a few bits can hold, so that training learns to live with it.

    Jacob et al. 2018. The range is that of the inputs: in training, moving averages of the smallest
    and the largest input of a batch, widened to include 0. Before the first batch of a training
    inputs pass unchanged. Frozen (``layer.trainable = False``), it keeps its range. Gradients pass
    unchanged within the range, and are 0 outside. Inputs (batch, ...), result of the same shape.

    `playgrad.quantize` makes the integers of these ranges.

    Args:
        bits: 2 to 8.
        momentum: the fraction of the moving averages that is kept in each step; the first batch
            sets them.

    Raises:
        ShapeError: an argument is out of bounds.
    """

    kind = "fake_quantize"
    record = LayerRecord(
        rule="same",
    )
    passes_mask = True

    def __init__(self, bits: int = 8, momentum: float = 0.99, name: str | None = None) -> None:
        super().__init__(name)
        self.bits = self.positive("bits", bits)
        if self.bits not in BITS:
            raise ShapeError(
                f"bits of FakeQuantize must be {BITS[0]} to {BITS[-1]}, got {bits}.",
                source=self.source,
            )
        self.momentum = self.number("momentum", momentum, most=1.0)

    def build(self, *shapes: Shape) -> None:
        for name in ("low", "high", "observed"):
            self.add_weight(name, (), "zeros", trainable=False)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        moves = training and self.trainable
        low = self._moved("low", reduce_min(x)) if moves else self.variables["low"]
        high = self._moved("high", reduce_max(x)) if moves else self.variables["high"]
        if moves:
            self.add_update(self.variables["observed"], lambda observed: observed * 0.0 + 1.0)
        scale, zero_point = affine_parameters(low, high, self.bits)
        result = fake_quantize(x, scale, zero_point, *limits(self.bits))
        return result if moves else where(greater(self.variables["observed"], 0.0), result, x)

    def _moved(self, name: str, value: Tensor) -> Tensor:
        """Return the range with that of the batch, and have the step keep it.

        A replica rounds by the range of its part of the batch; replicas keep the mean of theirs.
        """
        observed = self.variables["observed"]

        def moved(average: Tensor, value: Tensor) -> Tensor:
            mean = average * self.momentum + value * (1.0 - self.momentum)
            return where(greater(observed, 0.0), mean, value)

        kept = cross_replica_mean(value)
        self.add_update(self.variables[name], lambda average: moved(average, kept))
        return moved(self.variables[name], value)
