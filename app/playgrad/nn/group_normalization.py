"""Normalization by the moments of groups of channels."""

from __future__ import annotations

import math
from typing import Unpack

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.masks import warn_of_masked_steps
from playgrad.nn.normalization import axis_after_batch
from playgrad.nn.options import ScaleOptions
from playgrad.nn.weighted_layer import ScaledLayer
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.elementwise.definitions import square
from playgrad.ops.reductions.reduce import reduce_mean
from playgrad.ops.reductions.statistics import inverse_deviation
from playgrad.records import LayerRecord


class GroupNormalization(ScaledLayer):
    """Group normalization: ``(inputs - mean) / sqrt(variance + epsilon) * gamma + beta``.

    Wu and He 2018. Channels are divided into groups; mean and (biased) variance are computed over
    one group of one sample, both in training and afterwards. Inputs (batch, ...), result of the
    same shape.

    Args:
        groups: the number of groups, which must divide the number of channels; -1 makes each
            channel a group (instance normalization).
        axis: the axis of the channels, with one ``gamma`` and one ``beta`` for each.
        epsilon: added to the variance, so that it is never 0.
        center: whether there is a ``beta``.
        scale: whether there is a ``gamma``.
        beta_initializer, gamma_initializer: name or `Initializer`.
        beta_regularizer, gamma_regularizer: name or `Regularizer`; None for none.
        beta_constraint, gamma_constraint: name or `Constraint`; None for none.
    """

    kind = "group_normalization"
    record = LayerRecord(
        about=(
            "Brings groups of channels of each sample to mean 0 and deviation 1; it works "
            "with small batches, too."
        ),
        menu=("normalization", 3),
        example="4",
        fields=(cards.count("groups", "groups"),),
        rule="groups",
        keras="GroupNormalization",
        torch="group_normalization",
    )
    passes_mask = True

    def __init__(
        self,
        groups: int = 32,
        axis: int = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        **options: Unpack[ScaleOptions],
    ) -> None:
        super().__init__(center, scale, **options)
        self.groups = -1 if groups == -1 else self.positive("groups", groups)
        self.axis = int(axis)
        self.epsilon = self.number("epsilon", epsilon, most=math.inf)

    def build(self, *shapes: Shape) -> None:
        channels = self.known(shapes[0], axis_after_batch(self, self.axis, shapes[0]))
        self.add_scale(channels)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        axis = axis_after_batch(self, self.axis, x.shape)
        warn_of_masked_steps(self.name, x, range(1, x.spec.rank))
        sizes = [self.known(x.shape, i) for i in range(1, x.spec.rank)]
        channels = sizes[axis - 1]
        groups = channels if self.groups == -1 else self.groups
        width = self.group_width(channels, groups, x.shape)
        grouped = reshape(x, [-1, *sizes[: axis - 1], groups, width, *sizes[axis:]])
        others = [i for i in range(1, x.spec.rank + 1) if i != axis]
        centred = grouped - reduce_mean(grouped, others, keepdims=True)
        variance = reduce_mean(square(centred), others, keepdims=True)
        result = reshape(centred * inverse_deviation(variance, self.epsilon), [-1, *sizes])
        trailing = [1] * (x.spec.rank - 1 - axis)
        if self.scale:
            result = result * reshape(self.variables["gamma"], [-1, *trailing])
        if self.center:
            result = result + reshape(self.variables["beta"], [-1, *trailing])
        return result
