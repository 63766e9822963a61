"""Convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.interchange.pytorch.use import LayerUse
from playgrad.interchange.pytorch.windows import padding_of, pads, slices, unless
from playgrad.ops.core.build import one_or_more

Array = np.ndarray[Any, Any]

_OIHW = (3, 2, 0, 1)


def conv(use: LayerUse) -> None:
    """Conv1D and Conv2D: kernel (..., in / groups, out), torch's (out, in / groups, ...)."""
    kernel, groups = use.weight("kernel"), use.layer.groups
    channels = kernel.shape[-2] * groups, kernel.shape[-1]
    function, argument = _convolved(use, *channels, groups, use.layer.use_bias)
    use.store("weight", kernel.transpose(range(kernel.ndim)[::-1] if kernel.ndim == 3 else _OIHW))
    if use.layer.use_bias:
        use.store("bias", use.weight("bias"))
    use.give_active(function, [argument], "first")


def depthwise_conv(use: LayerUse) -> None:
    kernel = use.weight("kernel")
    channels, factor = kernel.shape[-2:]
    function, argument = _convolved(use, channels, channels * factor, channels, use.layer.use_bias)
    use.store("weight", _by_channel(kernel))
    if use.layer.use_bias:
        use.store("bias", use.weight("bias"))
    use.give_active(function, [argument], "first")


def separable_conv(use: LayerUse) -> None:
    kernel, pointwise = use.weight("depthwise_kernel"), use.weight("pointwise_kernel")
    channels, factor = kernel.shape[-2:]
    function, argument = _convolved(use, channels, channels * factor, channels, False, "_depthwise")
    use.store("weight", _by_channel(kernel), "_depthwise")
    bias = None if use.layer.use_bias else False
    mixed = use.module(
        "nn.Conv2d", *pointwise.shape[-2:], kernel_size=1, bias=bias, part="_pointwise"
    )
    use.store("weight", pointwise.transpose(_OIHW), "_pointwise")
    if use.layer.use_bias:
        use.store("bias", use.weight("bias"), "_pointwise")
    target = use.target()
    use.writer.assign_call(target, function, [argument])
    use.give_active(mixed, [target], "first", target)


def conv_transpose(use: LayerUse) -> None:
    layer, kernel = use.layer, use.weight("kernel")
    padding, extra, cut = [], [], []
    for size, stride, dilation in zip(
        layer.kernel_size, layer.strides, layer.dilation_rate, strict=True
    ):
        surplus = (size - 1) * dilation + 1 - stride  # "same" removes it
        removed = max(surplus, 0) if layer.padding == "same" else 0
        padding.append(removed // 2)
        cut.append(removed % 2)
        extra.append(max(-surplus, 0))
    module = use.module(
        "nn.ConvTranspose2d",
        kernel.shape[3],
        kernel.shape[2],
        kernel_size=layer.kernel_size,
        stride=unless(1, layer.strides),
        padding=unless(0, padding),
        output_padding=unless(0, extra),
        dilation=unless(1, layer.dilation_rate),
        bias=None if layer.use_bias else False,
    )
    use.store("weight", kernel.transpose(3, 2, 0, 1))
    if layer.use_bias:
        use.store("bias", use.weight("bias"))
    x = use.read("first")
    if not any(cut):
        use.give_active(module, [x], "first")
        return
    target = use.target()
    use.writer.assign_call(target, module, [x])
    use.writer.comment("The odd pixel of the padding is removed at the bottom and right.")
    use.writer.assign(target, f"{target}[{slices([(0, n) for n in cut])}]")
    use.activate(target, "first")


def _convolved(
    use: LayerUse, inputs: int, outputs: int, groups: int, bias: bool, part: str = ""
) -> tuple[str, str]:
    """Create the module of a convolution; return the texts of it and of its argument."""
    layer = use.layer
    size, strides, dilation = (
        one_or_more(value) for value in (layer.kernel_size, layer.strides, layer.dilation_rate)
    )
    inside, around = padding_of(use, size, strides, dilation)
    module = use.module(
        f"nn.Conv{use.rank - 2}d",
        inputs,
        outputs,
        kernel_size=size,
        stride=unless(1, strides),
        padding=unless(0, inside),
        dilation=unless(1, dilation),
        groups=groups if groups > 1 else None,
        bias=None if bias else False,
        part=part,
    )
    x = use.read("first")
    return module, x if around is None else f"F.pad({x}, {pads(around)})"


def _by_channel(kernel: Array) -> Array:
    """Return a depthwise kernel (height, width, in, factor) as (in * factor, 1, height, width)."""
    height, width, channels, factor = kernel.shape
    return kernel.transpose(2, 3, 0, 1).reshape(channels * factor, 1, height, width)
