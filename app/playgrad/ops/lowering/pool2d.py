"""Lowering of 2-D pooling and its gradients.

Images are (batch, height, width, channels). attrs: ``pool_size`` [height, width], ``strides``
[vertical, horizontal], ``padding`` [[top, bottom], [left, right]].
"""

from __future__ import annotations

from playgrad.ops.core.kernel import Binding, KernelRequest, Lowering, input_binding, output_binding
from playgrad.ops.core.loops import nested
from playgrad.ops.lowering.item_kernel import item_kernel
from playgrad.ops.lowering.window import window_constants


def lower_max_pool2d(request: KernelRequest) -> Lowering:
    """Lower max_pool2d to (maxima, positions), a position being int32 row * width + column."""
    bindings = (
        input_binding("images", 0, request.inputs[0]),
        *request.epilogue_bindings(),
        output_binding("result", 0, request.outputs[0]),
        output_binding("positions", 1, request.outputs[1]),
    )
    return _lower(request, "pool2d_max.wgsl", bindings, request.inputs[0].static_shape, pooled=True)


def lower_max_pool2d_gradient(request: KernelRequest) -> Lowering:
    """Lower the gradient. Inputs are (gradient of the maxima, positions)."""
    bindings = (
        input_binding("gradient", 0, request.inputs[0]),
        input_binding("positions", 1, request.inputs[1]),
        *request.epilogue_bindings(),
        output_binding("result", 0, request.outputs[0]),
    )
    image = request.outputs[0].static_shape
    return _lower(request, "pool2d_max_gradient.wgsl", bindings, image, pooled=False)


def lower_avg_pool2d(request: KernelRequest) -> Lowering:
    """Lower avg_pool2d, the mean over the pixels of a window that lie in the image."""
    bindings = (
        input_binding("images", 0, request.inputs[0]),
        *request.epilogue_bindings(),
        output_binding("result", 0, request.outputs[0]),
    )
    image = request.inputs[0].static_shape
    return _lower(request, "pool2d_average.wgsl", bindings, image, pooled=True)


def lower_avg_pool2d_gradient(request: KernelRequest) -> Lowering:
    """Lower the gradient. The input is the gradient of the means."""
    bindings = (
        input_binding("gradient", 0, request.inputs[0]),
        *request.epilogue_bindings(),
        output_binding("result", 0, request.outputs[0]),
    )
    image = request.outputs[0].static_shape
    return _lower(request, "pool2d_average_gradient.wgsl", bindings, image, pooled=False)


def lower_max_pool2d_take(request: KernelRequest) -> Lowering:
    """Lower max_pool2d_take of (image, positions): the pixels at the positions, by channel."""
    image, output = request.inputs[0].static_shape, request.outputs[0].static_shape
    _, height, width, channels = image
    call = item_kernel(
        request,
        "pool2d_take.wgsl",
        request.outputs[0].size,
        (
            input_binding("images", 0, request.inputs[0]),
            input_binding("positions", 1, request.inputs[1]),
            *request.epilogue_bindings(),
            output_binding("result", 0, request.outputs[0]),
        ),
        {"image": list(image), "output": list(output)},
        PIXELS=height * width,
        CHANNELS=channels,
        OUTPUTS=output[1] * output[2] * channels,
        store=request.store("result"),
    )
    return Lowering((call,))


def _lower(
    request: KernelRequest,
    kernel: str,
    bindings: tuple[Binding, ...],
    image: tuple[int, ...],
    pooled: bool,
) -> Lowering:
    """Lower to one invocation for each element of output 0, the ``pooled`` or the full image."""
    output = (request.outputs if pooled else request.inputs)[0].static_shape
    _, height, width, channels = image
    pool_height, pool_width = request.attrs["pool_size"]
    windows = {key: request.attrs[key] for key in ("pool_size", "strides", "padding")}
    loops = [
        size if pooled else -(-size // stride)
        for size, stride in zip(windows["pool_size"], windows["strides"], strict=True)
    ]
    call = item_kernel(
        request,
        kernel,
        request.outputs[0].size,
        bindings,
        {"image": list(image), **windows},
        loops=(nested(*loops),),
        HEIGHT=height,
        WIDTH=width,
        CHANNELS=channels,
        OUTPUT_HEIGHT=output[1],
        OUTPUT_WIDTH=output[2],
        POOL_HEIGHT=pool_height,
        POOL_WIDTH=pool_width,
        **window_constants(request.attrs),
        store=request.store("result"),
    )
    return Lowering((call,))
