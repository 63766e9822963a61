"""Layers that add or remove the borders of images and sequences."""

from __future__ import annotations

from typing import Any, ClassVar

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.pad import pad
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.records import LayerRecord

Sides = tuple[tuple[int, int], ...]


class _Borders(Layer):
    """A layer that changes the borders of sequences or images."""

    axes: ClassVar[int]
    what: ClassVar[str]
    """The name of the argument."""

    def __init__(self, borders: Any, data_format: str | None, name: str | None) -> None:
        super().__init__(name)
        sides = self.sides(self.what, [borders] if self.axes == 1 else borders, self.axes)
        setattr(self, self.what, sides[0] if self.axes == 1 else sides)
        self.data_format = self.format_of_data(data_format)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], self.axes)

    def borders(self) -> Sides:
        """Return the borders before and after, along each axis."""
        sides: Any = getattr(self, self.what)
        return (sides,) if self.axes == 1 else sides


class _ZeroPadding(_Borders):
    what = "padding"

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return pad(inputs[0], [(0, 0), *self.borders(), (0, 0)])


class _Cropping(_Borders):
    what = "cropping"

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return _cropped(self, inputs[0], self.borders())


class ZeroPadding2D(_ZeroPadding):
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
    axes = 2

    def __init__(
        self, padding: Any = (1, 1), data_format: str | None = None, name: str | None = None
    ) -> None:
        super().__init__(padding, data_format, name)


class ZeroPadding1D(_ZeroPadding):
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
    axes = 1

    def __init__(
        self, padding: Any = 1, data_format: str | None = None, name: str | None = None
    ) -> None:
        super().__init__(padding, data_format, name)


class Cropping2D(_Cropping):
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
    axes = 2

    def __init__(
        self,
        cropping: Any = ((0, 0), (0, 0)),
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(cropping, data_format, name)


class Cropping1D(_Cropping):
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
    axes = 1

    def __init__(
        self, cropping: Any = (1, 1), data_format: str | None = None, name: str | None = None
    ) -> None:
        super().__init__(cropping, data_format, name)


def _cropped(layer: Layer, x: Tensor, cropping: Sides) -> Tensor:
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
