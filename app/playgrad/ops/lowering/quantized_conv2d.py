"""Lowering of 2-D convolution of int8 images."""

from __future__ import annotations

from typing import Any

from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop, nested
from playgrad.ops.lowering.item_kernel import item_kernel
from playgrad.ops.lowering.quantized import range_constants
from playgrad.ops.lowering.quantized_product import (
    Int8Product,
    finish,
    lower_int8_product,
    per_channel,
)


def lower_quantized_conv2d(request: KernelRequest) -> Lowering:
    """Lower quantized_conv2d of (x, w, bias, multiplier, shift).

    Pixels around and between those of the images are written into a scratch buffer first.
    """
    attrs = request.attrs
    batch, height, width, channels = request.inputs[0].static_shape
    filter_height, filter_width, depth, _ = request.inputs[1].static_shape
    _, output_height, output_width, outputs = request.outputs[0].static_shape
    calls: list[KernelCall] = []
    scratch: list[int] = []
    x = input_binding("x", 0, request.inputs[0])
    if any(map(any, attrs["padding"])) or list(attrs["input_dilation"]) != [1, 1]:
        call, height, width = _surround(request)
        calls.append(call)
        scratch.append(4 * max(1, -(-batch * height * width * channels // 4)))
        x = Binding("x", "scratch", 0, "u32")
    params = {**attrs, "image": [batch, height, width, channels]}
    if attrs["groups"] > 1:
        lowering = _grouped(request, x, (height, width, channels), params, len(scratch))
        return Lowering((*calls, *lowering.calls), (*scratch, *lowering.scratch))
    (stride_y, stride_x), (step_y, step_x) = attrs["strides"], attrs["dilation"]
    # A row of the filter is a tap where its pixels are adjacent, else each of its positions.
    across = 1 if step_x == 1 else filter_width
    product = Int8Product(
        rows=batch * output_height * output_width,
        columns=outputs,
        depth=depth * filter_width // across,
        taps=filter_height * across,
        tap_columns=across,
        tap_row=step_y * width * channels,
        tap_column=step_x * channels if across > 1 else 0,
        output_width=output_width,
        output_height=output_height,
        x_column=stride_x * channels,
        x_row=stride_y * width * channels,
        x_image=height * width * channels,
    )
    lowering = lower_int8_product(request, product, "quantized_conv2d", params, x, len(scratch))
    return Lowering((*calls, *lowering.calls), (*scratch, *lowering.scratch))


def _surround(request: KernelRequest) -> tuple[KernelCall, int, int]:
    """Return the dispatch that writes the pixels around and between those of the images, and the
    height and width of its result."""
    attrs, image = request.attrs, request.inputs[0]
    batch, height, width, channels = image.static_shape
    (top, _), (left, _) = attrs["padding"]
    step_y, step_x = attrs["input_dilation"]
    result_height, result_width = (
        max(size - 1, 0) * step + min(size, 1) + sum(sides)
        for size, step, sides in zip(
            (height, width), attrs["input_dilation"], attrs["padding"], strict=True
        )
    )
    items = batch * result_height * result_width * channels
    call = item_kernel(
        request,
        "quantized_surround.wgsl",
        -(-items // 4),
        (input_binding("images", 0, image), Binding("surrounded", "scratch", 0, "u32")),
        {**attrs, "image": list(image.static_shape)},
        loops=(Loop(4),),
        ELEMENTS=items,
        HEIGHT=height,
        WIDTH=width,
        CHANNELS=max(1, channels),
        RESULT_HEIGHT=max(1, result_height),
        RESULT_WIDTH=max(1, result_width),
        PAD_TOP=top,
        PAD_LEFT=left,
        STEP_Y=step_y,
        STEP_X=step_x,
        PAD_BYTE=attrs["pad_value"] & 0xFF,
    )
    return call, result_height, result_width


def _grouped(
    request: KernelRequest,
    x: Binding,
    image: tuple[int, int, int],
    params: dict[str, Any],
    scratch: int,
) -> Lowering:
    """Return the dispatches of a grouped convolution of images of a height, width and channels."""
    attrs, items = request.attrs, request.outputs[0].size
    filter_height, filter_width, depth, outputs = request.inputs[1].static_shape
    _, output_height, output_width, _ = request.outputs[0].static_shape
    by_words = depth == 1 and outputs == image[2] and outputs % 4 == 0
    sums = Binding("sums", "scratch", scratch, "i32")
    last = (*per_channel(request), output_binding("result", 0, request.outputs[0]))
    call = item_kernel(
        request,
        f"quantized_conv2d_{'depthwise' if by_words else 'grouped'}.wgsl",
        items // 4 if by_words else items,
        (x, input_binding("w", 1, request.inputs[1]), *(last if by_words else (sums,))),
        params,
        loops=(nested(filter_height, filter_width, *(() if by_words else (depth,))),),
        HEIGHT=image[0],
        WIDTH=image[1],
        CHANNELS=max(1, image[2]),
        FILTER_HEIGHT=filter_height,
        FILTER_WIDTH=filter_width,
        GROUP_CHANNELS=max(1, depth),
        OUTPUT_HEIGHT=max(1, output_height),
        OUTPUT_WIDTH=max(1, output_width),
        OUTPUTS=max(1, outputs),
        GROUP_OUTPUTS=max(1, outputs // attrs["groups"]),
        STRIDE_Y=attrs["strides"][0],
        STRIDE_X=attrs["strides"][1],
        DILATION_Y=attrs["dilation"][0],
        DILATION_X=attrs["dilation"][1],
        **(range_constants(attrs) if by_words else {}),
    )
    if by_words:
        return Lowering((call,))
    return Lowering((call, finish(request, items, outputs, 1, (sums, *last))), (4 * items,))
