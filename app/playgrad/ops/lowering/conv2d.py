"""Lowering of 2-D convolution and its two gradients as implicit matrix products.

Images are (batch, height, width, channels), filters (height, width, in, out). attrs: ``strides``
[vertical, horizontal] and ``padding`` [[top, bottom], [left, right]], in pixels of zeros; where
they are not 1, ``dilations`` [vertical, horizontal] and ``groups``. Grouped convolutions have
kernels of their own (``grouped_conv2d.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.grouped_conv2d import (
    lower_grouped_conv2d,
    lower_grouped_filter_gradient,
    lower_grouped_input_gradient,
)
from playgrad.ops.lowering.product import lower_product
from playgrad.ops.lowering.tiling import Product
from playgrad.ops.lowering.window import is_padded, window_constants


def _params(attrs: Mapping[str, Any], **shapes: tuple[int, ...]) -> dict[str, Any]:
    return {
        "strides": list(attrs["strides"]),
        "padding": [list(pair) for pair in attrs["padding"]],
        **({"dilations": list(attrs["dilations"])} if "dilations" in attrs else {}),
        **{name: list(shape) for name, shape in shapes.items()},
    }


def lower_conv2d(request: KernelRequest) -> Lowering:
    """Lower conv2d of (image, filters).

    The product is output pixels by output channels; a tap is a row of the filter, or with
    horizontal dilation a position in it.
    """
    if "groups" in request.attrs:
        return lower_grouped_conv2d(request)
    image, filters = request.inputs[0].static_shape, request.inputs[1].static_shape
    batch, output_height, output_width, outputs = request.outputs[0].static_shape
    _, height, width, channels = image
    filter_height, filter_width, _, _ = filters
    constants = window_constants(request.attrs)
    taps_across = 1 if constants["DILATION_X"] == 1 else filter_width
    depth = filter_width // taps_across * channels
    rows_code = render(
        "conv2d_rows.wgsl",
        WIDTH=width,
        HEIGHT=height,
        CHANNELS=channels,
        OUTPUT_WIDTH=output_width,
        OUTPUT_HEIGHT=output_height,
        **constants,
    )
    product = Product(
        rows=batch * output_height * output_width,
        columns=outputs,
        depth=depth,
        rows_code=rows_code,
        a_step=1,
        a_run=channels,
        taps=filter_height * taps_across,
        tap_columns=taps_across,
        b_tap=depth * outputs,
        b_depth=outputs,
        b_column=1,
        padded=is_padded(request.attrs),
        places=width * channels,
    )
    params = _params(request.attrs, image=image, filters=filters)
    return lower_product(request, product, "conv2d", params)


def lower_conv2d_input_gradient(request: KernelRequest) -> Lowering:
    """Lower the gradient by the image. Inputs are (filters, gradient of the output).

    The product is image pixels by input channels, of A = gradient and B = filters; a tap is a
    position in the filter.
    """
    if "groups" in request.attrs:
        return lower_grouped_input_gradient(request)
    filters, gradient = request.inputs[0].static_shape, request.inputs[1].static_shape
    batch, height, width, channels = request.outputs[0].static_shape
    _, output_height, output_width, outputs = gradient
    filter_height, filter_width, _, _ = filters
    rows_code = render(
        "conv2d_input_gradient_rows.wgsl",
        WIDTH=width,
        HEIGHT=height,
        OUTPUT_WIDTH=output_width,
        OUTPUT_HEIGHT=output_height,
        **window_constants(request.attrs),
    )
    product = Product(
        rows=batch * height * width,
        columns=channels,
        depth=outputs,
        rows_code=rows_code,
        a_step=1,
        a_run=outputs,
        taps=filter_height * filter_width,
        tap_columns=filter_width,
        b_tap=channels * outputs,
        b_depth=1,
        b_column=outputs,
        padded=True,
        places=1,
        place_step=0,
    )
    params = _params(request.attrs, filters=filters, gradient=gradient)
    return lower_product(request, product, "conv2d_input_gradient", params, operands=(1, 0))


def lower_conv2d_filter_gradient(request: KernelRequest) -> Lowering:
    """Lower the gradient by the filters. Inputs are (image, gradient of the output).

    The product is weights by output channels; a tap is a row of output pixels. As there are many
    taps and few weights, the product is usually split.
    """
    if "groups" in request.attrs:
        return lower_grouped_filter_gradient(request)
    image, gradient = request.inputs[0].static_shape, request.inputs[1].static_shape
    filter_height, filter_width, channels, outputs = request.outputs[0].static_shape
    batch, height, width, _ = image
    _, output_height, output_width, _ = gradient
    constants = window_constants(request.attrs)
    stride_x = constants.pop("STRIDE_X")  # applies from depth to depth; the others locate a row
    rows_code = render(
        "conv2d_filter_gradient_rows.wgsl",
        WIDTH=width,
        HEIGHT=height,
        CHANNELS=channels,
        FILTER_WIDTH=filter_width,
        **constants,
    )
    product = Product(
        rows=filter_height * filter_width * channels,
        columns=outputs,
        depth=output_width,
        rows_code=rows_code,
        a_step=stride_x * channels,
        a_run=channels,
        taps=batch * output_height,
        tap_columns=output_height,
        b_tap=output_width * outputs,
        b_depth=outputs,
        b_column=1,
        padded=is_padded(request.attrs),
        places=width,
        place_step=stride_x,
    )
    params = _params(request.attrs, image=image, gradient=gradient)
    return lower_product(request, product, "conv2d_filter_gradient", params)
