"""Lowering of argsort: blocks sorted by counting, then merged in pairs.

Neither step needs barriers, which are slow on software adapters, or a size that is a power of two.
"""

from __future__ import annotations

from math import prod
from typing import Any

from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop
from playgrad.ops.lowering.item_kernel import item_kernel, number_type

BLOCK = 64
"""Elements that the first dispatch sorts by counting, in BLOCK steps each.

On a software adapter 64 rows of 1,000 take 19 ms with 64, 87 ms with 256; smaller blocks save
little and need more dispatches.
"""

INTEGER_KEY = "(bitcast<u32>(source[at]) ^ 0x80000000u)"
"""The place of an i32 in the order, as a u32."""
_KEYS = {
    "f32": "float_key(source[at])",
    "i32": INTEGER_KEY,
    "u32": "source[at]",
}
"""The place of an element in the order, as a u32, by element type."""


def lower_argsort(request: KernelRequest) -> Lowering:
    """Lower the stable order along attrs ``axis``; attrs ``descending``."""
    shape = request.inputs[0].static_shape
    axis = request.attrs["axis"]
    source = input_binding("source", 0, request.inputs[0])
    calls, scratch = ordering(
        request,
        source,
        _KEYS[number_type(request.inputs[0])],
        length=shape[axis],
        inner=prod(shape[axis + 1 :]),
        items=request.inputs[0].size,
        descending=request.attrs["descending"],
        result=output_binding("order", 0, request.outputs[0]),
    )
    return Lowering(tuple(calls), scratch)


def ordering(
    request: KernelRequest,
    source: Binding,
    key: str,
    *,
    length: int,
    inner: int,
    items: int,
    result: Binding,
    descending: bool = False,
) -> tuple[list[KernelCall], tuple[int, ...]]:
    """Return dispatches that write the order of elements to ``result``, and their scratch buffers.

    Args:
        source: the elements, called ``source``.
        key: WGSL for the place of the element ``source[at]`` in the order, as a u32.
        length, inner: the size of the axis, and of the axes after it.
        items: the number of all elements.
        result: receives their indices along the axis as i32, called ``order``.
    """
    params = {"length": length, "inner": inner, "descending": descending}
    constants: dict[str, Any] = {
        "LENGTH": max(1, length),
        "INNER": max(1, inner),
        "KEY": f"~{key}" if descending else key,
    }
    block = min(BLOCK, max(1, length))
    merges = (-(-length // block) - 1).bit_length() if length else 0
    orders = [Binding("order", "scratch", i, "i32") for i in range(merges)]
    orders.append(result)
    calls = [
        item_kernel(
            request,
            "argsort_blocks.wgsl",
            items,
            (source, orders[0]),
            params,
            loops=(Loop(block),),
            BLOCK=block,
            **constants,
        )
    ]
    for number in range(merges):
        runs = Binding("runs", "scratch", number, "i32")
        run = block << number
        calls.append(
            item_kernel(
                request,
                "argsort_merge.wgsl",
                items,
                (source, runs, orders[number + 1]),
                params,
                loops=(Loop(run.bit_length()),),
                RUN=run,
                **constants,
            )
        )
    return calls, (4 * items,) * merges
