"""Layers that change images at random in training, so that a model sees more of them.

Outside of training images pass unchanged. Every image of a batch is changed by numbers of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.nn.random_layer import RandomLayer
from playgrad.nn.sample_images import FILL_MODES, INTERPOLATIONS, centred_grid, sample_images
from playgrad.ops.arrays.gather import gather
from playgrad.ops.arrays.shape import reshape
from playgrad.ops.core.build import constant
from playgrad.ops.elementwise.definitions import cos, maximum, minimum, sin, where
from playgrad.ops.reductions.reduce import reduce_mean
from playgrad.records import LayerRecord

_MODES = ("horizontal_and_vertical", "horizontal", "vertical")


class RandomFlip(RandomLayer):
    """Flip images with probability 1/2, in training.

    Args:
        mode: "horizontal" (left to right), "vertical", or "horizontal_and_vertical", which decides
            for each direction on its own.
        seed: the seed of the random numbers; None derives one from the layer's name.
        data_format: None or "channels_last".
    """

    kind = "random_flip"
    record = LayerRecord(
        rule="same",
        keras="RandomFlip",
    )

    def __init__(
        self,
        mode: str = "horizontal_and_vertical",
        seed: int | None = None,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(seed, name)
        self.mode = self.choice("mode", mode, *_MODES)
        self.data_format = self.format_of_data(data_format)

    def changed(self, images: Tensor) -> Tensor:
        for axis, direction in ((2, "horizontal"), (1, "vertical")):
            if direction in self.mode:
                backwards = np.arange(self.known(images.shape, axis), dtype=np.int32)[::-1].copy()
                flips = self.draw(images, 0.0, 1.0, axis) < 0.5
                images = where(flips, gather(images, constant(backwards), axis=axis), images)
        return images


class _Warp(RandomLayer):
    """A layer that takes the pixels of an image from other places in it."""

    def __init__(
        self,
        fill_mode: str,
        interpolation: str,
        seed: int | None,
        fill_value: float,
        data_format: str | None,
        name: str | None,
    ) -> None:
        super().__init__(seed, name)
        self.fill_mode = self.choice("fill_mode", fill_mode, *FILL_MODES)
        self.interpolation = self.choice("interpolation", interpolation, *INTERPOLATIONS)
        self.fill_value = float(fill_value)
        self.data_format = self.format_of_data(data_format)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the places where pixels are taken from.

        Args:
            y, x: the places of the pixels themselves, from the centre.
        """
        raise NotImplementedError

    def draw_flat(self, images: Tensor, bounds: tuple[float, float], number: int = 0) -> Tensor:
        """Return a number for each image, of shape (batch, 1, 1)."""
        return reshape(self.draw(images, *bounds, number), (-1, 1, 1))

    def changed(self, images: Tensor) -> Tensor:
        height, width, channels = (self.known(images.shape, axis) for axis in (1, 2, 3))
        y, x = self.places(images, centred_grid(height, 1), centred_grid(width, 2))
        zeros = constant(np.zeros((1, height, width), np.float32))
        return sample_images(
            images,
            (height, width, channels),
            y + zeros,
            x + zeros,
            self.fill_mode,
            self.fill_value,
            self.interpolation,
        )


class RandomTranslation(_Warp):
    """Shift images, in training.

    Args:
        height_factor: the shift as a share of the height, down if positive: f for -f to f, or
            (lower, upper).
        width_factor: the same of the width, to the right if positive.
        fill_mode: the pixels outside of the image: "reflect", "constant", "wrap" or "nearest".
        interpolation: "bilinear" or "nearest".
        seed: the seed of the random numbers; None derives one from the layer's name.
        fill_value: the pixels outside with ``fill_mode="constant"``.
        data_format: None or "channels_last".
    """

    kind = "random_translation"
    record = LayerRecord(
        rule="same",
        keras="RandomTranslation",
    )

    def __init__(
        self,
        height_factor: float | Sequence[float],
        width_factor: float | Sequence[float],
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, name)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._height = self.range_of("height_factor", height_factor)
        self._width = self.range_of("width_factor", width_factor)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        height, width = self.known(images.shape, 1), self.known(images.shape, 2)
        down = self.draw_flat(images, self._height, 0) * float(height)
        right = self.draw_flat(images, self._width, 1) * float(width)
        return y - down, x - right


class RandomRotation(_Warp):
    """Rotate images about their centre, in training.

    Args:
        factor: the angle as a share of a whole turn, counter-clockwise if positive: f for -f to f,
            or (lower, upper).
        fill_mode, interpolation, seed, fill_value, data_format: as for `RandomTranslation`.
    """

    kind = "random_rotation"
    record = LayerRecord(
        rule="same",
        keras="RandomRotation",
    )

    def __init__(
        self,
        factor: float | Sequence[float],
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, name)
        self.factor = factor
        self._turns = self.range_of("factor", factor)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        angle = self.draw_flat(images, self._turns) * (2 * math.pi)
        return x * sin(angle) + y * cos(angle), x * cos(angle) - y * sin(angle)


class RandomZoom(_Warp):
    """Zoom images about their centre, in training.

    Args:
        height_factor: f for -f to f, or (lower, upper), above -1. A factor of 0.2 shows 20 % more
            of the height than there is: the image becomes smaller. -0.2 shows 20 % less.
        width_factor: the same of the width; None to zoom both directions alike.
        fill_mode, interpolation, seed, fill_value, data_format: as for `RandomTranslation`.
    """

    kind = "random_zoom"
    record = LayerRecord(
        rule="same",
        keras="RandomZoom",
    )

    def __init__(
        self,
        height_factor: float | Sequence[float],
        width_factor: float | Sequence[float] | None = None,
        fill_mode: str = "reflect",
        interpolation: str = "bilinear",
        seed: int | None = None,
        fill_value: float = 0.0,
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(fill_mode, interpolation, seed, fill_value, data_format, name)
        self.height_factor, self.width_factor = height_factor, width_factor
        self._height = self.range_of("height_factor", height_factor, -1.0)
        self._width = None
        if width_factor is not None:
            self._width = self.range_of("width_factor", width_factor, -1.0)

    def places(self, images: Tensor, y: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        vertical = self.draw_flat(images, self._height, 0) + 1.0
        if self._width is None:
            return y * vertical, x * vertical
        return y * vertical, x * (self.draw_flat(images, self._width, 1) + 1.0)


class RandomContrast(RandomLayer):
    """Change the contrast of images, in training: distances from the mean of each channel.

    Args:
        factor: f for factors from 1 - f to 1 + f, or (lower, upper) for 1 - lower to 1 + upper.
        value_range: the range of pixels, to which results are clipped.
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    kind = "random_contrast"
    record = LayerRecord(
        rule="same",
        keras="RandomContrast",
    )

    def __init__(
        self,
        factor: float | Sequence[float],
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(seed, name)
        self.factor = factor
        self.value_range = list(self.range_of("value_range", value_range))
        lower, upper = factor if isinstance(factor, Sequence) else (factor, factor)
        self._factors = self.range_of("factor", (1.0 - lower, 1.0 + upper), 0.0)

    def changed(self, images: Tensor) -> Tensor:
        mean = reduce_mean(images, axis=(1, 2), keepdims=True)
        changed = (images - mean) * self.draw(images, *self._factors) + mean
        return _clipped(changed, self.value_range)


class RandomBrightness(RandomLayer):
    """Change the brightness of images, in training: add a number to all pixels of an image.

    Args:
        factor: the number as a share of ``value_range``: f for -f to f, or (lower, upper).
        value_range: the range of pixels, to which results are clipped.
        seed: the seed of the random numbers; None derives one from the layer's name.
    """

    kind = "random_brightness"
    record = LayerRecord(
        rule="same",
        keras="RandomBrightness",
    )

    def __init__(
        self,
        factor: float | Sequence[float],
        value_range: Sequence[float] = (0, 255),
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(seed, name)
        self.factor = factor
        self.value_range = list(self.range_of("value_range", value_range))
        self._shares = self.range_of("factor", factor)

    def changed(self, images: Tensor) -> Tensor:
        low, high = self.value_range
        return _clipped(images + self.draw(images, *self._shares) * (high - low), self.value_range)


def _clipped(images: Tensor, value_range: Sequence[Any]) -> Tensor:
    return minimum(maximum(images, float(value_range[0])), float(value_range[1]))
