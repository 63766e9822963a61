"""Convolutions of sequences and of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Unpack

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.options import KernelOptions
from playgrad.nn.weighted_layer import BiasedLayer
from playgrad.ops.convolution.conv1d import conv1d
from playgrad.ops.convolution.conv2d import conv2d
from playgrad.records import CHANNELS_FIRST, LayerRecord

_FROM_TORCH = (
    "-in_channels out_channels>filters kernel_size stride>strides padding "
    "dilation>dilation_rate groups bias>use_bias -padding_mode",
    CHANNELS_FIRST,
)


class WindowedLayer(BiasedLayer):
    """A layer whose kernel moves along a sequence, or over an image.

    Attributes:
        axes: 1 for sequences, 2 for images.
        paddings: the values of ``padding``.
    """

    axes: ClassVar[int] = 2
    paddings: ClassVar[tuple[str, ...]] = ("valid", "same")

    def __init__(
        self,
        kernel_size: Any,
        strides: Any,
        padding: str,
        data_format: str | None,
        dilation_rate: Any,
        activation: Any,
        use_bias: bool,
        **options: Any,
    ) -> None:
        super().__init__(activation, use_bias, **options)
        self.kernel_size = self.sizes("kernel_size", kernel_size, self.axes)
        self.strides = self.sizes("strides", strides, self.axes)
        self.padding = self.choice("padding", padding, *self.paddings)
        self.data_format = self.format_of_data(data_format)
        self.dilation_rate = self.sizes("dilation_rate", dilation_rate, self.axes)

    @property
    def _window(self) -> tuple[int, ...]:
        """The size of the kernel along each axis."""
        return (self.kernel_size,) if self.axes == 1 else self.kernel_size


class _Conv(WindowedLayer):
    """Convolution along any number of axes."""

    convolve: ClassVar[Callable[..., Tensor]]
    filters: int
    groups: int

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], self.axes)
        channels = self.divided_channels(shapes[0], self.groups)
        self.add_declared("kernel", (*self._window, channels, self.filters))
        self.add_bias(self.filters)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernel = inputs[0], self.variables["kernel"]
        self.expect_axes(x.shape, self.axes)
        self.expect_width(x.shape, kernel.spec.static_shape[-2] * self.groups)
        how = self.strides, self.padding, self.dilation_rate, self.groups
        return self.end(type(self).convolve(x, kernel, *how))


class Conv1D(_Conv):
    """One-dimensional convolution (cross-correlation, as usual in deep learning).

    Inputs (batch, steps, in), kernel (kernel steps, in / groups, filters), bias (filters,), result
    (batch, steps', filters).

    Args:
        filters: number of output channels.
        kernel_size: the number of steps of a window.
        strides: the distance between windows.
        padding: "valid" for no padding; "same" to keep the size at stride 1; "causal" for the same
            size, with results that depend on no later step (van den Oord et al. 2016).
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
        dilation_rate: distance between the steps that meet neighbouring weights.
        groups: the number of groups of channels, each convolved by itself; it must divide the input
            channels and ``filters``.
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        kernel_initializer, bias_initializer: name or `Initializer`.
        kernel_regularizer, bias_regularizer: name or `Regularizer`; None for none.
        activity_regularizer: a penalty on the results: name or `Regularizer`; None for none.
        kernel_constraint, bias_constraint: name or `Constraint`; None for none.
    """

    kind = "conv1d"
    record = LayerRecord(
        about=(
            "Slides small filters along a sequence; each looks for one pattern, wherever it is."
        ),
        menu=("sequences", 5),
        example='32, 3, activation="relu"',
        fields=(
            cards.FILTERS,
            cards.WINDOW,
            cards.SEQUENCE_PADDING,
            cards.ACTIVATION,
            cards.MORE_STRIDES,
            cards.DILATION,
            cards.BIAS,
        ),
        rule="convolution 1",
        keras="Conv1D",
        tfjs="filters kernel_size strides padding dilation_rate activation use_bias",
        torch="conv",
        from_torch={"Conv1d": _FROM_TORCH},
        expects_unit_scale=True,
    )
    axes = 1
    paddings = ("valid", "same", "causal")
    convolve = staticmethod(conv1d)

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        **options: Unpack[KernelOptions],
    ) -> None:
        windows = kernel_size, strides, padding, data_format, dilation_rate
        super().__init__(*windows, activation, use_bias, **options)
        self.filters = self.positive("filters", filters)
        self.groups = self.divisor("groups", groups, "filters", self.filters)


class Conv2D(_Conv):
    """Two-dimensional convolution (cross-correlation, as usual in deep learning).

    Inputs (batch, height, width, in), kernel (kernel height, kernel width, in / groups, filters),
    bias (filters,), result (batch, height', width', filters).

    Args:
        filters: number of output channels.
        kernel_size: one number, or (height, width).
        strides: one number, or (vertical, horizontal).
        padding: "valid" for no padding, or "same" to keep the size at stride 1.
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
        dilation_rate: distance between the pixels that meet neighbouring weights: one number, or
            (vertical, horizontal).
        groups: the number of groups of channels, each convolved by itself; it must divide the input
            channels and ``filters``.
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        kernel_initializer, bias_initializer: name or `Initializer`.
        kernel_regularizer, bias_regularizer: name or `Regularizer`; None for none.
        activity_regularizer: a penalty on the results: name or `Regularizer`; None for none.
        kernel_constraint, bias_constraint: name or `Constraint`; None for none.
    """

    kind = "conv2d"
    record = LayerRecord(
        about=("Slides small filters over the image; each looks for one pattern, wherever it is."),
        menu=("images", 1),
        example='16, 3, activation="relu"',
        fields=(
            cards.FILTERS,
            cards.WINDOW,
            cards.PADDING,
            cards.ACTIVATION,
            cards.MORE_STRIDES,
            cards.DILATION,
            cards.BIAS,
            cards.REGULARIZER,
        ),
        rule="convolution 2",
        keras="Conv2D",
        tfjs="filters kernel_size strides padding dilation_rate activation use_bias",
        torch="conv",
        from_torch={"Conv2d": _FROM_TORCH},
        expects_unit_scale=True,
    )
    convolve = staticmethod(conv2d)

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        groups: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        **options: Unpack[KernelOptions],
    ) -> None:
        windows = kernel_size, strides, padding, data_format, dilation_rate
        super().__init__(*windows, activation, use_bias, **options)
        self.filters = self.positive("filters", filters)
        self.groups = self.divisor("groups", groups, "filters", self.filters)
