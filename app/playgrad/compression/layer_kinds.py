"""Kinds of layers, for networks of integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from playgrad.graph.tensor import Tensor
from playgrad.nn import activations
from playgrad.nn.activation_layers import ReLU
from playgrad.nn.basic import Activation, Dropout, Flatten, Permute, Reshape
from playgrad.nn.conv import Conv1D, Conv2D
from playgrad.nn.conv2d_transpose import Conv2DTranspose
from playgrad.nn.dense import Dense
from playgrad.nn.depthwise_conv import DepthwiseConv2D, SeparableConv2D
from playgrad.nn.global_pooling import (
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
)
from playgrad.nn.layer_calls import LayerCall
from playgrad.nn.masks import mask_of
from playgrad.nn.merge import Add, Concatenate
from playgrad.nn.noise import GaussianNoise
from playgrad.nn.normalization import BatchNormalization
from playgrad.nn.pooling import AveragePool1D, AveragePool2D, MaxPool1D, MaxPool2D
from playgrad.nn.random_layer import RandomLayer
from playgrad.ops.elementwise.activations import relu, relu6

LINEAR = (Dense, Conv1D, Conv2D, DepthwiseConv2D, Conv2DTranspose)
"""Layers whose results are sums of products, an activation apart."""
AVERAGES = (AveragePool1D, AveragePool2D, GlobalAveragePooling1D, GlobalAveragePooling2D)
MAXIMA = (MaxPool1D, MaxPool2D, GlobalMaxPooling1D, GlobalMaxPooling2D)
RESHAPES = (Flatten, Reshape, Permute)
TRAINING_ONLY = (Dropout, GaussianNoise, RandomLayer)
OFTEN_INTEGER = (
    *LINEAR,
    *AVERAGES,
    *MAXIMA,
    *RESHAPES,
    SeparableConv2D,
    Activation,
    ReLU,
    Add,
    Concatenate,
    BatchNormalization,
)
"""Layers beside which it is better to compute in integers, too."""
CLAMPS: dict[Callable[[Tensor], Tensor], tuple[float, float]] = {
    activations.linear: (-np.inf, np.inf),
    relu: (0.0, np.inf),
    relu6: (0.0, 6.0),
}
"""The limits of activation functions that are nothing but limits."""


def has_masks(call: LayerCall) -> bool:
    """Return whether an input or a result of ``call`` skips steps."""
    return any(mask_of(tensor) is not None for tensor in (*call.inputs, *call.outputs))
