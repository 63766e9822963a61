"""Normalization layers: by the moments of the batch, or of each position."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypedDict, Unpack

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.layer import Layer
from playgrad.nn.masks import beside, mask_of, warn_of_masked_steps
from playgrad.nn.options import ScaleOptions
from playgrad.nn.weighted_layer import ScaledLayer
from playgrad.ops.arrays.broadcast import broadcast_like
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.build import constant, one_or_more, whole
from playgrad.ops.elementwise.definitions import cast, maximum, square, where
from playgrad.ops.reductions.layer_normalization import layer_normalization
from playgrad.ops.reductions.reduce import reduce_mean
from playgrad.ops.reductions.statistics import inverse_deviation
from playgrad.ops.training.replica import cross_replica_mean
from playgrad.records import LayerRecord

_LEAST_SHARE = 1e-12
"""Divisor of a mean over no steps, which is 0."""


class MovingOptions(TypedDict, total=False):
    """Options of a normalization with moving averages, in the order of Keras."""

    beta_initializer: Any
    gamma_initializer: Any
    moving_mean_initializer: Any
    moving_variance_initializer: Any
    beta_regularizer: Any
    gamma_regularizer: Any
    beta_constraint: Any
    gamma_constraint: Any
    name: str | None


class BatchNormalization(ScaledLayer):
    """Batch normalization: ``(inputs - mean) / sqrt(variance + epsilon) * gamma + beta``.

    Ioffe and Szegedy 2015, as in Keras. Each channel is normalized separately. In training, mean
    and (biased) variance are computed over the batch, and moving averages are updated with them;
    otherwise, and while the layer is frozen, the moving averages are used. Steps that the mask of
    the inputs skips do not count in the moments. Inputs (batch, ...), result of the same shape.

    Args:
        axis: the axis of the channels; moments are computed along all others.
        momentum: the fraction of the moving averages that is kept in each step.
        epsilon: added to the variance, so that it is never 0.
        center: whether there is a ``beta``.
        scale: whether there is a ``gamma``.
        beta_initializer, gamma_initializer: name or `Initializer`.
        moving_mean_initializer, moving_variance_initializer: initializers of the moving averages.
        beta_regularizer, gamma_regularizer: name or `Regularizer`; None for none.
        beta_constraint, gamma_constraint: name or `Constraint`; None for none.
        synchronized: whether replicas normalize by the moments of the whole batch, rather than of
            their part of it.
    """

    kind = "batch_normalization"
    record = LayerRecord(
        about=(
            "Brings each feature to mean 0 and deviation 1 in a batch, so that deep "
            "networks train faster."
        ),
        menu=("normalization", 1),
        fields=(cards.number("momentum", "momentum", most=0.999, step=0.01),),
        rule="normalization 2",
        keras="BatchNormalization",
        tfjs="axis momentum epsilon center scale",
        torch="batch_normalization",
        from_torch={
            "BatchNorm1d": ("-num_features eps>epsilon -momentum -affine", "axis=1"),
            "BatchNorm2d": ("-num_features eps>epsilon -momentum -affine", "axis=1"),
        },
    )
    passes_mask = True
    defaults: ClassVar[Mapping[str, Any]] = {
        **ScaledLayer.defaults,
        "moving_mean_initializer": "zeros",
        "moving_variance_initializer": "ones",
    }

    def __init__(
        self,
        axis: int = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        *,
        synchronized: bool = False,
        **options: Unpack[MovingOptions],
    ) -> None:
        super().__init__(center, scale, **options)
        self.axis = int(axis)
        self.momentum = self.number("momentum", momentum, most=1.0)
        self.epsilon = self.number("epsilon", epsilon, most=math.inf)
        self.synchronized = bool(synchronized)

    def build(self, *shapes: Shape) -> None:
        channels = self.known(shapes[0], self._channel_axis(shapes[0]))
        self.add_scale(channels)
        for name in ("moving_mean", "moving_variance"):
            initializer = getattr(self, f"{name}_initializer")
            self.add_weight(name, (channels,), initializer, trainable=False)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if training and self.trainable:
            centred, variance = self._batch_moments(x)
        else:
            centred = x - self._along_channels(self.variables["moving_mean"], x)
            variance = self.variables["moving_variance"]
        factor = inverse_deviation(variance, self.epsilon)
        if self.scale:
            factor = factor * self.variables["gamma"]
        result = centred * self._along_channels(factor, x)
        if not self.center:
            return result
        return result + self._along_channels(self.variables["beta"], x)

    def _batch_moments(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``x`` minus its mean, and its variance; update the moving averages."""
        channel = self._channel_axis(x.shape)
        others = [axis for axis in range(x.spec.rank) if axis != channel]
        mean = self._mean(x, x, others)
        # In two passes: the difference of large squares would lose the variance to rounding. The
        # mean is negated, not the gradient, which is as large as x.
        centred = x + self._along_channels(-mean, x)
        variance = self._mean(square(centred), x, others)
        self._update_average("moving_mean", mean)
        self._update_average("moving_variance", variance)
        return centred, variance

    def _mean(self, values: Tensor, x: Tensor, axes: list[int]) -> Tensor:
        """Return the mean of ``values`` over the steps that the mask of ``x`` keeps; 0 if none."""
        mask = mask_of(x)
        if mask is None:
            mean = reduce_mean(values, axes)
            return cross_replica_mean(mean) if self.synchronized else mean
        kept = broadcast_like(beside(mask, x), x)
        mean = reduce_mean(where(kept, values, 0.0), axes)
        share = reduce_mean(cast(kept, "float32"), axes)
        if self.synchronized:
            mean, share = cross_replica_mean(mean), cross_replica_mean(share)
        return mean / maximum(share, _LEAST_SHARE)

    def _update_average(self, average: str, value: Tensor) -> None:
        # Replicas have averages of their own, which must stay equal. Synchronized moments do not
        # ensure that: each micro-batch of a replica has its own.
        mean = cross_replica_mean(value)
        self.add_update(
            self.variables[average],
            lambda moving: moving * self.momentum + mean * (1.0 - self.momentum),
        )

    def _channel_axis(self, shape: Shape) -> int:
        return axis_after_batch(self, self.axis, shape)

    def _along_channels(self, vector: Tensor, x: Tensor) -> Tensor:
        """Return ``vector`` (channels,) in a shape that broadcasts along the channels of ``x``."""
        trailing = x.spec.rank - 1 - self._channel_axis(x.shape)
        return reshape(vector, [-1] + [1] * trailing) if trailing else vector


class LayerNormalization(ScaledLayer):
    """Layer normalization: ``(inputs - mean) / sqrt(variance + epsilon) * gamma + beta``.

    Ba, Kiros and Hinton 2016. Mean and (biased) variance are computed along ``axis``, both in
    training and afterwards. Inputs (batch, ...), result of the same shape.

    Args:
        axis: the axis to normalize, or several, with one ``gamma`` and one ``beta`` for each
            position along them.
        epsilon: added to the variance, so that it is never 0.
        center: whether there is a ``beta``.
        scale: whether there is a ``gamma``.
        beta_initializer, gamma_initializer: name or `Initializer`.
        beta_regularizer, gamma_regularizer: name or `Regularizer`; None for none.
        beta_constraint, gamma_constraint: name or `Constraint`; None for none.
    """

    kind = "layer_normalization"
    record = LayerRecord(
        about="Brings the features of each sample to mean 0 and deviation 1.",
        menu=("normalization", 2),
        rule="normalization 0",
        keras="LayerNormalization",
        tfjs="axis epsilon center scale",
        torch="layer_normalization",
        from_torch={"LayerNorm": ("-normalized_shape eps>epsilon",)},
        is_positionwise=True,
    )
    passes_mask = True

    def __init__(
        self,
        axis: int | Sequence[int] = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        **options: Unpack[ScaleOptions],
    ) -> None:
        super().__init__(center, scale, **options)
        self.axis = axis_argument(self, axis)
        self.epsilon = self.number("epsilon", epsilon, most=math.inf)

    def build(self, *shapes: Shape) -> None:
        axes = axes_after_batch(self, self.axis, shapes[0])
        self.add_scale(*(self.known(shapes[0], axis) for axis in axes))

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        axes = axes_after_batch(self, self.axis, x.shape)
        warn_of_masked_steps(self.name, x, axes)
        if axes == [x.spec.rank - 1]:
            width = self.known(x.shape, -1)
            gamma = self.variables["gamma"] if self.scale else constant(np.ones(width), x.dtype)
            beta = self.variables["beta"] if self.center else constant(np.zeros(width), x.dtype)
            return layer_normalization(x, gamma, beta, self.epsilon)
        centred = x - reduce_mean(x, axes, keepdims=True)
        variance = reduce_mean(square(centred), axes, keepdims=True)
        result = centred * inverse_deviation(variance, self.epsilon)
        sizes = [self.known(x.shape, n) if n in axes else 1 for n in range(axes[0], x.spec.rank)]
        if self.scale:
            result = result * reshape(self.variables["gamma"], sizes)
        if self.center:
            result = result + reshape(self.variables["beta"], sizes)
        return result


def axis_argument(layer: Layer, axis: Any) -> int | tuple[int, ...]:
    """Return an argument that is one axis, or several, as ints.

    Raises:
        ShapeError: it is neither.
    """
    what = f"axis of {type(layer).__name__}"
    if isinstance(axis, (list, tuple)) and axis:
        return tuple(whole(each, what) for each in axis)
    return whole(axis, what)


def axes_after_batch(layer: Layer, axis: int | tuple[int, ...], shape: Shape) -> list[int]:
    """Return one axis, or several, counted from the front and sorted.

    Raises:
        ShapeError: ``shape`` lacks one of them, it is that of the batch, or is listed twice.
    """
    axes = sorted(axis_after_batch(layer, each, shape) for each in one_or_more(axis))
    if len({*axes}) < len(axes):
        raise ShapeError(
            f"layer '{layer.name}' normalizes along axes {axis}, which name one axis of inputs of "
            f"shape {shape_text(shape)} twice."
        )
    return axes


def axis_after_batch(layer: Layer, axis: int, shape: Shape) -> int:
    """Return ``axis`` counted from the front.

    Raises:
        ShapeError: ``shape`` has no such axis, or it is that of the batch.
    """
    rank = len(shape)
    if not -rank <= axis < rank or axis % rank == 0:
        raise ShapeError(
            f"layer '{layer.name}' normalizes along axis {axis}, but inputs of shape "
            f"{shape_text(shape)} have no such axis after the batch."
        )
    return axis % rank
