"""``quantized_conv2d``: 2-D convolution of int8 images, with int8 results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, OpDef, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.convolution.window import (
    extent,
    output_sizes,
    pair,
    resolve_padding,
    shifted,
    windows,
)
from playgrad.ops.core.build import add_node, as_tensors, expect_dtype, expect_rank, whole
from playgrad.ops.lowering.quantized_conv2d import lower_quantized_conv2d
from playgrad.ops.quantized.conv2d_samples import INVALID, SAMPLES
from playgrad.ops.quantized.product import int8_product, requantized_rows
from playgrad.ops.quantized.requantize import (
    LEAST,
    MOST,
    expect_between,
    expect_channels,
    expect_range,
    range_attrs,
    requantized,
)

Pair = int | Sequence[int]
"""One number, or (vertical, horizontal)."""


def quantized_conv2d(
    x: Any,
    w: Any,
    bias: Any,
    multiplier: Any,
    shift: Any,
    *,
    strides: Pair = 1,
    padding: Sequence[Sequence[int]] = ((0, 0), (0, 0)),
    dilation: Pair = 1,
    groups: int = 1,
    input_dilation: Pair = 1,
    pad_value: int = 0,
    zero_point: int,
    low: int = LEAST,
    high: int = MOST,
    name: str | None = None,
) -> Tensor:
    """Return the 2-D convolution of int8 images as int8.

    ``acc = bias + convolution`` in int32, which wraps around. The result is ``acc * multiplier /
    2^shift``, rounded with halves up, plus ``zero_point``, limited to [``low``, ``high``]. As many
    groups as channels make a depthwise convolution, ``input_dilation`` a transposed one.

    Args:
        x: images of shape (batch, height, width, channels); int8.
        w: shape (filter height, filter width, channels / groups, out); int8.
        bias: shape (out,), with the zero point of ``x`` as in `quantized_matmul`; int32.
        multiplier: shape (out,), in [2^30, 2^31); int32.
        shift: shape (out,), in [1, 62]; int32. Others count as the nearest of these.
        strides: distance between windows in pixels.
        padding: pixels added around each image: ((top, bottom), (left, right)).
        dilation: distance between the pixels that meet neighbouring weights of a filter.
        groups: the groups into which channels and outputs are divided.
        input_dilation: distance of neighbouring pixels after pixels of ``pad_value`` were put
            between them, before the padding.
        pad_value: the int8 of the pixels that are added: the zero point of ``x``.
        zero_point: the int8 that stands for 0 in the result.
        low, high: -128 ≤ low ≤ high ≤ 127.

    Returns:
        An int8 tensor of shape (batch, out height, out width, out), with the sizes of `conv2d`. It
        has no gradient.

    Raises:
        DTypeError: an input has another dtype.
        ShapeError: the shapes do not fit, or a filter is larger than the padded image.
        GraphError: a number lies outside its range.
    """
    inputs = as_tensors(x, w, bias, multiplier, shift)
    attrs = {
        "strides": pair(strides, "strides"),
        "padding": resolve_padding(padding, inputs[0].spec, (1, 1), (1, 1)),
        "dilation": pair(dilation, "dilation"),
        "groups": whole(groups, "groups"),
        "input_dilation": pair(input_dilation, "input_dilation"),
        "pad_value": whole(pad_value, "pad_value"),
        **range_attrs(zero_point, low, high),
    }
    return add_node(_CONV2D, inputs, attrs, name=name).output


def surrounded_size(shape: Sequence[int | None], attrs: Attrs) -> list[int | None]:
    """Return the height and width of images of ``shape`` with the pixels between and around."""
    return [
        None if size is None else (max(size - 1, 0) * step + min(size, 1)) + sum(sides)
        for size, step, sides in zip(
            shape[1:3], attrs["input_dilation"], attrs["padding"], strict=True
        )
    ]


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, w = inputs[:2]
    what = "quantized_conv2d"
    for spec in (x, w):
        expect_dtype(spec, f"the images and filters of {what}", "int8")
    expect_rank(x, 4, f"the images of {what}, (batch, height, width, channels),")
    expect_rank(w, 4, f"the filters of {what}, (height, width, in, out),")
    if 0 in w.shape[:2]:
        raise ShapeError(f"{what}: the filters {shape_text(w.shape)} have no pixels.")
    groups, outputs = attrs["groups"], w.shape[3]
    if groups < 1 or (outputs is not None and outputs % groups):
        raise ShapeError(f"{what}: {outputs} outputs cannot be divided into {groups} groups.")
    expected = None if w.shape[2] is None else w.shape[2] * groups
    if None not in (x.shape[3], expected) and x.shape[3] != expected:
        raise ShapeError(
            f"{what}: the images {shape_text(x.shape)} have {x.shape[3]} channels, but the filters "
            f"{shape_text(w.shape)} take {expected}."
        )
    expect_channels(inputs[2:], outputs, what)
    expect_range(attrs, what)
    expect_between(attrs, "pad_value", LEAST, MOST, what)
    whole_image = TensorSpec((x.shape[0], *surrounded_size(x.shape, attrs), x.shape[3]), x.dtype)
    unpadded = {"strides": attrs["strides"], "padding": ((0, 0), (0, 0))}
    height, width = output_sizes(
        whole_image, extent(w.shape[:2], attrs["dilation"]), unpadded, what
    )
    return [TensorSpec((x.shape[0], height, width, outputs), "int8")]


def _surrounded(x: Array, attrs: Attrs) -> Array:
    """Return images with the pixels that are put between and around theirs."""
    (top, _), (left, _) = attrs["padding"]
    step_y, step_x = attrs["input_dilation"]
    height, width = (size or 0 for size in surrounded_size(x.shape, attrs))
    if (height, width) == x.shape[1:3]:
        return x
    result = np.full((len(x), height, width, x.shape[3]), attrs["pad_value"], np.int8)
    rows = slice(top, top + (x.shape[1] - 1) * step_y + 1, step_y)
    columns = slice(left, left + (x.shape[2] - 1) * step_x + 1, step_x)
    if x.size:
        result[:, rows, columns] = x
    return result


def _windows(image: Array, size: Sequence[int], attrs: Attrs) -> Array:
    """Return a view (batch, out height, out width, *size, channels) of ``image``."""
    view = windows(image, size, {"strides": attrs["strides"], "dilations": attrs["dilation"]})
    return view.transpose(0, 1, 2, 4, 5, 3)


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, w, bias, multiplier, shift = inputs
    groups, outputs = attrs["groups"], w.shape[3]
    view = _windows(_surrounded(x, attrs), w.shape[:2], attrs)
    taps = prod(w.shape[:2])
    pixels = view.astype(np.int64).reshape(prod(view.shape[:3]), taps, groups, w.shape[2])
    weights = w.astype(np.int64).reshape(taps, w.shape[2], groups, outputs // groups)
    products = np.einsum("ptgc,tcgn->pgn", pixels, weights).reshape(*view.shape[:3], outputs)
    return [requantized((products + bias).astype(np.int32), multiplier, shift, attrs)]


def _prepare(
    inputs: Sequence[TensorSpec], attrs: Attrs
) -> Callable[[Sequence[Array]], Sequence[Array]]:
    is_depthwise = attrs["groups"] > 1 and inputs[1].static_shape[2] == 1
    summed = _depthwise_sums if is_depthwise else _sums

    def convolution(arrays: Sequence[Array]) -> list[Array]:
        x, w, bias, multiplier, shift = arrays
        sums = summed(_surrounded(x, attrs), w, attrs)
        sums += bias
        rows = sums.reshape(prod(sums.shape[:3]), w.shape[3])
        return [requantized_rows(rows, multiplier, shift, attrs).reshape(sums.shape)]

    return convolution


def _sums(image: Array, w: Array, attrs: Attrs) -> Array:
    """Return the convolution as int32, one group after the other."""
    groups = attrs["groups"]
    depth, outputs = w.shape[2], w.shape[3] // groups
    view = _windows(image.astype(np.float32), w.shape[:2], attrs)
    result = np.empty((*view.shape[:3], w.shape[3]), np.int32)
    for group in range(groups):
        inside = slice(group * depth, (group + 1) * depth)
        outside = slice(group * outputs, (group + 1) * outputs)
        pixels = view[..., inside].reshape(prod(view.shape[:3]), prod(w.shape[:3]))
        matrix = w[..., outside].reshape(prod(w.shape[:3]), outputs)
        result[..., outside] = int8_product(pixels, matrix).reshape(*view.shape[:3], outputs)
    return result


def _depthwise_sums(image: Array, w: Array, attrs: Attrs) -> Array:
    """Return the convolution as int32, one position in the filter after the other."""
    sizes = [
        (size - whole_size) // stride + 1
        for size, whole_size, stride in zip(
            image.shape[1:3], extent(w.shape[:2], attrs["dilation"]), attrs["strides"], strict=True
        )
    ]
    groups = attrs["groups"]
    weights = w.reshape(*w.shape[:2], groups, w.shape[3] // groups).astype(np.int32)
    result = np.zeros((len(image), *sizes, *weights.shape[2:]), np.int32)
    for y, x in np.ndindex(*w.shape[:2]):
        offset = (y * attrs["dilation"][0], x * attrs["dilation"][1])
        pixels = shifted(image, offset, (sizes[0], sizes[1]), attrs["strides"])
        result += pixels[..., None] * weights[y, x]
    return result.reshape(len(image), *sizes, w.shape[3])


_CONV2D = register(
    OpDef(
        name="quantized_conv2d",
        infer=_infer,
        reference=_reference,
        prepare=_prepare,
        lower=lower_quantized_conv2d,
        packed=True,
        samples=SAMPLES,
        invalid=INVALID,
    )
)
