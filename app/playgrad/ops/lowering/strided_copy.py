"""Copies between tensors with strides: an element at a time, four, or by squares.

If the target's tuning asks for it, a large copy moves vectors of four elements where these are
adjacent on both sides. Where neighbours in the source and in the result are along different axes,
as in a transposition, squares go through workgroup memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from playgrad.devices.tuning import VECTORS
from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.item_kernel import item_kernel, mixed_radix, number_type, strides_of

LEAST_ITEMS = 1 << 20
"""Elements from which on a copy is large: 4 MiB, which take a GPU about as long as a dispatch."""
MANY_ITEMS = 1 << 22
"""Elements from which on there is work for all processors if an invocation has four vectors."""
SQUARE = 32
"""The side of a square; TILE of transposed_copy.wgsl."""
_INVOCATIONS = 256


@dataclass(frozen=True)
class Side:
    """One side of a copy: element ``digits`` is at ``offset + sum(digits[i] * strides[i])``.

    Strides and offset may be negative.
    """

    strides: Sequence[int]
    offset: int = 0

    def place(self, sizes: Sequence[int]) -> str:
        """Return WGSL of the place of element ``index``, counted in row-major order."""
        return mixed_radix("index", sizes, self.strides, self.offset)


def strided_copy(
    request: KernelRequest,
    number: int,
    sizes: Sequence[int],
    source: Side | None = None,
    target: Side | None = None,
    is_part: bool = False,
) -> KernelCall:
    """Return the copy of input ``number`` to the result, for each element of a tensor of ``sizes``.

    Args:
        source, target: the places in input and result; None if they are the elements in order.
        is_part: whether other calls copy to other places of the result.
    """
    call = _copy(request, number, sizes, source, target)
    return as_part(call) if is_part else call


def as_part(call: KernelCall) -> KernelCall:
    """Return ``call``, which writes places of the result that others do not touch."""
    *inputs, result = call.bindings
    return replace(call, bindings=(*inputs, replace(result, is_part=True)))


def _copy(
    request: KernelRequest,
    number: int,
    sizes: Sequence[int],
    source: Side | None,
    target: Side | None,
) -> KernelCall:
    contiguous = Side(strides_of(sizes))
    one, other = source or contiguous, target or contiguous
    if request.target.tuning.memory == VECTORS and prod(sizes) >= LEAST_ITEMS:
        axes = [axis for axis, size in enumerate(sizes) if size > 1]
        long = [sizes[axis] for axis in axes]
        one = Side([one.strides[axis] for axis in axes], one.offset)
        other = Side([other.strides[axis] for axis in axes], other.offset)
        if _has_quads(long, one) and _has_quads(long, other):
            return _by_quads(request, number, long, one, other)
        if _suits_squares(request, long, one, other):
            return _by_squares(request, number, long, one, other)
    return copy_elements(
        request,
        number,
        sizes,
        "index" if source is None else source.place(sizes),
        "index" if target is None else target.place(sizes),
    )


def copy_elements(
    request: KernelRequest, number: int, sizes: Sequence[int], source: str, target: str,
    output: int = 0, lanes: int = 1,
) -> KernelCall:  # fmt: skip
    """Return result[target] = input[source] for each element ``index`` of a tensor of ``sizes``.

    ``number`` is the index of the input, ``output`` that of the result. An element consists of
    ``lanes`` numbers, 1 or 4.
    """
    items, limits = prod(sizes), request.target.limits
    if not items:  # a constant place outside the input does not compile, even if it is not read
        source = "0u"
    number_type(request.inputs[number])
    bindings = _bindings(request, number, output)
    if lanes > 1:
        bindings = tuple(
            replace(binding, element=f"vec{lanes}<{binding.element}>") for binding in bindings
        )
        if lanes * items >= MANY_ITEMS:
            size = min(_INVOCATIONS, limits.max_compute_invocations_per_workgroup)
            groups = grid(-(-items // 4), size, limits)
            params = {"items": items, "source": source, "target": target}
            code = render(
                "strided_copy_vectors.wgsl",
                SOURCE=source,
                TARGET=target,
                WORKGROUP=size,
                GRID_X=groups[0],
                ITEMS=items,
            )
            return KernelCall("strided_copy_vectors", params, code, bindings, groups, 4)
    return item_kernel(
        request,
        "strided_copy.wgsl",
        items,
        bindings,
        {"source": source, "target": target},
        SOURCE=source,
        TARGET=target,
    )


def _bindings(request: KernelRequest, number: int, output: int = 0) -> tuple[Binding, ...]:
    return (
        input_binding("source", number, request.inputs[number]),
        output_binding("result", output, request.outputs[output]),
    )


def _has_quads(sizes: Sequence[int], side: Side) -> bool:
    """Return whether elements are adjacent in aligned fours along the last axis."""
    if not sizes:
        return False
    aligned = (sizes[-1], side.offset, *side.strides[:-1])
    return side.strides[-1] == 1 and all(number % 4 == 0 for number in aligned)


def _by_quads(
    request: KernelRequest, number: int, sizes: Sequence[int], source: Side, target: Side
) -> KernelCall:
    quads = (*sizes[:-1], sizes[-1] // 4)
    source_place, target_place = (
        Side([*(stride // 4 for stride in side.strides[:-1]), 1], side.offset // 4).place(quads)
        for side in (source, target)
    )
    return copy_elements(request, number, quads, source_place, target_place, lanes=4)


def _suits_squares(
    request: KernelRequest, sizes: Sequence[int], source: Side, target: Side
) -> bool:
    """Return whether different axes, long enough for squares, are contiguous on the two sides."""
    if 1 not in source.strides or 1 not in target.strides:
        return False
    across, down = source.strides.index(1), target.strides.index(1)
    limit = request.target.limits.max_compute_invocations_per_workgroup
    return (
        across != down
        and min(sizes[across], sizes[down]) >= SQUARE // 2
        and (limit >= _INVOCATIONS)
    )


def _by_squares(
    request: KernelRequest, number: int, sizes: Sequence[int], source: Side, target: Side
) -> KernelCall:
    across, down = source.strides.index(1), target.strides.index(1)
    rest = [axis for axis in range(len(sizes)) if axis not in (across, down)]
    counts = [sizes[axis] for axis in rest]
    places = [
        Side([side.strides[axis] for axis in rest], side.offset).place(counts)
        for side in (source, target)
    ]
    tiles = [-(-sizes[axis] // SQUARE) for axis in (across, down)]
    groups = prod(tiles) * prod(counts)
    workgroups = grid(groups, 1, request.target.limits)
    source_down, target_across = source.strides[down], target.strides[across]
    params = {
        "sizes": [sizes[across], sizes[down]],
        "strides": [source_down, target_across],
        "source": places[0],
        "target": places[1],
    }
    code = render(
        "transposed_copy.wgsl",
        NUMBER=number_type(request.inputs[number]),
        GROUPS=groups,
        GRID_X=workgroups[0],
        TILES_ACROSS=tiles[0],
        TILES_DOWN=tiles[1],
        SIZE_ACROSS=sizes[across],
        SIZE_DOWN=sizes[down],
        SOURCE_DOWN=source_down % 2**32,
        TARGET_ACROSS=target_across % 2**32,
        SOURCE=places[0],
        TARGET=places[1],
    )
    lines = Loop(SQUARE * SQUARE // _INVOCATIONS)
    bindings = _bindings(request, number)
    return KernelCall(
        "transposed_copy", params, code, bindings, workgroups, 2 * lines.trips, loops=(lines,) * 2
    )
