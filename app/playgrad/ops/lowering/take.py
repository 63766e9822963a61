"""Lowering of the pixels of an image at the positions of another's maxima."""

from __future__ import annotations

from playgrad.ops.core.kernel import KernelRequest, Lowering, input_binding, output_binding
from playgrad.ops.lowering.invocations import item_kernel


def lower_max_pool2d_take(request: KernelRequest) -> Lowering:
    """Inputs (image, positions int32 h * width + w); output: the image there, by channel."""
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
