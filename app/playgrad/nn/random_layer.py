"""The base class of layers that change images at random in training."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from playgrad.errors import ShapeError
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.seeds import seed_of
from playgrad.ops.random.uniform_like import random_uniform_like


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

        Args:
            number: tells apart the numbers that a layer draws.
        """
        uniform = random_uniform_like(images[:, :1, :1, :1], seed_of(self, number))
        return uniform * (high - low) + low

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
