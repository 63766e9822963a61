"""Normalization of activations: by the moments of the batch, or of each sample by its own."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import rsqrt, square
from playgrad.ops.reductions.reduce import reduce_mean
from playgrad.ops.training.replica import cross_replica_mean


class BatchNormalization(Layer):
    """``(inputs - mean) / sqrt(variance + epsilon) * gamma + beta``, for each channel by itself.

    Ioffe and Szegedy 2015, with the meaning that Keras gives it: in training, mean and (biased)
    variance are those of the batch, and moving averages follow them; otherwise they are these
    averages. Of any shape (batch, ...) to the same shape.

    Args:
        axis: the channels; moments are taken along all other axes.
        momentum: what is kept of the moving averages at each step.
        center, scale: whether there is a ``beta``, a ``gamma``.
        synchronized: replicas that train on parts of a batch normalize by the moments of the
            whole, instead of each by those of its part.
    """

    kind = "batch_normalization"

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        synchronized: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.axis = int(axis)
        self.momentum = _number(self, "momentum", momentum, most=1.0)
        self.epsilon = _number(self, "epsilon", epsilon, most=math.inf)
        self.center = bool(center)
        self.scale = bool(scale)
        self.synchronized = bool(synchronized)

    def build(self, *shapes: Shape) -> None:
        channels = (self.known(shapes[0], self._channel_axis(shapes[0])),)
        if self.scale:
            self.add_weight("gamma", channels, "ones")
        if self.center:
            self.add_weight("beta", channels, "zeros")
        self.add_weight("moving_mean", channels, "zeros", trainable=False)
        self.add_weight("moving_variance", channels, "ones", trainable=False)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if training:
            centred, variance = self._batch_moments(x)
        else:
            centred = x - self._along_channels(self.variables["moving_mean"], x)
            variance = self.variables["moving_variance"]
        factor = rsqrt(variance + self.epsilon)
        if self.scale:
            factor = factor * self.variables["gamma"]
        result = centred * self._along_channels(factor, x)
        if not self.center:
            return result
        return result + self._along_channels(self.variables["beta"], x)

    def _batch_moments(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """``x`` minus its mean, and its variance, which the moving averages take on."""
        channel = self._channel_axis(x.shape)
        others = [axis for axis in range(x.spec.rank) if axis != channel]
        mean = reduce_mean(x, others)
        if self.synchronized:
            mean = cross_replica_mean(mean)
        # In two passes: the difference of large squares would lose the variance to rounding. The
        # mean is negated, not the gradient, which is as large as x.
        centred = x + self._along_channels(-mean, x)
        variance = reduce_mean(square(centred), others)
        if self.synchronized:
            variance = cross_replica_mean(variance)
        self._follow("moving_mean", mean)
        self._follow("moving_variance", variance)
        return centred, variance

    def _follow(self, average: str, value: Tensor) -> None:
        # Replicas keep averages of their own, which must stay equal. Also where the moments are
        # synchronized: a replica's micro-batches still have one each.
        agreed = cross_replica_mean(value)
        self.add_update(
            self.variables[average],
            lambda moving: moving * self.momentum + agreed * (1.0 - self.momentum),
        )

    def _channel_axis(self, shape: Shape) -> int:
        return _axis_behind_batch(self, self.axis, shape)

    def _along_channels(self, vector: Tensor, x: Tensor) -> Tensor:
        """``vector`` (channels,) in a shape that broadcasts along the channels of ``x``."""
        behind = x.spec.rank - 1 - self._channel_axis(x.shape)
        return reshape(vector, [-1] + [1] * behind) if behind else vector


class LayerNormalization(Layer):
    """``(inputs - mean) / sqrt(variance + epsilon) * gamma + beta``, each position by itself.

    Ba, Kiros and Hinton 2016: mean and (biased) variance are those along ``axis``, the same in
    training and afterwards. Of any shape (batch, ...) to the same shape.

    Args:
        axis: what is normalized, with one ``gamma`` and one ``beta`` for each place along it.
        center, scale: whether there is a ``beta``, a ``gamma``.
    """

    kind = "layer_normalization"

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.axis = int(axis)
        self.epsilon = _number(self, "epsilon", epsilon, most=math.inf)
        self.center = bool(center)
        self.scale = bool(scale)

    def build(self, *shapes: Shape) -> None:
        size = (self.known(shapes[0], _axis_behind_batch(self, self.axis, shapes[0])),)
        if self.scale:
            self.add_weight("gamma", size, "ones")
        if self.center:
            self.add_weight("beta", size, "zeros")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        axis = _axis_behind_batch(self, self.axis, x.shape)
        centred = x - reduce_mean(x, axis, keepdims=True)
        result = centred * rsqrt(reduce_mean(square(centred), axis, keepdims=True) + self.epsilon)
        behind = [1] * (len(x.shape) - 1 - axis)
        if self.scale:
            result = result * reshape(self.variables["gamma"], [-1, *behind])
        if self.center:
            result = result + reshape(self.variables["beta"], [-1, *behind])
        return result


def _axis_behind_batch(layer: Layer, axis: int, shape: Shape) -> int:
    rank = len(shape)
    if not -rank <= axis < rank or axis % rank == 0:
        raise ShapeError(
            f"layer '{layer.name}' normalizes along axis {axis}, which is not one behind "
            f"the batch in inputs of shape {shape_text(shape)}."
        )
    return axis % rank


def _number(layer: Layer, what: str, value: Any, most: float) -> float:
    number = float(value) if isinstance(value, Real) else math.nan
    if not 0.0 <= number <= most:
        raise ShapeError(
            f"{what} of a {type(layer).__name__} layer must be a number from 0 to {most:g}, "
            f"not {value!r}.",
            source=layer.source,
        )
    return number
