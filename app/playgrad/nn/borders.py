"""Layers that add or remove the borders of images and sequences."""

from __future__ import annotations

from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.pad import pad
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.records import LayerRecord


class ZeroPadding2D(Layer):
    """Zeros around each image: (batch, height, width, channels), each size larger by its padding.

    Args:
        padding: one number for all sides, (vertical, horizontal), or ((top, bottom), (left,
            right)), in pixels.
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
    """

    kind = "zero_padding2d"
    record = LayerRecord(
        about="Adds a border of zeros, so that the next filters reach the edge.",
        menu=("images", 10),
        example="1",
        fields=(cards.size("padding", "border", least=0),),
        rule="borders 2 1 padding",
        keras="ZeroPadding2D",
        tfjs="padding",
        torch="zero_padding",
        keeps_scale=True,
    )

    def __init__(
        self, padding: Any = (1, 1), data_format: str | None = None, name: str | None = None
    ) -> None:
        super().__init__(name)
        self.padding = self.sides("padding", padding, 2)
        self.data_format = self.format_of_data(data_format)

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 4, "(batch, height, width, channels)")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return pad(inputs[0], [(0, 0), *self.padding, (0, 0)])


class ZeroPadding1D(Layer):
    """Zeros before and after each sequence: (batch, steps, channels) to (batch, steps', channels).

    Args:
        padding: one number for both ends, or (before, after), in steps.
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
    """

    kind = "zero_padding1d"
    record = LayerRecord(
        rule="borders 1 1 padding",
        keras="ZeroPadding1D",
        torch="zero_padding",
    )

    def __init__(
        self, padding: Any = 1, data_format: str | None = None, name: str | None = None
    ) -> None:
        super().__init__(name)
        (self.padding,) = self.sides("padding", [padding], 1)
        self.data_format = self.format_of_data(data_format)

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 3, "(batch, steps, channels)")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return pad(inputs[0], [(0, 0), self.padding, (0, 0)])


class Cropping2D(Layer):
    """Images without their borders: (batch, height, width, channels), each size smaller.

    Args:
        cropping: one number for all sides, (vertical, horizontal), or ((top, bottom), (left,
            right)), in pixels.
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
    """

    kind = "cropping2d"
    record = LayerRecord(
        rule="borders 2 -1 cropping",
        keras="Cropping2D",
        tfjs="cropping",
        torch="cropping",
    )

    def __init__(
        self,
        cropping: Any = ((0, 0), (0, 0)),
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.cropping = self.sides("cropping", cropping, 2)
        self.data_format = self.format_of_data(data_format)

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 4, "(batch, height, width, channels)")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return _cropped(self, inputs[0], self.cropping)


class Cropping1D(Layer):
    """Sequences without their ends: (batch, steps, channels) to (batch, steps', channels).

    Args:
        cropping: one number for both ends, or (before, after), in steps.
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
    """

    kind = "cropping1d"
    record = LayerRecord(
        rule="borders 1 -1 cropping",
        keras="Cropping1D",
        torch="cropping",
    )

    def __init__(
        self, cropping: Any = (1, 1), data_format: str | None = None, name: str | None = None
    ) -> None:
        super().__init__(name)
        (self.cropping,) = self.sides("cropping", [cropping], 1)
        self.data_format = self.format_of_data(data_format)

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 3, "(batch, steps, channels)")

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return _cropped(self, inputs[0], (self.cropping,))


def _cropped(layer: Layer, x: Tensor, cropping: tuple[tuple[int, int], ...]) -> Tensor:
    begin, size = [0], [-1]
    for axis, (before, after) in enumerate(cropping, start=1):
        begin.append(before)
        if not after and x.shape[axis] is None:
            size.append(-1)
            continue
        rest = layer.known(x.shape, axis) - before - after
        if rest < 1:
            raise ShapeError(
                f"layer '{layer.name}' crops {before} + {after} from dimension {axis} of inputs "
                f"of shape {shape_text(x.shape)}, which leaves nothing."
            )
        size.append(rest)
    return slice_(x, [*begin, 0], [*size, -1])
