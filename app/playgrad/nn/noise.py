"""Layers that disturb their inputs in training: noise, and dropout of whole channels."""

from __future__ import annotations

import math
import zlib
from typing import ClassVar

import numpy as np

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.basic import Dropout
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.shape import expand_dims, reshape_like
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import cos, log, maximum, sqrt
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.dropout import dropout

_BITS = 24


class GaussianNoise(Layer):
    """In training, add noise from a normal distribution with mean 0. Result of the same shape.

    Args:
        stddev: the standard deviation, between 0 and 1.
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    kind = "gaussian_noise"
    passes_mask = True

    def __init__(self, stddev: float, seed: int | None = None, name: str | None = None) -> None:
        super().__init__(name)
        self.stddev = self.number("stddev", stddev, most=1.0)
        self.seed = seed

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x = inputs[0]
        if not training or self.stddev == 0.0:
            return x
        # Box and Muller 1958, of two uniform numbers.
        radius = sqrt(log(maximum(self._uniform(x, 0), 0.5**_BITS)) * -2.0)
        angle = self._uniform(x, 1) * (2.0 * math.pi)
        return x + radius * cos(angle) * self.stddev

    def _uniform(self, x: Tensor, number: int) -> Tensor:
        """Return numbers from 0 to below 1 in the shape of ``x``.

        They are made of 24 random bits each. `dropout` draws them, because its numbers have the
        shape of a tensor that may not be known yet, and a replica draws those of its share of the
        batch.
        """
        seed = zlib.crc32(str(self.name).encode()) if self.seed is None else self.seed
        ones = expand_dims(ones_like(x), -1) * constant(np.ones(_BITS, np.float32))
        bits = dropout(ones, 0.5, seed=(seed + number) & 0xFFFFFFFF)  # 0 or 2
        places = (0.5 ** np.arange(2, _BITS + 2)).astype(np.float32)[:, None]
        return reshape_like(matmul(bits, constant(places)), x)


class _SpatialDropout(Dropout):
    dimensions: ClassVar[str]

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], self.dimensions.count(",") + 1, self.dimensions)

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
    dimensions = "(batch, steps, channels)"


class SpatialDropout2D(_SpatialDropout):
    """Dropout of whole channels of an image (batch, height, width, channels). Tompson et al. 2015.

    Args:
        rate: the probability that a channel of a sample is dropped, at least 0 and below 1.
        data_format: None or "channels_last".
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    kind = "spatial_dropout2d"
    passes_mask = False
    dimensions = "(batch, height, width, channels)"

    def __init__(
        self,
        rate: float,
        data_format: str | None = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(rate, seed, name)
        self.data_format = self.channels_last(data_format)
