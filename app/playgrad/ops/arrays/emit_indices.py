"""Operations that find elements or slices by indices, and sorting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from playgrad.graph.opdef import Attrs
from playgrad.ops.arrays.emit_moves import as_bytes
from playgrad.ops.core.row_share import PART, SharedRows
from playgrad.ops.core.static_kernel import COMPUTED, MOVED, Write, static_kernel
from playgrad.ops.core.target_share import SharedTargets
from playgrad.wasm import indexed
from playgrad.wasm.copies import clear
from playgrad.wasm.elements import ELEMENTS, load, store
from playgrad.wasm.encoding import I32
from playgrad.wasm.indexed import EdgeSums, SliceTable, inside
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.nest import Strides, nest
from playgrad.wasm.reduction_kinds import MAXIMUM, MINIMUM, SUM, Reduction
from playgrad.wasm.scalars import scalar
from playgrad.wasm.sorting import argsort_line
from playgrad.wasm.values import StackValue, integer


def _slices(x: ArrayPlace, axis: int, rank: int = 1) -> SliceTable:
    """Return the slices of ``x`` behind ``rank`` axes from ``axis`` on."""
    rows, width = prod(x.shape[axis : axis + rank]), prod(x.shape[axis + rank :])
    return SliceTable(prod(x.shape[:axis]), rows, width, x.dtype, x.item)


_SLICES = SharedRows(1e-9, whole=(0,), only_first="axis", rows_of=1, rank=1)


@static_kernel("gather", dtypes=MOVED, may_fail=True, shared=_SLICES)
def _gather(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x, ids), (y,) = inputs, outputs
    table = _slices(x, attrs.get("axis", 0))
    indexed.gather(code, table, ids.count, x.address, ids.address, y.address)


def _scatter(reduction: Reduction) -> Write:
    def emit(
        code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
    ) -> None:
        (updates, ids), (y,) = inputs, outputs
        table = _targets(y, attrs)
        _expect_targets(code, ids, attrs)
        places = updates.address, ids.address, y.address
        indexed.scatter(code, table, reduction, ids.count, *places)

    return emit


def _targets(y: ArrayPlace, attrs: Attrs) -> SliceTable:
    """Return the slices that others are reduced into."""
    table = _slices(y, attrs.get("axis", 0))
    return replace(table, part=attrs.get(PART), ordered=bool(attrs.get("sorted")))


def _expect_targets(code: KernelCode, ids: ArrayPlace, attrs: Attrs) -> None:
    """Fail unless all targets are inside; of threads that share them, the first one does."""
    ordered = bool(attrs.get("sorted"))
    with code.f.when(code.first.equals(0)):
        indexed.expect_inside(code, ids.address, ids.count, attrs["rows"], ordered)


for _name, _reduction in (("scatter_add", SUM), ("segment_max", MAXIMUM), ("segment_min", MINIMUM)):
    static_kernel(_name, dtypes=COMPUTED, widens=True, may_fail=True, shared=SharedTargets(1))(
        _scatter(_reduction)
    )


@static_kernel(
    "gather_sum", "weighted_gather_sum", widens=True, may_fail=True, shared=SharedTargets(2)
)
def _gather_sum(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x, sources, targets, *weights), (y,) = inputs, outputs
    table = _targets(y, attrs)
    parts = prod(weights[0].shape[1:]) if weights else 1
    factors = weights[0].address if weights else None
    part = table.width // max(parts, 1)
    edges = EdgeSums(x.address, sources.address, targets.address, factors, part)
    if table.part is None:
        indexed.expect_inside(code, sources.address, sources.count, x.shape[0], ordered=False)
    _expect_targets(code, targets, attrs)
    indexed.gather_sum(code, table, x.shape[0], sources.count, edges, y.address)


def _other_axes(strides: Strides, axis: int) -> Strides:
    """Return strides that do not move along ``axis``."""
    return (*strides[:axis], 0, *strides[axis + 1 :])


_OTHER_ROWS = SharedRows(1e-9, unless_first="axis")


@static_kernel("take_along_axis", dtypes=MOVED, may_fail=True, shared=_OTHER_ROWS)
def _take_along_axis(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x, ids), (y,), axis, f = inputs, outputs, attrs["axis"], code.f
    if not y.count or not x.count:
        return
    places = (
        (x.address, _other_axes(x.strides, axis)),
        (ids.address, ids.strides),
        (y.address, y.strides),
    )
    with nest(f, ids.shape, places) as (read, index, write):
        place = inside(code, index.load(I32), x.shape[axis]) * x.strides[axis]
        store(f, x.bits, write, load(x.bits, read + place))


@static_kernel(
    "scatter_along_axis", dtypes=COMPUTED, widens=True, may_fail=True, shared=_OTHER_ROWS
)
def _scatter_along_axis(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x, ids), (y,), axis, f = inputs, outputs, attrs["axis"], code.f
    element = x.element
    clear(f, y.address, y.count * y.item)
    places = (
        (x.address, x.strides),
        (ids.address, ids.strides),
        (y.address, _other_axes(y.strides, axis)),
    )
    with nest(f, ids.shape, places) as (read, index, write):
        value = inside(code, index.load(I32), y.shape[axis])
        place = f.copy(write + value * y.strides[axis])
        total = scalar(f"{element.prefix}.add", load(element, place), load(element, read))
        store(f, element, place, total)


@static_kernel("one_hot", dtypes=MOVED, shared=SharedRows(3e-10, rank=1))
def _one_hot(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (ids,), (y,), f, depth = inputs, outputs, code.f, attrs["depth"]
    clear(f, y.address, y.count * y.item)
    one = integer(int.from_bytes(as_bytes(1, y.dtype)[-4:], "little", signed=True))
    last = max(0, y.item - 4)  # of float64, whose other half is 0
    bits = ELEMENTS["int32"] if y.item == 8 else y.bits
    places = ((ids.address, (4,)), (y.address, (depth * y.item,)))
    with nest(f, [ids.count], places) as (index, row):
        value = f.copy(index.load(I32))
        with f.when(scalar("i32.lt_u", value, depth)):
            store(f, bits, row + value * y.item, one, last)


@static_kernel("lookup", dtypes=MOVED)
def _lookup(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x, table), (y,), f = inputs, outputs, code.f
    with nest(f, [x.count], [(x.address, (1,)), (y.address, (1,))]) as (read, write):
        place = table.address + (load(x.element, read) + 128)
        store(f, y.bits, write, load(y.bits, place))


@static_kernel(
    "argsort",
    dtypes=COMPUTED | {"bool"},
    widens=True,
    shared=SharedRows(5e-8, unless_first="axis"),
)
def _argsort(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,), axis = inputs, outputs, attrs["axis"]
    element, length = x.element, x.shape[axis]
    if not x.count:
        return
    scratch: StackValue = code.scratch(8 * length)
    sizes = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    places = ((x.address, x.strides), (y.address, y.strides))
    with nest(code.f, sizes, places) as (source, target):
        steps = x.strides[axis], y.strides[axis]
        argsort_line(code, element, length, attrs["descending"], source, target, steps, scratch)
