"""Pooling layers: maximum or mean of each window of an image or a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.layer import Layer
from playgrad.ops.arrays.shape import expand_dims, squeeze
from playgrad.ops.convolution.avg_pool2d import avg_pool2d
from playgrad.ops.convolution.max_pool2d import max_pool2d
from playgrad.records import CHANNELS_FIRST, LayerRecord


class _Pool(Layer):
    """Inputs (batch, ..., channels), result of the same rank."""

    axes: ClassVar[int]
    pool: ClassVar[Callable[..., Tensor]]

    def __init__(
        self, pool_size: Any, strides: Any, padding: str, data_format: str | None, name: str | None
    ) -> None:
        super().__init__(name)
        self.pool_size = self.sizes("pool_size", pool_size, self.axes)
        strides = self.pool_size if strides is None else strides
        self.strides = self.sizes("strides", strides, self.axes)
        self.padding = self.choice("padding", padding, "valid", "same")
        self.data_format = self.format_of_data(data_format)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], self.axes)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, pool = inputs[0], type(self).pool
        if self.axes == 2:
            return pool(x, self.pool_size, self.strides, self.padding)
        rows = pool(expand_dims(x, 1), (1, self.pool_size), (1, self.strides), self.padding)
        return squeeze(rows, 1)


class _Pool2D(_Pool):
    """Inputs (batch, height, width, channels), result (batch, height', width', channels).

    Args:
        pool_size: the size of a window: one number, or (height, width).
        strides: one number, or (vertical, horizontal); None for ``pool_size``.
        padding: "valid" for no padding, or "same".
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
    """

    axes = 2

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, name)


class _Pool1D(_Pool):
    """Inputs (batch, steps, channels), result (batch, steps', channels).

    Args:
        pool_size: the number of steps of a window.
        strides: the distance between windows; None for ``pool_size``.
        padding: "valid" for no padding, or "same".
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
    """

    axes = 1

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(pool_size, strides, padding, data_format, name)


class MaxPool2D(_Pool2D):
    """Maximum of each window; ``strides`` defaults to ``pool_size``.

    Also named ``MaxPooling2D``.
    """

    kind = "max_pool2d"
    record = LayerRecord(
        about=(
            "Keeps only the largest number of each small square, so that the image shrinks "
            "and small shifts matter less."
        ),
        menu=("images", 2),
        example="2",
        fields=(cards.POOL, cards.MORE_PADDING),
        rule="pooling 2",
        keras="MaxPooling2D",
        tfjs="pool_size strides padding",
        torch="pool",
        from_torch={"MaxPool2d": ("kernel_size>pool_size stride>strides padding", CHANNELS_FIRST)},
    )
    pool = staticmethod(max_pool2d)


class AveragePool2D(_Pool2D):
    """Mean of each window; ``strides`` defaults to ``pool_size``.

    Padding does not count. Also named ``AveragePooling2D``.
    """

    kind = "average_pool2d"
    record = LayerRecord(
        about="Keeps the mean of each small square, so that the image shrinks.",
        menu=("images", 3),
        example="2",
        fields=(cards.POOL, cards.MORE_PADDING),
        rule="pooling 2",
        keras="AveragePooling2D",
        tfjs="pool_size strides padding",
        torch="pool",
        from_torch={"AvgPool2d": ("kernel_size>pool_size stride>strides padding", CHANNELS_FIRST)},
    )
    pool = staticmethod(avg_pool2d)


class MaxPool1D(_Pool1D):
    """Maximum of each window of a sequence; ``strides`` defaults to ``pool_size``.

    Also named ``MaxPooling1D``.
    """

    kind = "max_pool1d"
    record = LayerRecord(
        about=(
            "Keeps only the largest number of each few steps, so that the sequence becomes shorter."
        ),
        menu=("sequences", 6),
        example="2",
        fields=(cards.POOL,),
        rule="pooling 1",
        keras="MaxPooling1D",
        tfjs="pool_size strides padding",
        torch="pool",
        from_torch={"MaxPool1d": ("kernel_size>pool_size stride>strides padding", CHANNELS_FIRST)},
    )
    pool = staticmethod(max_pool2d)


class AveragePool1D(_Pool1D):
    """Mean of each window of a sequence; ``strides`` defaults to ``pool_size``.

    Padding does not count. Also named ``AveragePooling1D``.
    """

    kind = "average_pool1d"
    record = LayerRecord(
        rule="pooling 1",
        keras="AveragePooling1D",
        tfjs="pool_size strides padding",
        torch="pool",
    )
    pool = staticmethod(avg_pool2d)
