"""Convolutions, pooling and normalization of ONNX, whose channels come first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad import ops
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing.call import NotApplicableError, OperatorCall, translates
from playgrad.ops.reductions.statistics import inverse_deviation

Pairs = list[tuple[int, int]]
_COST = 2048
"""Part of the budget of a call that a group takes: its operations need memory, too."""


def _last(x: Tensor) -> Tensor:
    return ops.transpose(x, [0, *range(2, len(x.shape)), 1])


def _first(x: Tensor) -> Tensor:
    rank = len(x.shape)
    return ops.transpose(x, [0, rank - 1, *range(1, rank - 1)])


def _expect_image(call: OperatorCall) -> None:
    if len(call.x.shape) not in (3, 4):
        raise NotApplicableError("windows of three dimensions")


def _as_image(x: Tensor) -> Tensor:
    """Return sequences (n, c, w) as images (n, c, 1, w); images as they are."""
    return ops.expand_dims(x, 2) if len(x.shape) == 3 else x


def _two(values: Sequence[int] | None, fill: int) -> list[int]:
    values = list(values) if values is not None else [fill, fill]
    return [fill, *values] if len(values) == 1 else values


def _pads(call: OperatorCall, window: Sequence[int], strides: Sequence[int]) -> Pairs:
    """Return the padding of both axes, before and after."""
    automatic = call.get("auto_pad", "NOTSET")
    if automatic in ("SAME_UPPER", "SAME_LOWER"):
        sizes = _as_image(call.x).shape[2:]
        pairs = []
        for size, width, stride in zip(sizes, window, strides, strict=True):
            if size is None:
                raise NotApplicableError(f"auto_pad={automatic} of images of unknown size")
            total = max(0, (-(-size // stride) - 1) * stride + width - size)
            small, large = total // 2, total - total // 2
            pairs.append((small, large) if automatic == "SAME_UPPER" else (large, small))
        return pairs
    pads = call.get("pads") if automatic == "NOTSET" else None
    half = len(pads) // 2 if pads else 0
    pairs = [(pads[i], pads[i + half]) for i in range(half)] if pads else [(0, 0)] * 2
    return [(0, 0), *pairs] if len(pairs) == 1 else pairs


@translates("Conv")
def _conv(call: OperatorCall) -> Tensor:
    _expect_image(call)
    weights = _as_image(call.required(1))
    strides, dilations = _two(call.get("strides"), 1), _two(call.get("dilations"), 1)
    sizes = [int(n or 0) for n in weights.shape[2:]]
    window = [(n - 1) * d + 1 for n, d in zip(sizes, dilations, strict=True)]
    x = ops.pad(_last(_as_image(call.x)), [(0, 0), *_pads(call, window, strides), (0, 0)])
    filters = ops.transpose(weights, [2, 3, 1, 0])
    y = ops.conv2d(x, filters, strides, "valid", dilations, call.get("group", 1))
    if (bias := call.input(2)) is not None:
        y = y + bias
    return ops.squeeze(_first(y), 2) if len(call.x.shape) == 3 else _first(y)


@translates("ConvTranspose")
def _conv_transpose(call: OperatorCall) -> Tensor:
    _expect_image(call)
    weights = _as_image(call.required(1))
    strides, dilations = _two(call.get("strides"), 1), _two(call.get("dilations"), 1)
    x = _last(_as_image(call.x))
    parts = [
        # Without output_padding, a stride beyond the window would add pixels.
        ops.conv2d_transpose(part, ops.transpose(own, [2, 3, 1, 0]), strides, "valid", 0, dilations)
        for part, own in _groups(call, x, weights)
    ]
    y = parts[0] if len(parts) == 1 else ops.concat(parts, 3)
    extra = _two(call.get("output_padding"), 0)
    y = ops.pad(y, [(0, 0), (0, extra[0]), (0, extra[1]), (0, 0)])
    y = _resized_by(y, [(-a, -b) for a, b in _cuts(call, x, y, strides)])
    if (bias := call.input(2)) is not None:
        y = y + bias
    return ops.squeeze(_first(y), 2) if len(call.x.shape) == 3 else _first(y)


def _groups(call: OperatorCall, x: Tensor, weights: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return the channels of ``x`` and the weights of each group."""
    count = call.get("group", 1)
    if count == 1:
        return [(x, weights)]
    call.budget.spend(_COST * count)
    return list(zip(ops.split(x, count, 3), ops.split(weights, count, 0), strict=True))


def _cuts(call: OperatorCall, x: Tensor, y: Tensor, strides: Sequence[int]) -> Pairs:
    """Return the pixels of ``y`` that a transposed convolution of ``x`` leaves out on each side."""
    sizes = call.get("output_shape")
    automatic = call.get("auto_pad", "NOTSET")
    if sizes is None and not automatic.startswith("SAME"):
        return _pads(call, [1, 1], [1, 1])
    if None in (*x.shape[1:3], *y.shape[1:3]):
        raise NotApplicableError("output_shape or auto_pad for images of unknown size")
    if sizes is None:
        sizes = [int(n or 0) * s for n, s in zip(x.shape[1:3], strides, strict=True)]
    total = [int(a or 0) - b for a, b in zip(y.shape[1:3], _two(sizes, 1), strict=True)]
    halves = [(n // 2, n - n // 2) for n in total]
    return halves if automatic == "SAME_UPPER" else [(large, small) for small, large in halves]


def _resized_by(y: Tensor, sides: Pairs) -> Tensor:
    """Return images with zeros added to each side, or with pixels removed for negative numbers."""
    if any(n > 0 for pair in sides for n in pair):
        y = ops.pad(y, [(0, 0), *((max(0, a), max(0, b)) for a, b in sides), (0, 0)])
    rows, columns = (slice(max(0, -a), min(0, b) or None) for a, b in sides)
    return y[:, rows, columns]


@translates("MaxPool", "AveragePool")
def _pool(call: OperatorCall) -> Tensor:
    _expect_image(call)
    call.expect("storage_order", 0)
    if len(call.outputs) > 1:
        raise NotApplicableError("indices as a second output")
    if set(_two(call.get("dilations"), 1)) != {1}:
        raise NotApplicableError("dilated pooling")
    window, strides = _two(call.get("kernel_shape"), 1), _two(call.get("strides"), 1)
    x = _last(_as_image(call.x))
    sides = _pads(call, window, strides)
    pads = [(0, 0), *sides, (0, 0)]
    behind = [(0, 0), *_rounded_up(call, x, sides, window, strides), (0, 0)]
    every = [(a + c, b + d) for (a, b), (c, d) in zip(pads, behind, strict=True)]
    if call.get("operator") == "MaxPool":
        if not call.x.dtype.startswith("float"):
            raise NotApplicableError("pooling of integers")
        y = ops.max_pool2d(ops.pad(x, every, constant_values=-np.inf), window, strides)
    else:
        y = ops.avg_pool2d(ops.pad(x, every), window, strides)
        counts = bool(call.get("count_include_pad", 0))
        if any(map(any, behind if counts else every)):
            inside = ops.pad(ops.ones_like(x), pads, constant_values=float(counts))
            y = y / ops.avg_pool2d(ops.pad(inside, behind), window, strides)
    return ops.squeeze(_first(y), 2) if len(call.x.shape) == 3 else _first(y)


def _rounded_up(
    call: OperatorCall, x: Tensor, sides: Pairs, window: Sequence[int], strides: Sequence[int]
) -> Pairs:
    """Return the pixels that ceil_mode adds behind the padding, for a window that is cut off."""
    if not call.get("ceil_mode", 0):
        return [(0, 0), (0, 0)]
    added: Pairs = []
    for size, (before, after), width, stride in zip(
        x.shape[1:3], sides, window, strides, strict=True
    ):
        if size is None:
            raise NotApplicableError("ceil_mode=1 for images of unknown size")
        rest = size + before + after - width
        steps = -(-rest // stride)
        if steps * stride >= size + before:  # no window begins in the padding behind
            steps -= 1
        added.append((0, max(0, steps * stride - rest)))
    return added


@translates("GlobalAveragePool")
def _global_average(call: OperatorCall) -> Tensor:
    return ops.reduce_mean(call.x, tuple(range(2, len(call.x.shape))), keepdims=True)


@translates("GlobalMaxPool")
def _global_max(call: OperatorCall) -> Tensor:
    return ops.reduce_max(call.x, tuple(range(2, len(call.x.shape))), keepdims=True)


def _normalized(x: Tensor, axes: Sequence[int], epsilon: float) -> Tensor:
    mean = ops.reduce_mean(x, axes, keepdims=True)
    return (x - mean) * inverse_deviation(ops.var(x, axes, keepdims=True), epsilon)


def _of_channels(vector: Any, rank: int) -> Tensor:
    return ops.reshape(vector, [-1] + [1] * (rank - 2))


@translates("LayerNormalization")
def _layer_normalization(call: OperatorCall) -> Sequence[Tensor]:
    rank = len(call.x.shape)
    axes = list(range(call.get("axis", -1) % rank, rank))
    y = _normalized(call.x, axes, call.get("epsilon", 1e-5)) * call.required(1)
    y = y if (bias := call.input(2)) is None else y + bias
    mean = ops.reduce_mean(call.x, axes, keepdims=True)
    variance = ops.var(call.x, axes, keepdims=True)
    factor = inverse_deviation(variance, call.get("epsilon", 1e-5))
    return [y, mean, factor][: len(call.outputs)]


@translates("InstanceNormalization")
def _instance_normalization(call: OperatorCall) -> Tensor:
    rank = len(call.x.shape)
    y = _normalized(call.x, list(range(2, rank)), call.get("epsilon", 1e-5))
    return y * _of_channels(call.required(1), rank) + _of_channels(call.required(2), rank)


@translates("GroupNormalization")
def _group_normalization(call: OperatorCall) -> Tensor:
    rank, shape = len(call.x.shape), [-1 if n is None else n for n in call.x.shape]
    groups = call.get("num_groups")
    scale, bias = (_of_channels(_each_channel(v, shape[1], groups), rank) for v in call.all[1:])
    x = ops.reshape(call.x, [shape[0], groups, math.prod(shape[1:]) // groups])
    y = ops.reshape(_normalized(x, [2], call.get("epsilon", 1e-5)), shape)
    return y * scale + bias


def _each_channel(vector: Tensor, channels: int, groups: int) -> Tensor:
    """Return a number for each channel; before opset 21 there is one for each group."""
    return vector if vector.shape != (groups,) else ops.repeat(vector, channels // groups, 0)


@translates("BatchNormalization")
def _batch_normalization(call: OperatorCall) -> Tensor:
    if call.get("training_mode", 0):
        raise NotApplicableError(
            "training_mode=1",
            "Call network.eval() before torch.onnx.export, and pass it "
            "training=torch.onnx.TrainingMode.PRESERVE to keep batch normalization.",
        )
    if not isinstance(call.get("momentum", 0.9), float):
        raise NotApplicableError(f"momentum={call.get('momentum')!r:.40}")
    rank = len(call.x.shape)
    scale, bias, mean, variance = (_of_channels(v, rank) for v in call.all[1:5])
    factor = inverse_deviation(variance, call.get("epsilon", 1e-5))
    return (call.x - mean) * factor * scale + bias
