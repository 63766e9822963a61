"""Lowering of grouped 2-D convolution and its two gradients: each result is summed directly.

The groups of a depthwise convolution are single channels, too few to fill the tiles of a product.
"""

from __future__ import annotations

from typing import Any

from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import (
    KernelRequest,
    Lowering,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import nested
from playgrad.ops.lowering.item_kernel import item_kernel
from playgrad.ops.lowering.product import PARTIAL, STORE_PARTIAL, sum_partials
from playgrad.ops.lowering.window import window_constants

BUSY = 4096
"""Invocations that keep an adapter busy."""
LEAST = 64
"""The fewest products that are worth an invocation of their own."""


def lower_grouped_conv2d(request: KernelRequest) -> Lowering:
    """Lower the convolution of (image, filters)."""
    image, filters = request.inputs[:2]
    return _lower(request, "conv2d_grouped.wgsl", ("image", "filters"), image, filters,
                  request.outputs[0], filters.static_shape[:3])  # fmt: skip


def lower_grouped_input_gradient(request: KernelRequest) -> Lowering:
    """Lower the gradient by the image. Inputs are (filters, gradient of the output)."""
    filters, gradient = request.inputs[:2]
    loops = (*filters.static_shape[:2], filters.static_shape[3] // request.attrs["groups"])
    return _lower(request, "conv2d_grouped_input_gradient.wgsl", ("filters", "gradient"),
                  request.outputs[0], filters, gradient, loops)  # fmt: skip


def lower_grouped_filter_gradient(request: KernelRequest) -> Lowering:
    """Lower the gradient by the filters. Inputs are (image, gradient of the output).

    There are few weights, each a sum over all output pixels: the sum is split by rows of pixels.
    """
    image, gradient = request.inputs[:2]
    filters = request.outputs[0]
    batch, height, width, _ = gradient.static_shape
    rows = batch * height
    splits = max(1, min(BUSY // max(filters.size, 1), rows * width // LEAST, rows))
    if most := request.target.loop_rounds:
        splits = min(max(splits, -(-rows * (width + 2) // most)), max(rows, 1))
    rows_per_split = -(-rows // splits)
    splits = -(-rows // max(rows_per_split, 1))
    constants = {
        **_constants(request, image, filters, gradient),
        "WEIGHTS": filters.size,
        "ROWS": rows,
        "ROWS_PER_SPLIT": rows_per_split,
    }
    inputs = (input_binding("image", 0, image), input_binding("gradient", 1, gradient))
    extra = (*request.epilogue_bindings(), output_binding("result", 0, filters))
    call = item_kernel(
        request,
        "conv2d_grouped_filter_gradient.wgsl",
        filters.size * max(splits, 1),
        (*inputs, *(extra if splits <= 1 else (PARTIAL,))),
        _params(request, image, filters),
        loops=(nested(rows_per_split, width),),
        store=request.store("result") if splits <= 1 else STORE_PARTIAL,
        **constants,
    )
    if splits <= 1:
        return Lowering((call,))
    total = sum_partials(request, filters.size, filters.size, splits)
    return Lowering((call, total), scratch=(4 * filters.size * splits,))


def _lower(
    request: KernelRequest,
    kernel: str,
    names: tuple[str, str],
    image: TensorSpec,
    filters: TensorSpec,
    result: TensorSpec,
    loops: tuple[int, ...],
) -> Lowering:
    """Lower to one invocation for each element of output 0.

    Args:
        names: what the kernel calls the inputs.
        result: the spec of the result of the convolution.
        loops: the trips of the kernel's loops, each of which is in the one before.
    """
    call = item_kernel(
        request,
        kernel,
        request.outputs[0].size,
        (
            *(input_binding(name, i, request.inputs[i]) for i, name in enumerate(names)),
            *request.epilogue_bindings(),
            output_binding("result", 0, request.outputs[0]),
        ),
        _params(request, image, filters),
        loops=(nested(*loops),),
        store=request.store("result"),
        **_constants(request, image, filters, result),
    )
    return Lowering((call,))


def _constants(
    request: KernelRequest, image: TensorSpec, filters: TensorSpec, result: TensorSpec
) -> dict[str, Any]:
    _, height, width, channels = image.static_shape
    filter_height, filter_width, group_channels, outputs = filters.static_shape
    _, output_height, output_width, _ = result.static_shape
    return {
        "HEIGHT": height,
        "WIDTH": width,
        "CHANNELS": channels,
        "FILTER_HEIGHT": filter_height,
        "FILTER_WIDTH": filter_width,
        "GROUP_CHANNELS": group_channels,
        "OUTPUT_HEIGHT": output_height,
        "OUTPUT_WIDTH": output_width,
        "OUTPUTS": outputs,
        "GROUP_OUTPUTS": outputs // request.attrs["groups"],
        **window_constants(request.attrs),
    }


def _params(request: KernelRequest, image: TensorSpec, filters: TensorSpec) -> dict[str, Any]:
    windows = {
        key: request.attrs[key]
        for key in ("strides", "padding", "dilations", "groups")
        if key in request.attrs
    }
    return {**windows, "image": list(image.static_shape), "filters": list(filters.static_shape)}
