"""Lowering of layer normalization and its gradient."""

from __future__ import annotations

from typing import Any

from playgrad.ops.core.kernel import KernelRequest, Lowering, input_binding, output_binding
from playgrad.ops.core.loops import Loop
from playgrad.ops.lowering.item_kernel import item_kernel


def lower_layer_normalization(request: KernelRequest) -> Lowering:
    """Lower (x [..., n], scale [n], offset [n]) to the normalized x; attrs: ``epsilon``."""
    bindings = (
        *(
            input_binding(name, number, request.inputs[number])
            for number, name in enumerate(("source", "scales", "offsets"))
        ),
        *request.epilogue_bindings(),
        output_binding("result", 0, request.outputs[0]),
    )
    return _lower(request, "layer_normalization.wgsl", bindings, 1, store=request.store("result"))


def lower_layer_normalization_gradient(request: KernelRequest) -> Lowering:
    """Lower (x [..., n], scale [n], gradient [..., n]) to the gradients by x and by scale.

    The second is not summed over the rows yet.
    """
    bindings = (
        *(
            input_binding(name, number, request.inputs[number])
            for number, name in enumerate(("source", "scales", "gradient"))
        ),
        output_binding("by_source", 0, request.outputs[0]),
        output_binding("by_scale", 1, request.outputs[1]),
    )
    return _lower(request, "layer_normalization_gradient.wgsl", bindings, 2)


def _lower(
    request: KernelRequest, kernel: str, bindings: Any, passes: int, **constants: Any
) -> Lowering:
    """Lower to one invocation for each row.

    Args:
        passes: passes over a row beside the two for its mean and its variance.
    """
    width = request.inputs[0].static_shape[-1]
    rows = request.inputs[0].size // width
    epsilon = request.attrs["epsilon"]
    call = item_kernel(
        request,
        kernel,
        rows,
        bindings,
        {"width": width, "epsilon": epsilon},
        (Loop(width),) * (2 + passes),
        WIDTH=width,
        EPSILON=repr(float(epsilon)),
        **constants,
    )
    return Lowering((call,))
