"""Lowering of resize and its gradient."""

from __future__ import annotations

from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import KernelRequest, Lowering, input_binding, output_binding
from playgrad.ops.core.loops import nested
from playgrad.ops.lowering.item_kernel import item_kernel


def lower_resize(request: KernelRequest) -> Lowering:
    """Lower resize of images."""
    return _lower(request, "resize.wgsl", request.inputs[0], request.outputs[0])


def lower_resize_gradient(request: KernelRequest) -> Lowering:
    """Lower the gradient. The input is the gradient of the resized images."""
    return _lower(request, "resize_gradient.wgsl", request.outputs[0], request.inputs[0])


def _lower(request: KernelRequest, kernel: str, image: TensorSpec, resized: TensorSpec) -> Lowering:
    """Lower to one invocation for each element of the output."""
    _, height, width, channels = image.static_shape
    _, resized_height, resized_width, _ = resized.static_shape
    nearest = request.attrs["interpolation"] == "nearest"
    loops = [2, 2]
    if image is not request.inputs[0]:  # resize_gradient.wgsl reads some pixels more
        sizes = zip(resized.static_shape[1:3], image.static_shape[1:3], strict=True)
        loops = [min(after, 2 * after // before + 5) for after, before in sizes]
    call = item_kernel(
        request,
        kernel,
        request.outputs[0].size,
        (
            input_binding("source", 0, request.inputs[0]),
            *request.epilogue_bindings(),
            output_binding("result", 0, request.outputs[0]),
        ),
        {
            "image": list(image.static_shape),
            "resized": list(resized.static_shape),
            "interpolation": request.attrs["interpolation"],
        },
        loops=(nested(*loops),),
        NEAREST="true" if nearest else "false",
        HEIGHT=height,
        WIDTH=width,
        CHANNELS=channels,
        RESIZED_HEIGHT=resized_height,
        RESIZED_WIDTH=resized_width,
        store=request.store("result"),
    )
    return Lowering((call,))
