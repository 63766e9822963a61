"""Convolutions of every kind as the one that integers have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.graph.tensor import Node
from playgrad.nn.conv import Conv1D
from playgrad.nn.conv2d_transpose import Conv2DTranspose
from playgrad.nn.depthwise_conv import DepthwiseConv2D
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall
from playgrad.ops.convolution.window import dilations_of, extent
from playgrad.training.layer_costs import nodes_of

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class ConvGeometry:
    """The arguments of `QuantizedConv` from ``strides`` to ``is_sequence``."""

    layer: Layer
    arguments: tuple[Any, ...]

    def kernel(self, kernel: Array) -> Array:
        """Return the kernel of the layer as (kernel height, kernel width, in / groups, filters)."""
        if isinstance(self.layer, Conv1D):
            return kernel[None]
        if isinstance(self.layer, DepthwiseConv2D):
            return kernel.reshape(*kernel.shape[:2], 1, -1)
        if isinstance(self.layer, Conv2DTranspose):
            return np.ascontiguousarray(kernel[::-1, ::-1].transpose(0, 1, 3, 2))
        return kernel


def geometry(call: LayerCall) -> ConvGeometry | None:
    """Return how the windows of a convolution of known sizes move; None if a side of the image
    would have to be cut off."""
    layer = call.layer
    node = next(n for n in nodes_of(call) if n.op.name in ("conv2d", "conv2d_transpose"))
    if isinstance(layer, Conv2DTranspose):
        return _transposed(call, node)
    groups = node.attrs.get("groups", 1)
    return ConvGeometry(
        layer,
        (
            node.attrs["strides"],
            node.attrs["padding"],
            list(dilations_of(node.attrs)),
            groups,
            (1, 1),
            isinstance(layer, Conv1D),
        ),
    )


def _transposed(call: LayerCall, node: Node) -> ConvGeometry | None:
    """Return a transposed convolution as one of an image with zeros between its pixels, as Dumoulin
    and Visin 2016 describe it."""
    layer: Any = call.layer
    dilations = list(dilations_of(node.attrs))
    strides = node.attrs["strides"]
    sizes = zip(
        call.inputs[0].shape[1:3],
        call.outputs[0].shape[1:3],
        extent(layer.kernel_size, dilations),
        strides,
        node.attrs["padding"],
        strict=True,
    )
    padding = []
    for before, after, window, stride, (removed, _) in sizes:
        assert before is not None and after is not None
        first = window - 1 - removed
        padding.append([first, after + window - 1 - ((before - 1) * stride + 1) - first])
    if min(min(sides) for sides in padding) < 0:
        return None
    return ConvGeometry(layer, ((1, 1), padding, dilations, 1, strides, False))
