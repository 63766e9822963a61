"""Lowering of softmax, log_softmax, and cross-entropy with its gradient."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from playgrad.devices.tuning import SUBGROUPS, TREES, VECTORS
from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop, innermost, rounds
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.item_kernel import item_kernel
from playgrad.ops.lowering.row_kernel import row_call, row_invocations
from playgrad.ops.lowering.subgroups import softmax_parts

INVOCATIONS = 128
"""Invocations that share a row on a GPU; a power of two."""
_PASSES = 3
"""Passes over a row: for its maximum, for the sum, and for the results."""


def lower_softmax(request: KernelRequest) -> Lowering:
    """Lower softmax along attrs ``axis`` (default: the last)."""
    return _lower(request, logarithm=False)


def lower_log_softmax(request: KernelRequest) -> Lowering:
    """Lower log_softmax along attrs ``axis`` (default: the last)."""
    return _lower(request, logarithm=True)


def _lower(request: KernelRequest, logarithm: bool) -> Lowering:
    shape = request.inputs[0].static_shape
    axis = request.attrs.get("axis", -1) % len(shape)
    classes, inner = shape[axis], prod(shape[axis + 1 :])
    rows = request.inputs[0].size // classes
    bindings = _bindings(request)
    params = {"classes": classes, "inner": inner, "rows": rows, "logarithm": logarithm}
    loops = (Loop(classes),) * _PASSES
    constants: dict[str, Any] = {
        "CLASSES": classes,
        "INNER": inner,
        "LOGARITHM": logarithm,
        "store": request.store("result"),
    }
    most = request.target.loop_rounds
    alone = request.target.tuning.reduction not in (TREES, SUBGROUPS) and (
        most is None or rounds(loops) <= most
    )
    if alone or classes < INVOCATIONS:
        call = item_kernel(request, "softmax.wgsl", rows, bindings, params, loops, **constants)
        return Lowering((call,))
    if inner == 1 and request.target.tuning.memory == VECTORS:
        limit = request.target.limits.max_compute_invocations_per_workgroup
        invocations = row_invocations(classes, limit, least=INVOCATIONS)
        if invocations is not None:
            return Lowering((_in_registers(request, rows, classes, invocations, logarithm),))
    groups = grid(rows, 1, request.target.limits)
    by_subgroups = request.target.tuning.reduction == SUBGROUPS
    constants |= {"ITEMS": rows, "GRID_X": groups[0], **softmax_parts(by_subgroups, INVOCATIONS)}
    code = render("softmax_shared.wgsl", **constants)
    shared = (Loop(-(-classes // INVOCATIONS)),) * _PASSES
    trees = (Loop(INVOCATIONS if by_subgroups else INVOCATIONS.bit_length()),) * 2
    family = "softmax_subgroups" if by_subgroups else "softmax_shared"
    call = KernelCall(family, params, code, bindings, groups, innermost(shared))
    return Lowering((replace(call, loops=(*shared, *trees)),))


def _bindings(request: KernelRequest) -> tuple[Binding, ...]:
    return (
        input_binding("logits", 0, request.inputs[0]),
        *request.epilogue_bindings(),
        output_binding("result", 0, request.outputs[0]),
    )


def _in_registers(
    request: KernelRequest, rows: int, classes: int, invocations: int, logarithm: bool
) -> KernelCall:
    """Return the dispatch in which a workgroup reads its row once."""
    value = "x# - largest - log_sum" if logarithm else "e# / sum"
    return row_call(
        request,
        "softmax_row.wgsl",
        rows,
        classes,
        invocations,
        _bindings(request),
        {"logarithm": logarithm},
        trees=2,
        lines={
            "loads": [f"let x# = logits[first + min(@, {classes - 1}u)];"],
            "maxima": ["largest = larger(largest, x#);"],
            "sums": ["let e# = exp_of(x# - largest);", "?sum += e#;"],
            "stores": [f"?store(first + @, {value});"],
        },
        CLASSES=classes,
        store=request.store("result"),
    )


def lower_softmax_cross_entropy(request: KernelRequest) -> Lowering:
    """Lower cross-entropy of (logits [b, c], labels) to the loss [b] and its gradient [b, c].

    Labels are int32 [b], class indices (one outside [0, c) makes loss and gradient NaN), or float32
    [b, c], a probability for each class.
    """
    rows, classes = request.inputs[0].static_shape
    dense = request.inputs[1].rank == 2
    call = item_kernel(
        request,
        "softmax_cross_entropy_dense.wgsl" if dense else "softmax_cross_entropy.wgsl",
        rows,
        (
            input_binding("logits", 0, request.inputs[0]),
            input_binding("labels", 1, request.inputs[1]),
            output_binding("loss", 0, request.outputs[0]),
            output_binding("gradient", 1, request.outputs[1]),
        ),
        {"classes": classes},
        loops=(Loop(classes),) * (_PASSES + dense),
        CLASSES=classes,
    )
    return Lowering((call,))
