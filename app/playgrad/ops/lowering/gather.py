"""Lowering of gather and of its gradient."""

from __future__ import annotations

from math import prod

from playgrad.dtypes import dtype
from playgrad.ops.core.kernel import (
    KernelRequest,
    Lowering,
    element_type,
    input_binding,
    output_binding,
)
from playgrad.ops.expression import wgsl
from playgrad.ops.lowering.item_kernel import item_kernel

MISSING = {"f32": "make_nan()", "i32": "0i", "u32": "0u", "bool": "false"}
"""The result for an index outside the table, by element type."""


def lower_gather(request: KernelRequest) -> Lowering:
    """Lower gather of (rows, int32 indices) to the shape indices.shape + rows.shape[1:].

    Packed bytes are copied as words if a row is a whole number of words, unless an epilogue needs
    each byte.
    """
    rows, indices = request.inputs[:2]
    count, *rest = rows.static_shape
    width = prod(rest)
    bindings = (
        input_binding("rows", 0, rows),
        input_binding("indices", 1, indices),
        *request.epilogue_bindings(),
        output_binding("result", 0, request.outputs[0]),
    )
    params = {"rows": count, "width": width, "dtype": rows.dtype}
    items = indices.size * width
    packed = rows.dtype == "uint8" and request.epilogue is None
    if packed and width % 4:
        call = item_kernel(
            request,
            "gather_bytes.wgsl",
            -(-items // 4),
            bindings,
            params,
            WIDTH=width,
            BYTES=items,
            ROWS=count,
        )
        return Lowering((call,))
    words = 4 if packed else 1
    number = element_type(rows)
    load = "rows[at]"
    if request.epilogue is not None:
        number = dtype(rows.dtype).wgsl or number
        load = wgsl.load("rows", rows, "at")
    call = item_kernel(
        request,
        "gather.wgsl",
        items // words,
        bindings,
        params,
        NUMBER=number,
        LOAD=load,
        WIDTH=width // words,
        ROWS=count,
        MISSING=MISSING[number],
        store=request.store("result", number=number),
    )
    return Lowering((call,))


def lower_gather_gradient(request: KernelRequest) -> Lowering:
    """Lower scatter_add of (gradient of the output, indices) to the gradient of the rows."""
    count, *rest = request.outputs[0].static_shape
    width = prod(rest)
    call = item_kernel(
        request,
        "gather_gradient.wgsl",
        count * width,
        (
            input_binding("gradient", 0, request.inputs[0]),
            input_binding("indices", 1, request.inputs[1]),
            *request.epilogue_bindings(),
            output_binding("result", 0, request.outputs[0]),
        ),
        {"rows": count, "width": width, "indices": request.inputs[1].size},
        iterations=request.inputs[1].size,
        WIDTH=width,
        INDICES=request.inputs[1].size,
        store=request.store("result"),
    )
    return Lowering((call,))
