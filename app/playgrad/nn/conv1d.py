"""Convolution of sequences."""

from __future__ import annotations

from typing import Any

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards, constraints, initializers, regularizers
from playgrad.nn.biased_layer import BiasedLayer
from playgrad.ops.convolution.conv1d import conv1d
from playgrad.records import CHANNELS_FIRST, LayerRecord


class Conv1D(BiasedLayer):
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
        from_torch={
            "Conv1d": (
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
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
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
        self.kernel_size = self.single("kernel_size", kernel_size)
        self.strides = self.single("strides", strides)
        self.padding = self.choice("padding", padding, "valid", "same", "causal")
        self.data_format = self.format_of_data(data_format)
        self.dilation_rate = self.single("dilation_rate", dilation_rate)
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
        self.expect_rank(shapes[0], 3, "(batch, steps, channels)")
        channels = self.divided_channels(shapes[0], self.groups)
        shape = (self.kernel_size, channels, self.filters)
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
        self.expect_rank(x.shape, 3, "(batch, steps, channels)")
        self.expect_width(x.shape, kernel.spec.static_shape[1] * self.groups)
        y = conv1d(x, kernel, self.strides, self.padding, self.dilation_rate, self.groups)
        return self.end(y)
