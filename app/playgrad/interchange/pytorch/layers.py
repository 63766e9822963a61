"""The layers that have an equivalent in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

from playgrad.interchange.pytorch import (
    attention,
    basic,
    convolution,
    merging,
    normalization,
    recurrent,
    sizes,
)
from playgrad.interchange.pytorch.use import LayerUse
from playgrad.nn.layer import layer_type
from playgrad.nn.layer_calls import layers_of

TRANSLATIONS: dict[str, Callable[[LayerUse], None]] = {
    "activation": basic.activation,
    "add": merging.elementwise,
    "average": merging.elementwise,
    "average_pool1d": sizes.pool,
    "average_pool2d": sizes.pool,
    "batch_normalization": normalization.batch_normalization,
    "bidirectional": recurrent.bidirectional,
    "concatenate": merging.concatenate,
    "conv1d": convolution.conv,
    "conv2d": convolution.conv,
    "conv2d_transpose": convolution.conv_transpose,
    "cropping1d": sizes.cropping,
    "cropping2d": sizes.cropping,
    "dense": basic.dense,
    "depthwise_conv2d": convolution.depthwise_conv,
    "dropout": basic.dropout,
    "elu": basic.elu,
    "embedding": basic.embedding,
    "flatten": basic.flatten,
    "gaussian_noise": basic.gaussian_noise,
    "global_average_pooling1d": sizes.global_pool,
    "global_average_pooling2d": sizes.global_pool,
    "global_max_pooling1d": sizes.global_pool,
    "global_max_pooling2d": sizes.global_pool,
    "group_normalization": normalization.group_normalization,
    "gru": recurrent.recurrent,
    "layer_normalization": normalization.layer_normalization,
    "leaky_re_lu": basic.leaky_relu,
    "lstm": recurrent.recurrent,
    "max_pool1d": sizes.pool,
    "max_pool2d": sizes.pool,
    "maximum": merging.elementwise,
    "minimum": merging.elementwise,
    "multi_head_attention": attention.multi_head_attention,
    "multiply": merging.elementwise,
    "normalization": normalization.feature_normalization,
    "permute": basic.permute,
    "position_embedding": basic.position_embedding,
    "prelu": basic.prelu,
    "re_lu": basic.relu,
    "repeat_vector": basic.repeat_vector,
    "rescaling": basic.rescaling,
    "reshape": basic.reshape,
    "rms_normalization": normalization.rms_normalization,
    "rrelu": basic.rrelu,
    "separable_conv2d": convolution.separable_conv,
    "simple_rnn": recurrent.recurrent,
    "softmax": basic.softmax,
    "spatial_dropout1d": basic.spatial_dropout,
    "spatial_dropout2d": basic.spatial_dropout,
    "subtract": merging.elementwise,
    "transformer_decoder": attention.transformer_block,
    "transformer_encoder": attention.transformer_block,
    "up_sampling1d": sizes.upsampling,
    "up_sampling2d": sizes.upsampling,
    "zero_padding1d": sizes.zero_padding,
    "zero_padding2d": sizes.zero_padding,
}
"""By the kinds of layers."""


def add_layer(use: LayerUse) -> None:
    """Append the lines of a call of a layer.

    Raises:
        ExportError: it has no equivalent.
    """
    layer = use.layer
    if getattr(layer, "data_format", "") == "channels_first":
        raise use.refuse("the PyTorch program takes images with their channels last.")
    is_known = layer.kind in TRANSLATIONS and type(layer) is layer_type(layer.kind)
    if not is_known or not type(layer).__module__.startswith("playgrad."):
        raise use.refuse(
            f"a layer of kind '{layer.kind}' has no equivalent in the PyTorch program.",
            "Export the model as ONNX, which has its operations.",
        )
    masks = layers_of(use.x.graph).masks
    if layer.uses_mask and any(x in masks for x in use.inputs):
        raise use.refuse("its sequence has a mask, which the modules of PyTorch do not take.")
    TRANSLATIONS[layer.kind](use)
