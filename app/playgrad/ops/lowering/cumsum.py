"""Lowering of running sums: line by line, or, where lines are few and long, in blocks."""

from __future__ import annotations

from math import isqrt, prod

from playgrad.ops.core.kernel import (
    Binding,
    KernelRequest,
    Lowering,
    element_type,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop
from playgrad.ops.lowering.item_kernel import item_kernel, number_type
from playgrad.ops.lowering.reduce import BUSY_INVOCATIONS

LONG = 1024
"""Elements of a line from which it is divided into blocks if there are few lines."""


def lower_cumsum(request: KernelRequest) -> Lowering:
    """Lower the running sum along attrs ``axis``.

    An invocation adds up one line, or one block of it: then a dispatch before writes the sums of
    all blocks, and each block begins with the total of the blocks before it.
    """
    shape = request.inputs[0].static_shape
    axis, exclusive = request.attrs["axis"], request.attrs["exclusive"]
    length, inner = shape[axis], prod(shape[axis + 1 :])
    lines = request.inputs[0].size // max(length, 1)
    busy = BUSY_INVOCATIONS[request.target.tuning.reduction]
    most = request.target.loop_rounds
    divides = length >= LONG and (lines < busy or (most is not None and length >= most))
    block = isqrt(length) if divides else max(1, length)
    blocks = -(-length // block)
    source = input_binding("source", 0, request.inputs[0])
    result = output_binding("result", 0, request.outputs[0])
    params = {"length": length, "inner": inner, "block": block, **request.attrs}
    constants = {
        "NUMBER": number_type(request.inputs[0]),
        "LENGTH": length,
        "INNER": inner,
        "LINES": max(1, lines),
        "BLOCK": block,
        "POSITION": f"{length - 1}u - i" if request.attrs["reverse"] else "i",
    }
    stored = "total" if exclusive else "total + value"
    if blocks <= 1:
        call = item_kernel(
            request,
            "cumsum.wgsl",
            lines,
            (source, result),
            params,
            loops=(Loop(length),),
            STORED=stored,
            BEFORE="",
            **constants,
        )
        return Lowering((call,))
    sums = Binding("sums", "scratch", 0, element_type(request.inputs[0]))
    items = lines * blocks
    calls = (
        item_kernel(
            request,
            "cumsum_block_sums.wgsl",
            items,
            (source, sums),
            params,
            loops=(Loop(block),),
            **constants,
        ),
        item_kernel(
            request,
            "cumsum.wgsl",
            items,
            (source, sums, result),
            params,
            loops=(Loop(blocks), Loop(block)),
            STORED=stored,
            BEFORE="for (var b = 0u; b < block; b++) { total += sums[b * LINES + line]; }",
            **constants,
        ),
    )
    return Lowering(calls, scratch=(4 * items,))
