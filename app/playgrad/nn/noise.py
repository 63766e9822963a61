"""Layers that disturb their inputs in training: noise, and dropout of whole channels."""

from __future__ import annotations

import math
from typing import ClassVar

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.basic import Dropout
from playgrad.nn.layer import Layer
from playgrad.nn.seeds import seed_of
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.elementwise.definitions import cos, log, sqrt
from playgrad.ops.random.uniform_like import random_uniform_like
from playgrad.records import CHANNELS_FIRST, LayerRecord


class GaussianNoise(Layer):
    """In training, add noise from a normal distribution with mean 0. Result of the same shape.

    Args:
        stddev: the standard deviation, between 0 and 1.
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    kind = "gaussian_noise"
    record = LayerRecord(
        about="Adds noise while training, so that the network learns to look past it.",
        menu=("normalization", 4),
        example="0.1",
        fields=(cards.number("stddev", "deviation", most=1, step=0.05),),
        rule="same",
        keras="GaussianNoise",
        tfjs="stddev",
        torch="gaussian_noise",
    )
    passes_mask = True

    def __init__(self, stddev: float, seed: int | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self.stddev = self.number("stddev", stddev, most=1.0)
        self.seed = seed

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if not training or self.stddev == 0.0:
            return x
        first, second = (random_uniform_like(x, seed_of(self, number)) for number in range(2))
        # Box and Muller 1958, of two uniform numbers. 1 - first is not 0.
        radius = sqrt(log(1.0 - first) * -2.0)
        angle = second * (2.0 * math.pi)
        return x + radius * cos(angle) * self.stddev


class _SpatialDropout(Dropout):
    axes: ClassVar[int]

    def __init__(self, rate: float, seed: int | None = None, name: str | None = None) -> None:
        super().__init__(rate, None, seed, name)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], self.axes)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if not training or self.rate == 0.0:
            return x
        first = (slice(0, 1),) * (x.spec.rank - 2)
        return x * super().call(ones_like(x[(slice(None), *first)]), training=True)


class SpatialDropout1D(_SpatialDropout):
    """Dropout of whole channels of a sequence (batch, steps, channels). Tompson et al. 2015.

    Args:
        rate: the probability that a channel of a sample is dropped, at least 0 and below 1.
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    kind = "spatial_dropout1d"
    record = LayerRecord(
        rule="same",
        keras="SpatialDropout1D",
        tfjs="rate",
        torch="spatial_dropout",
    )
    axes = 1


class SpatialDropout2D(_SpatialDropout):
    """Dropout of whole channels of an image (batch, height, width, channels). Tompson et al. 2015.

    Args:
        rate: the probability that a channel of a sample is dropped, at least 0 and below 1.
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    kind = "spatial_dropout2d"
    record = LayerRecord(
        rule="same",
        keras="SpatialDropout2D",
        torch="spatial_dropout",
        from_torch={"Dropout2d": ("p>rate -inplace", CHANNELS_FIRST)},
    )
    axes = 2

    def __init__(
        self,
        rate: float,
        data_format: str | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(rate, seed, name)
        self.data_format = self.format_of_data(data_format)
