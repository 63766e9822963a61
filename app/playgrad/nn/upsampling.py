"""Layers that enlarge images and sequences by whole factors."""

from __future__ import annotations

from typing import Any

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.shape import expand_dims, squeeze
from playgrad.ops.convolution.resize import METHODS, upsample
from playgrad.records import CHANNELS_FIRST, LayerRecord


class UpSampling2D(Layer):
    """Larger images: (batch, height, width, channels), each size multiplied by its factor.

    Args:
        size: the factors: one number, or (vertical, horizontal).
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
        interpolation: "nearest" to repeat pixels, or "bilinear".
    """

    kind = "up_sampling2d"
    record = LayerRecord(
        about="Repeats each pixel, so that the image grows.",
        menu=("images", 9),
        example="2",
        fields=(cards.size("size", "factor"),),
        rule="upsampling 2",
        keras="UpSampling2D",
        tfjs="size interpolation",
        torch="upsampling",
        from_torch={
            "Upsample": (
                "-size scale_factor>size mode>interpolation -align_corners",
                CHANNELS_FIRST,
            )
        },
    )

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.size = self.pair("size", size)
        self.data_format = self.format_of_data(data_format)
        self.interpolation = self.choice("interpolation", interpolation, *METHODS)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], 2)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return upsample(inputs[0], self.size, self.interpolation)


class UpSampling1D(Layer):
    """Sequences with each step repeated: (batch, steps, channels) to (batch, steps * size, ...).

    Args:
        size: how often each step occurs in the result.
    """

    kind = "up_sampling1d"
    record = LayerRecord(
        rule="upsampling 1",
        keras="UpSampling1D",
        torch="upsampling",
    )

    def __init__(self, size: int = 2, name: str | None = None) -> None:
        super().__init__(name)
        self.size = self.single("size", size)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], 1)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return squeeze(upsample(expand_dims(inputs[0], 1), (1, self.size)), 1)
