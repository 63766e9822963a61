"""Lowering of gather and take_along_axis, and of their gradients, which add up updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

from playgrad.dtypes import dtype
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    element_type,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop
from playgrad.ops.expression import wgsl
from playgrad.ops.lowering.item_kernel import item_kernel, number_type
from playgrad.ops.lowering.reduce import combine
from playgrad.ops.lowering.sort import BLOCK, INTEGER_KEY, ordering

MISSING = {"f32": "make_nan()", "i32": "0i", "u32": "0u", "bool": "false"}
"""The result for an index outside the axis, by element type."""
MISSING_HALF = "0x7e00u"
"""The same for float16, as bits."""
SORTED_FROM = 1 << 18
"""Comparisons in a search of all indices, one for each of them and each element of the result, from
which sorting the indices pays: below, its dispatches cost more than they save."""


def lower_gather(request: KernelRequest) -> Lowering:
    """Lower gather of (params, int32 indices) along attrs ``axis``."""
    return _lower_picked(request, along=False)


def lower_take_along_axis(request: KernelRequest) -> Lowering:
    """Lower take_along_axis of (x, int32 indices) along attrs ``axis``."""
    return _lower_picked(request, along=True)


def _lower_picked(request: KernelRequest, along: bool) -> Lowering:
    """Lower result[o, i, d] = rows[o, p, d] with p = indices[i], or indices[o, i, d] if ``along``.

    Packed elements are copied as words if a row is a whole number of words, unless an epilogue
    needs each of them, or each has an index.
    """
    rows, indices = request.inputs[:2]
    axis = request.attrs.get("axis", 0)
    shape = rows.static_shape
    count, width = shape[axis], prod(shape[axis + 1 :])
    bindings = (
        input_binding("rows", 0, rows),
        input_binding("indices", 1, indices),
        *request.epilogue_bindings(),
        output_binding("result", 0, request.outputs[0]),
    )
    params = {"rows": count, "width": width, "dtype": rows.dtype, "along": along}
    items = request.outputs[0].size
    picked = indices.static_shape[axis] if along else indices.size
    per_word = dtype(rows.dtype).per_word if request.epilogue is None else 1
    words = per_word if not along and width % per_word == 0 else 1
    places = _places(prod(shape[:axis]), count, width // words, picked, along)
    if words < per_word:
        call = item_kernel(
            request,
            "gather_packed.wgsl",
            -(-items // per_word),
            bindings,
            params,
            loops=(Loop(per_word),),
            ELEMENTS=items,
            PER_WORD=per_word,
            ROWS=count,
            MISSING=MISSING_HALF if rows.dtype == "float16" else "0u",
            **places,
        )
        return Lowering((call,))
    number = element_type(rows)
    missing = MISSING[number]
    load = "rows[at]"
    if rows.dtype == "float16":
        missing = f"{MISSING_HALF} * 0x10001u"
    if request.epilogue is not None:
        number = dtype(rows.dtype).wgsl or number
        missing = MISSING[number]
        load = wgsl.load("rows", rows, "at")
    call = item_kernel(
        request,
        "gather.wgsl",
        items // words,
        bindings,
        params,
        NUMBER=number,
        LOAD=load,
        ROWS=count,
        MISSING=missing,
        store=request.store("result", number=number, beside=load),
        **places,
    )
    return Lowering((call,))


def _gathered(inputs: Sequence[TensorSpec], width: int) -> tuple[tuple[Binding, ...], str]:
    """Return the bindings of sources and weights, and WGSL for the update of an edge."""
    table, sources, _, *weights = inputs
    bindings = [input_binding("sources", 1, sources)]
    factor = ""
    if weights:
        bindings.append(input_binding("weights", 3, weights[0]))
        parts = prod(weights[0].static_shape[1:])
        factor = f" * weights[edge * {parts}u + column / {max(1, width // max(1, parts))}u]"
    text = f"""fn update_of(edge: u32, column: u32) -> Number {{
  let row = u32(sources[edge]);
  if (row >= {table.static_shape[0]}u) {{
    return Number();
  }}
  return updates[row * WIDTH + column]{factor};
}}"""
    return tuple(bindings), text


def _places(outer: int, count: int, width: int, picked: int, along: bool) -> dict[str, Any]:
    """Return the WIDTH of a row, and WGSL for the PLACE of its index and for the FIRST row.

    The FIRST row begins the block of ``count`` rows in which element ``index`` of the result
    lies.
    """
    rows = "index" if width == 1 else "index / WIDTH"
    block = max(1, picked * width)
    first = "0u" if outer == 1 else f"index / {block}u * {count}u"
    place = "index" if along else rows if outer == 1 else f"{rows} % {max(1, picked)}u"
    return {"WIDTH": max(1, width), "PLACE": place, "FIRST": first}


def lower_scatter_add(request: KernelRequest) -> Lowering:
    """Lower scatter_add of (updates, indices) along attrs ``axis``: the gradient of gather."""
    return _lower_added(request)


def lower_gather_sum(request: KernelRequest) -> Lowering:
    """Lower sums of rows of x, picked by sources, for each of the targets."""
    return _lower_added(request, gathered=3)


def lower_weighted_gather_sum(request: KernelRequest) -> Lowering:
    """Lower sums of rows of x times weights, picked by sources, for each of the targets."""
    return _lower_added(request, gathered=4)


def lower_segment_max(request: KernelRequest) -> Lowering:
    """Lower the largest of the updates with the same index; NaN where any is NaN."""
    return _lower_added(request, "max")


def lower_segment_min(request: KernelRequest) -> Lowering:
    """Lower the smallest of the updates with the same index; NaN where any is NaN."""
    return _lower_added(request, "min")


def lower_scatter_along_axis(request: KernelRequest) -> Lowering:
    """Lower scatter_along_axis of (updates, indices): the gradient of take_along_axis."""
    return _lower_added(request, along=True)


def _lower_added(
    request: KernelRequest, kind: str = "sum", along: bool = False, gathered: int = 0
) -> Lowering:
    """Lower the sums of updates, or their extremes.

    If ``gathered``, the number of inputs, is not 0, updates are rows of a table.

    Many are found by bisection of the sorted indices, few by a search of all; the order of
    additions is the same. Indices with attrs ``sorted`` are in order already.
    """
    updates, indices = request.inputs[0], request.inputs[2 if gathered else 1]
    axis = request.attrs.get("axis", 0)
    shape = request.outputs[0].static_shape
    count, width = shape[axis], prod(shape[axis + 1 :])
    picked = indices.static_shape[axis] if along else indices.size
    source = input_binding("indices", 2 if gathered else 1, indices)
    most = request.target.loop_rounds
    sorts = request.outputs[0].size * picked >= SORTED_FROM
    sorts |= most is not None and picked >= most
    stride = width if along else 1
    calls: list[KernelCall] = []
    scratch: tuple[int, ...] = ()
    order: tuple[Binding, ...] = ()
    in_order = bool(request.attrs.get("sorted"))
    if sorts and not in_order:
        merges = (-(-picked // BLOCK) - 1).bit_length()
        order = (Binding("order", "scratch", merges, "i32"),)
        calls, scratch = ordering(
            request,
            replace(source, name="source"),
            INTEGER_KEY,
            length=picked,
            inner=stride,
            items=indices.size,
            result=order[0],
        )
        scratch = (*scratch, 4 * indices.size)
    sorts |= in_order
    number = number_type(updates)
    following = "combine(total, update)"
    more: tuple[Binding, ...] = ()
    update_of, update = "", "updates[first + at * WIDTH]" if sorts else "updates[at]"
    if gathered:
        edge = "at" if sorts else "i"
        update = f"update_of({edge}, index % WIDTH)"
        more, update_of = _gathered(request.inputs[:gathered], width)
    call = item_kernel(
        request,
        "scatter_add_sorted.wgsl" if sorts else "scatter_add.wgsl",
        request.outputs[0].size,
        (
            input_binding("updates", 0, updates),
            source,
            *more,
            *order,
            *request.epilogue_bindings(),
            output_binding("result", 0, request.outputs[0]),
        ),
        {"rows": count, "width": width, "indices": picked, "along": along, "kind": kind},
        loops=(Loop(picked.bit_length()), Loop(picked)) if sorts else (Loop(picked),),
        iterations=2 * picked.bit_length() if sorts else picked,
        NUMBER=number,
        ROWS=max(1, count),
        WIDTH=max(1, width),
        INDICES=picked,
        combine=combine(kind, number),
        UPDATE=update,
        update_of=update_of,
        NEXT=following if kind == "sum" else f"select({following}, update, i == low)",
        store=request.store("result", number=number),
        **(
            {
                "STRIDE": stride,
                "LINE": "first" if along else "0u",
                "PLACE": "i" if in_order else "u32(order[line + i * STRIDE])",
            }
            if sorts
            else {"PLACE": "at" if along else "i"}
        ),
    )
    return Lowering((*calls, call), scratch)
