"""Lowering of reductions along axes, in a fixed order, and of argmax and argmin.

attrs: ``axes`` (non-negative, sorted). A reduction with few outputs is split into parts, which a
second dispatch reduces. If the target's tuning asks for it, contiguous elements are reduced by a
tree in workgroup memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from playgrad.devices.tuning import SUBGROUPS, TREES
from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.item_kernel import (
    item_kernel,
    mixed_radix,
    number_type,
    strides_of,
)
from playgrad.ops.lowering.subgroups import subgroup_parts

INVOCATIONS = 128
"""Invocations that share a tree; a power of two."""
BUSY_GROUPS = 64
"""Enough trees to keep a GPU busy."""
BUSY_INVOCATIONS = {TREES: 4096, SUBGROUPS: 4096, "many_invocations": 4096, "few_invocations": 256}
"""Enough independent invocations to keep a GPU or the cores of a processor busy, by variant."""
LEAST_CHUNK = 64
"""With fewer elements in a part, a split costs more than it gains."""


@dataclass(frozen=True)
class _Stage:
    """One dispatch: ``outputs`` results of ``reduced`` elements each, in parts of ``chunk``.

    Element r of output o is at output_offset(o) + reduced_offset(r), both WGSL in terms of
    ``index``. A mean divides by ``count``, the elements behind one result of the whole reduction.
    """

    kind: str
    number: str
    outputs: int
    reduced: int
    chunk: int
    output_offset: str
    reduced_offset: str
    tree: bool
    count: int

    @property
    def splits(self) -> int:
        return max(1, -(-self.reduced // self.chunk))


def lower_reduce_sum(request: KernelRequest) -> Lowering:
    """Lower the sum over ``axes``."""
    return _lower(request, "sum", request.attrs["axes"])


def lower_reduce_mean(request: KernelRequest) -> Lowering:
    """Lower the mean over ``axes``, float32."""
    return _lower(request, "mean", request.attrs["axes"])


def lower_reduce_max(request: KernelRequest) -> Lowering:
    """Lower the maximum over ``axes``; NaN where any is NaN."""
    return _lower(request, "max", request.attrs["axes"])


def lower_reduce_min(request: KernelRequest) -> Lowering:
    """Lower the minimum over ``axes``; NaN where any is NaN."""
    return _lower(request, "min", request.attrs["axes"])


def lower_reduce_prod(request: KernelRequest) -> Lowering:
    """Lower the product over ``axes``."""
    return _lower(request, "prod", request.attrs["axes"])


def lower_sum_to(request: KernelRequest) -> Lowering:
    """Lower the sum over the axes along which the output broadcasts to the input."""
    source, target = request.inputs[0].static_shape, request.outputs[0].static_shape
    padded = (1,) * (len(source) - len(target)) + target
    axes = [axis for axis, size in enumerate(source) if padded[axis] == 1 and size != 1]
    return _lower(request, "sum", axes)


def _lower(request: KernelRequest, kind: str, axes: Sequence[int]) -> Lowering:
    shape = request.inputs[0].static_shape
    strides = strides_of(shape)
    remaining = [axis for axis in range(len(shape)) if axis not in axes]
    outputs, reduced = prod(shape[i] for i in remaining), prod(shape[i] for i in axes)
    contiguous = bool(axes) and axes[-1] == len(shape) - 1
    variant = request.target.tuning.reduction
    tree = contiguous and reduced >= INVOCATIONS // 2 and variant in (TREES, SUBGROUPS)
    first = _Stage(
        kind=kind,
        number=number_type(request.inputs[0]),
        outputs=outputs,
        reduced=reduced,
        chunk=_chunk(outputs, reduced, tree, BUSY_INVOCATIONS[variant], request.target.loop_rounds),
        output_offset=mixed_radix(
            "index", [shape[i] for i in remaining], [strides[i] for i in remaining]
        ),
        reduced_offset=mixed_radix("index", [shape[i] for i in axes], [strides[i] for i in axes]),
        tree=tree,
        count=reduced,
    )
    source = input_binding("source", 0, request.inputs[0])
    result = output_binding("result", 0, request.outputs[0])
    final = (*request.epilogue_bindings(), result)
    store = request.store("result", number=first.number)
    if first.splits == 1:
        return Lowering((_call(request, first, (source, *final), store, last=True),))
    parts = Binding("parts", "scratch", 0, first.number)
    second = replace(
        first,
        reduced=first.splits,
        chunk=first.splits,
        output_offset="index",
        reduced_offset=f"index * {outputs}u",
        tree=outputs == 1 and variant in (TREES, SUBGROUPS),
    )
    store_part = f"fn store(index: u32, value: {first.number}) {{ parts[index] = value; }}"
    calls = (
        _call(request, first, (source, parts), store_part, last=False),
        _call(request, second, (replace(parts, name="source"), *final), store, last=True),
    )
    return Lowering(calls, scratch=(4 * outputs * first.splits,))


def _chunk(outputs: int, reduced: int, tree: bool, invocations: int, most: int | None) -> int:
    """Return the elements of one part: all, unless there are too few outputs to share the work, or
    an invocation may take at most ``most`` rounds."""
    workers = max(outputs, 1)
    if tree:
        splits = min(-(-BUSY_GROUPS // workers), reduced // (8 * INVOCATIONS))
    else:
        splits = min(-(-invocations // workers), reduced // LEAST_CHUNK)
    if most is not None:  # and a tree takes some rounds more
        splits = max(splits, -(-reduced // ((most - 16) * (INVOCATIONS if tree else 1))))
    return max(1, -(-reduced // max(splits, 1)))


def _call(
    request: KernelRequest,
    stage: _Stage,
    bindings: tuple[Binding, ...],
    store: str,
    last: bool,
) -> KernelCall:
    items = stage.outputs * stage.splits
    constants: dict[str, Any] = {
        "NUMBER": stage.number,
        "OUTPUTS": max(stage.outputs, 1),
        "REDUCED": stage.reduced,
        "CHUNK": stage.chunk,
        "OUTPUT_OFFSET": stage.output_offset,
        "REDUCED_OFFSET": stage.reduced_offset,
        # The sum of no elements is 0, their product 1.
        "LOAD": "source[index]" if stage.reduced else f"Number({int(stage.kind == 'prod')})",
        "combine": combine(stage.kind, stage.number),
        "FINISH": f"total / f32({stage.count})" if last and stage.kind == "mean" else "total",
        "store": store,
    }
    params = {
        "kind": stage.kind,
        "outputs": stage.outputs,
        "reduced": stage.reduced,
        "chunk": stage.chunk,
        "output_offset": stage.output_offset,
        "reduced_offset": stage.reduced_offset,
    }
    if not stage.tree:
        loop = Loop(stage.chunk)
        return item_kernel(request, "reduce.wgsl", items, bindings, params, (loop,), **constants)
    groups = grid(items, 1, request.target.limits)
    constants |= {"INVOCATIONS": INVOCATIONS, "ITEMS": items, "GRID_X": groups[0]}
    family, last_loop = "reduce_shared", Loop(INVOCATIONS.bit_length())
    if request.target.tuning.reduction == SUBGROUPS:
        family, last_loop = "reduce_subgroups", Loop(INVOCATIONS)
        constants |= subgroup_parts(stage.kind, stage.number)
    code = render(f"{family}.wgsl", **constants)
    loops = Loop(-(-stage.chunk // INVOCATIONS)), last_loop
    return KernelCall(family, params, code, bindings, groups, loops[0].trips, loops=loops)


def combine(kind: str, number: str) -> str:
    """Return WGSL of ``fn combine(x: Number, y: Number) -> Number``.

    Args:
        kind: "sum", "mean", "prod", "max" or "min".
        number: the WGSL type that ``Number`` is.
    """
    if kind in ("sum", "mean", "prod"):
        symbol = "*" if kind == "prod" else "+"
        return f"fn combine(x: Number, y: Number) -> Number {{ return x {symbol} y; }}"
    if number != "f32":
        return f"fn combine(x: Number, y: Number) -> Number {{ return {kind}(x, y); }}"
    function = "larger" if kind == "max" else "smaller"
    body = f"fn combine(x: f32, y: f32) -> f32 {{ return {function}(x, y); }}"
    return f"{render('common/numbers.wgsl')}\n{body}"


def lower_argmax(request: KernelRequest) -> Lowering:
    """Lower the int32 index of the largest element along attrs ``axis``, the first of equal ones.

    NaN is larger than any number.
    """
    return _lower_position(request, "argmax", ">")


def lower_argmin(request: KernelRequest) -> Lowering:
    """Lower the index of the smallest element, as ``lower_argmax``; NaN is smaller than any."""
    return _lower_position(request, "argmin", "<")


def _lower_position(request: KernelRequest, kind: str, symbol: str) -> Lowering:
    shape = request.inputs[0].static_shape
    axis = request.attrs["axis"] % len(shape)
    length, outputs = shape[axis], request.outputs[0].size
    most = request.target.loop_rounds
    chunk = length if most is None else min(length, most - 1)
    chunks = -(-length // chunk)
    source = input_binding("source", 0, request.inputs[0])
    result = output_binding("winners", 0, request.outputs[0])
    inner = prod(shape[axis + 1 :])
    number = number_type(request.inputs[0])
    plain = f"fn better(value: {number}, best: {number}) -> bool {{ return value {symbol} best; }}"

    def call(candidates: int, chunk: int, place: str, *bindings: Binding) -> KernelCall:
        return item_kernel(
            request,
            "argmax.wgsl",
            outputs * -(-candidates // chunk),
            bindings,
            {"length": length, "inner": inner, "better": symbol, "chunk": chunk},
            loops=(Loop(chunk),),
            NUMBER=number,
            LENGTH=length,
            INNER=inner,
            OUTPUTS=max(outputs, 1),
            CANDIDATES=candidates,
            CHUNK=chunk,
            PLACE=place,
            better=render("common/better_float.wgsl", BETTER=symbol) if number == "f32" else plain,
        )

    if chunks == 1:
        return Lowering((call(length, length, "candidate", source, result),))
    first, parts = Binding("winners", "scratch", 0, "i32"), Binding("parts", "scratch", 0, "i32")
    calls = (
        call(length, chunk, "candidate", source, first),
        call(chunks, chunks, "u32(parts[candidate * OUTPUTS + output])", source, parts, result),
    )
    return Lowering(calls, scratch=(4 * outputs * chunks,))
