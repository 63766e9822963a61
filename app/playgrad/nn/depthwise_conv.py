"""Convolution of the channels of images one by one, and its combination with a product."""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.conv import WindowedLayer
from playgrad.ops.convolution.conv2d import conv2d
from playgrad.ops.convolution.depthwise_conv2d import depthwise_conv2d
from playgrad.records import LayerRecord


class DepthwiseOptions(TypedDict, total=False):
    """Options of a layer with a depthwise kernel and a bias, in the order of Keras."""

    depthwise_initializer: Any
    bias_initializer: Any
    depthwise_regularizer: Any
    bias_regularizer: Any
    activity_regularizer: Any
    depthwise_constraint: Any
    bias_constraint: Any
    name: str | None


class SeparableOptions(TypedDict, total=False):
    """Options of a layer with two kernels and a bias, in the order of Keras."""

    depthwise_initializer: Any
    pointwise_initializer: Any
    bias_initializer: Any
    depthwise_regularizer: Any
    pointwise_regularizer: Any
    bias_regularizer: Any
    activity_regularizer: Any
    depthwise_constraint: Any
    pointwise_constraint: Any
    bias_constraint: Any
    name: str | None


class DepthwiseConv2D(WindowedLayer):
    """Convolution of each channel with ``depth_multiplier`` filters of its own.

    Inputs (batch, height, width, in), kernel (kernel height, kernel width, in, depth_multiplier),
    bias (in * depth_multiplier,), result (batch, height', width', in * depth_multiplier).

    Args:
        kernel_size: one number, or (height, width).
        strides: one number, or (vertical, horizontal).
        padding: "valid" for no padding, or "same" to keep the size at stride 1.
        depth_multiplier: the number of output channels for each input channel.
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
        dilation_rate: distance between the pixels that meet neighbouring weights: one number, or
            (vertical, horizontal).
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        depthwise_initializer, bias_initializer: name or `Initializer`.
        depthwise_regularizer, bias_regularizer: name or `Regularizer`; None for none.
        activity_regularizer: a penalty on the results: name or `Regularizer`; None for none.
        depthwise_constraint, bias_constraint: name or `Constraint`; None for none.
    """

    kind = "depthwise_conv2d"
    record = LayerRecord(
        about="Filters each channel by itself, with few weights.",
        menu=("images", 6),
        example="3",
        fields=(
            cards.WINDOW,
            cards.PADDING,
            cards.ACTIVATION,
            cards.count("depth_multiplier", "filtersEach", more=True),
            cards.MORE_STRIDES,
            cards.BIAS,
        ),
        rule="depthwise",
        keras="DepthwiseConv2D",
        tfjs="kernel_size strides padding depth_multiplier activation use_bias",
        torch="depthwise_conv",
        expects_unit_scale=True,
    )

    defaults = {"depthwise_initializer": "glorot_uniform", "bias_initializer": "zeros"}

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        **options: Unpack[DepthwiseOptions],
    ) -> None:
        windows = kernel_size, strides, padding, data_format, dilation_rate
        super().__init__(*windows, activation, use_bias, **options)
        self.depth_multiplier = self.positive("depth_multiplier", depth_multiplier)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], 2)
        channels = self.known(shapes[0], -1)
        self.add_declared("depthwise", (*self._window, channels, self.depth_multiplier), "kernel")
        self.add_bias(channels * self.depth_multiplier)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernel = inputs[0], self.variables["kernel"]
        self.expect_axes(x.shape, 2)
        self.expect_width(x.shape, kernel.spec.static_shape[2])
        y = depthwise_conv2d(x, kernel, self.strides, self.padding, self.dilation_rate)
        return self.end(y)


class SeparableConv2D(WindowedLayer):
    """Depthwise convolution, and then a product that mixes the channels of each pixel.

    Chollet 2017. Inputs (batch, height, width, in), depthwise_kernel (kernel height, kernel width,
    in, depth_multiplier), pointwise_kernel (1, 1, in * depth_multiplier, filters), bias (filters,),
    result (batch, height', width', filters).

    Args:
        filters: number of output channels.
        kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier: as in
            `DepthwiseConv2D`.
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        depthwise_initializer, pointwise_initializer, bias_initializer: name or `Initializer`.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer: name or `Regularizer`; None
            for none.
        activity_regularizer: a penalty on the results: name or `Regularizer`; None for none.
        depthwise_constraint, pointwise_constraint, bias_constraint: name or `Constraint`; None for
            none.
    """

    kind = "separable_conv2d"
    record = LayerRecord(
        about=(
            "Filters each channel by itself, then mixes the channels: a convolution with "
            "far fewer weights."
        ),
        menu=("images", 7),
        example='16, 3, activation="relu"',
        fields=(
            cards.FILTERS,
            cards.WINDOW,
            cards.PADDING,
            cards.ACTIVATION,
            cards.MORE_STRIDES,
            cards.BIAS,
        ),
        rule="separable",
        keras="SeparableConv2D",
        tfjs=(
            "filters kernel_size strides padding depth_multiplier dilation_rate activation use_bias"
        ),
        torch="separable_conv",
        expects_unit_scale=True,
    )

    defaults = {
        "depthwise_initializer": "glorot_uniform",
        "pointwise_initializer": "glorot_uniform",
        "bias_initializer": "zeros",
    }

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        **options: Unpack[SeparableOptions],
    ) -> None:
        windows = kernel_size, strides, padding, data_format, dilation_rate
        super().__init__(*windows, activation, use_bias, **options)
        self.filters = self.positive("filters", filters)
        self.depth_multiplier = self.positive("depth_multiplier", depth_multiplier)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], 2)
        channels = self.known(shapes[0], -1)
        depthwise = (*self._window, channels, self.depth_multiplier)
        pointwise = (1, 1, channels * self.depth_multiplier, self.filters)
        self.add_declared("depthwise", depthwise, "depthwise_kernel")
        self.add_declared("pointwise", pointwise, "pointwise_kernel")
        self.add_bias(self.filters)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernel = inputs[0], self.variables["depthwise_kernel"]
        self.expect_axes(x.shape, 2)
        self.expect_width(x.shape, kernel.spec.static_shape[2])
        y = depthwise_conv2d(x, kernel, self.strides, self.padding, self.dilation_rate)
        y = conv2d(y, self.variables["pointwise_kernel"])
        return self.end(y)
