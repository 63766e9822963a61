"""Lowering of layer normalization and its gradient."""

from __future__ import annotations

from typing import Any

from playgrad.devices.tuning import VECTORS
from playgrad.ops.core.kernel import KernelRequest, Lowering, input_binding, output_binding
from playgrad.ops.core.loops import Loop
from playgrad.ops.lowering.item_kernel import item_kernel
from playgrad.ops.lowering.row_kernel import row_call, row_invocations

LEAST_SIZE = 1 << 18
"""Elements from which on a workgroup computes a row. Rows of a smaller tensor, one for an
invocation, may share a dispatch with other kernels."""
_LOADS = [
    "let p# = min(@, WIDTH - 1u);",
    "let x# = source[first + p#];",
    "let s# = scales[p#];",
]
_MOMENTS = {
    "shifts": ["?shift += x# - base;"],
    "squares": ["let d# = x# - mean;", "?squares += d# * d#;"],
}
_LINES = {
    "layer_normalization": {
        **_MOMENTS,
        "loads": [*_LOADS, "let o# = offsets[p#];"],
        "stores": ["?store(first + @, d# * factor * s# + o#);"],
    },
    "layer_normalization_gradient": {
        **_MOMENTS,
        "loads": [*_LOADS, "let g# = gradient[first + p#];"],
        "slopes": [
            "let n# = d# * factor;",
            "let h# = g# * s# - slope_base;",
            "?slope += h#;",
            "?along += h# * n#;",
        ],
        "stores": [
            "?by_source[first + @] = factor * (h# - slope - n# * along);",
            "?by_scale[first + @] = g# * n#;",
        ],
    },
}
"""The lines of the kernels ``<name>_row.wgsl`` for each element; see `row_kernel.row_call`."""


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
    return _lower(request, "layer_normalization", bindings, 1, store=request.store("result"))


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
    return _lower(request, "layer_normalization_gradient", bindings, 2)


def _lower(
    request: KernelRequest, kernel: str, bindings: Any, passes: int, **constants: Any
) -> Lowering:
    """Lower to one invocation for each row, or to a workgroup that reads it once.

    Args:
        passes: passes over a row beside the two for its mean and its variance.
    """
    width = request.inputs[0].static_shape[-1]
    rows = request.inputs[0].size // width
    epsilon = request.attrs["epsilon"]
    target, epsilon_text = request.target, repr(float(epsilon))
    invocations = row_invocations(width, target.limits.max_compute_invocations_per_workgroup)
    if target.tuning.memory == VECTORS and rows * width >= LEAST_SIZE and invocations is not None:
        row = row_call(
            request,
            f"{kernel}_row.wgsl",
            rows,
            width,
            invocations,
            bindings,
            {"epsilon": epsilon},
            trees=2 * passes,
            lines=_LINES[kernel],
            WIDTH=width,
            EPSILON=epsilon_text,
            **constants,
        )
        return Lowering((row,))
    call = item_kernel(
        request,
        f"{kernel}.wgsl",
        rows,
        bindings,
        {"width": width, "epsilon": epsilon},
        (Loop(width),) * (2 + passes),
        WIDTH=width,
        EPSILON=epsilon_text,
        **constants,
    )
    return Lowering((call,))
