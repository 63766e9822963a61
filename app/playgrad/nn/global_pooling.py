"""Global pooling layers: maximum or mean of each channel of a whole image or sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn.layer import Layer
from playgrad.nn.masks import mask_of
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.elementwise.definitions import cast, maximum, where
from playgrad.ops.reductions.reduce import reduce_max, reduce_mean, reduce_sum
from playgrad.records import CHANNELS_FIRST, LayerRecord


class _GlobalPool(Layer):
    """Result (batch, channels), for inputs of any size.

    Args:
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
        keepdims: whether the reduced dimensions stay, with size 1.
    """

    axes: ClassVar[int]
    reduce: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        data_format: str | None = None,
        keepdims: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.data_format = self.format_of_data(data_format)
        self.keepdims = bool(keepdims)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], self.axes)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        axes = range(1, inputs[0].spec.rank - 1)
        return type(self).reduce(inputs[0], list(axes), keepdims=self.keepdims)


class GlobalAveragePooling2D(_GlobalPool):
    """Mean of each channel of an image: (batch, height, width, channels) to (batch, channels)."""

    kind = "global_average_pooling2d"
    record = LayerRecord(
        about="Keeps one number of each channel: its mean over the whole image.",
        menu=("images", 4),
        rule="globalPooling 2",
        keras="GlobalAveragePooling2D",
        tfjs="",
        torch="global_pool",
        from_torch={"AdaptiveAvgPool2d": ("-output_size", f"{CHANNELS_FIRST}, keepdims=True")},
    )
    axes = 2
    reduce = staticmethod(reduce_mean)


class GlobalMaxPooling2D(_GlobalPool):
    """Largest value of each channel: (batch, height, width, channels) to (batch, channels)."""

    kind = "global_max_pooling2d"
    record = LayerRecord(
        about="Keeps one number of each channel: its largest in the whole image.",
        menu=("images", 5),
        rule="globalPooling 2",
        keras="GlobalMaxPooling2D",
        tfjs="",
        torch="global_pool",
    )
    axes = 2
    reduce = staticmethod(reduce_max)


class GlobalAveragePooling1D(_GlobalPool):
    """Mean of each channel of a sequence: (batch, steps, channels) to (batch, channels).

    The mean is over the steps that the mask of the sequence keeps, and 0 if it keeps none.
    """

    kind = "global_average_pooling1d"
    record = LayerRecord(
        about="Keeps the mean of each feature over all steps.",
        menu=("sequences", 7),
        rule="globalPooling 1",
        keras="GlobalAveragePooling1D",
        tfjs="",
        torch="global_pool",
    )
    axes = 1
    reduce = staticmethod(reduce_mean)
    uses_mask = True

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        mask = mask_of(inputs[0])
        if mask is None:
            return super().call(*inputs, training=training)
        kept = expand_dims(mask, -1)
        total = reduce_sum(where(kept, inputs[0], 0.0), axis=1, keepdims=self.keepdims)
        count = reduce_sum(cast(kept, "float32"), axis=1, keepdims=self.keepdims)
        return total / maximum(count, 1.0)


class GlobalMaxPooling1D(_GlobalPool):
    """Maximum of each channel of a sequence: (batch, steps, channels) to (batch, channels)."""

    kind = "global_max_pooling1d"
    record = LayerRecord(
        about="Keeps the largest number of each feature over all steps.",
        menu=("sequences", 8),
        rule="globalPooling 1",
        keras="GlobalMaxPooling1D",
        tfjs="",
        torch="global_pool",
    )
    axes = 1
    reduce = staticmethod(reduce_max)
