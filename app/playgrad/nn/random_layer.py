"""The base class of layers that change images at random in training."""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import ShapeError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.dropout import dropout

_BITS = 24


class RandomLayer(Layer):
    """A layer for images (batch, height, width, channels) that does nothing outside of training.

    Args:
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    def __init__(self, seed: int | None, name: str | None) -> None:
        super().__init__(name)
        self.seed = seed

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 4, "(batch, height, width, channels)")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return self.changed(inputs[0]) if training else inputs[0]

    def changed(self, images: Tensor) -> Tensor:
        """Return images changed at random."""
        raise NotImplementedError

    def draw(self, images: Tensor, low: float, high: float, number: int = 0) -> Tensor:
        """Return a number from the uniform distribution for each image, of shape (batch, 1, 1, 1).

        It is made of 24 random bits. `dropout` draws them, because its numbers have the shape of a
        tensor that may not be known yet, and a replica draws those of its share of the batch.

        Args:
            number: tells apart the numbers that a layer draws.
        """
        first = reshape(images[:, :1, :1, :1], (-1, 1))
        ones = cast(first >= first, "float32") * 0.0 + np.ones(_BITS, np.float32)
        seed = zlib.crc32(str(self.name).encode()) if self.seed is None else self.seed
        bits = dropout(ones, 0.5, seed=(seed + number) & 0xFFFFFFFF)  # 0 or 2
        places = (0.5 ** np.arange(2, _BITS + 2)).astype(np.float32)[:, None]
        uniform = matmul(bits, constant(places))
        return reshape(uniform * (high - low) + low, (-1, 1, 1, 1))

    def range_of(self, name: str, factor: Any, least: float = -math.inf) -> tuple[float, float]:
        """Return the bounds that a factor means: a number f is from -f to f.

        Raises:
            ShapeError: it is neither a number of at least 0 nor two numbers in order.
        """
        bounds = list(factor) if isinstance(factor, Sequence) else [-factor, factor]
        if len(bounds) != 2 or not least <= bounds[0] <= bounds[1] < math.inf:
            raise ShapeError(
                f"{name} of {type(self).__name__} must be a number of at least 0, or two numbers "
                f"(lower, upper){'' if least == -math.inf else f' of at least {least:g}'}, got "
                f"{factor!r}."
            )
        return float(bounds[0]), float(bounds[1])
