"""Convolution of images."""

from __future__ import annotations

from typing import Any

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards, constraints, initializers, regularizers
from playgrad.nn.biased_layer import BiasedLayer
from playgrad.ops.convolution.conv2d import conv2d
from playgrad.records import CHANNELS_FIRST, LayerRecord


class Conv2D(BiasedLayer):
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
        from_torch={
            "Conv2d": (
                (
                    "-in_channels out_channels>filters kernel_size stride>strides padding "
                    "dilation>dilation_rate groups bias>use_bias -padding_mode"
                ),
                CHANNELS_FIRST,
            )
        },
        expects_unit_scale=True,
    )

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
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.filters = self.positive("filters", filters)
        self.kernel_size = self.pair("kernel_size", kernel_size)
        self.strides = self.pair("strides", strides)
        self.padding = self.choice("padding", padding, "valid", "same")
        self.data_format = self.format_of_data(data_format)
        self.dilation_rate = self.pair("dilation_rate", dilation_rate)
        self.groups = self.divisor("groups", groups, "filters", self.filters)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.set_end(
            activation,
            use_bias,
            bias_initializer,
            bias_regularizer,
            activity_regularizer,
            bias_constraint,
        )

    def build(self, *shapes: Shape) -> None:
        self.expect_rank(shapes[0], 4, "(batch, height, width, channels)")
        channels = self.divided_channels(shapes[0], self.groups)
        shape = (*self.kernel_size, channels, self.filters)
        self.add_weight(
            "kernel",
            shape,
            self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.add_bias(self.filters)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernel = inputs[0], self.variables["kernel"]
        self.expect_rank(x.shape, 4, "(batch, height, width, channels)")
        self.expect_width(x.shape, kernel.spec.static_shape[2] * self.groups)
        y = conv2d(x, kernel, self.strides, self.padding, self.dilation_rate, self.groups)
        return self.end(y)
