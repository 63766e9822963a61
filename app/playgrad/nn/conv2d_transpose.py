"""Transposed convolution of images."""

from __future__ import annotations

from typing import Any, Unpack

from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import cards
from playgrad.nn.conv import WindowedLayer
from playgrad.nn.options import KernelOptions
from playgrad.ops.convolution.conv2d_transpose import conv2d_transpose
from playgrad.records import CHANNELS_FIRST, LayerRecord


class Conv2DTranspose(WindowedLayer):
    """Transposed convolution, which enlarges images: the opposite direction of a convolution.

    Inputs (batch, height, width, in), kernel (kernel height, kernel width, filters, in), bias
    (filters,), result (batch, height', width', filters).

    Args:
        filters: number of output channels.
        kernel_size: one number, or (height, width).
        strides: the factor by which the image grows: one number, or (vertical, horizontal).
        padding: "valid" for all pixels that a window reaches, or "same" for a result of exactly
            strides times the size.
        data_format: the place of the channels in inputs and results: "channels_last", as for None,
            or "channels_first".
        dilation_rate: distance between the pixels that neighbouring weights reach: one number, or
            (vertical, horizontal).
        activation: name or function; None for no activation.
        use_bias: whether to add a bias.
        kernel_initializer, bias_initializer: name or `Initializer`.
        kernel_regularizer, bias_regularizer: name or `Regularizer`; None for none.
        activity_regularizer: a penalty on the results: name or `Regularizer`; None for none.
        kernel_constraint, bias_constraint: name or `Constraint`; None for none.
    """

    kind = "conv2d_transpose"
    record = LayerRecord(
        about="A convolution backwards: draws a larger image with small filters.",
        menu=("images", 8),
        example='16, 3, strides=2, padding="same"',
        fields=(
            cards.FILTERS,
            cards.WINDOW,
            cards.STRIDES,
            cards.PADDING,
            cards.MORE_ACTIVATION,
            cards.BIAS,
        ),
        rule="transposed",
        keras="Conv2DTranspose",
        tfjs="filters kernel_size strides padding activation use_bias",
        torch="conv_transpose",
        from_torch={
            "ConvTranspose2d": (
                (
                    "-in_channels out_channels>filters kernel_size stride>strides padding "
                    "-output_padding groups bias>use_bias"
                ),
                CHANNELS_FIRST,
            )
        },
    )

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        **options: Unpack[KernelOptions],
    ) -> None:
        windows = kernel_size, strides, padding, data_format, dilation_rate
        super().__init__(*windows, activation, use_bias, **options)
        self.filters = self.positive("filters", filters)

    def build(self, *shapes: Shape) -> None:
        self.expect_axes(shapes[0], 2)
        shape = (*self._window, self.filters, self.known(shapes[0], -1))
        self.add_declared("kernel", shape)
        self.add_bias(self.filters)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        x, kernel = inputs[0], self.variables["kernel"]
        self.expect_axes(x.shape, 2)
        self.expect_width(x.shape, kernel.spec.static_shape[3])
        y = conv2d_transpose(
            x, kernel, self.strides, self.padding, dilation_rate=self.dilation_rate
        )
        return self.end(y)
