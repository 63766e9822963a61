"""Fields of the cards of layers in Blocks."""

from __future__ import annotations

from functools import partial

from playgrad.records import Field

_ACTIVATIONS = (
    "None", '"relu"', '"tanh"', '"sigmoid"', '"gelu"', '"silu"', '"elu"', '"selu"', '"leaky_relu"',
    '"softplus"', '"softmax"',
)  # fmt: skip
_PADDINGS = ('"valid"', '"same"')

count = partial(Field, type="count", least=1)
size = partial(Field, type="size", least=1)
number = partial(Field, type="number", least=0)
flag = partial(Field, type="flag", more=True)
shape = partial(Field, type="shape")

ACTIVATION = Field("activation", "activation", "choice", options=_ACTIVATIONS)
MORE_ACTIVATION = Field("activation", "activation", "choice", True, options=_ACTIVATIONS)
FUNCTION = Field("activation", "function", "choice", options=_ACTIVATIONS[1:])
PADDING = Field("padding", "padding", "choice", options=_PADDINGS)
MORE_PADDING = Field("padding", "padding", "choice", True, options=_PADDINGS)
SEQUENCE_PADDING = Field("padding", "padding", "choice", options=(*_PADDINGS, '"causal"'))
BIAS = flag("use_bias", "bias")
REGULARIZER = Field("kernel_regularizer", "regularization", "regularizer", True)
FILTERS = count("filters", "filters")
WINDOW = size("kernel_size", "window")
POOL = size("pool_size", "window")
STRIDES = size("strides", "stride")
MORE_STRIDES = size("strides", "stride", more=True)
DILATION = size("dilation_rate", "dilation", more=True)
RATE = number("rate", "rate", most=0.95, step=0.05)
