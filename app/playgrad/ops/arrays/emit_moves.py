"""Operations that only move elements, of any dtype: views of arrays, copied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.graph.opdef import Attrs
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.core.static_kernel import MOVED, static_kernel
from playgrad.wasm.copies import clear, copy_run, copy_view, fill
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.nest import Strides


@static_kernel("identity", "stop_gradient", dtypes=MOVED)
def _identity(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    copy_run(code.f, y.bytes, y.item, x.address, y.address)


@static_kernel("broadcast_to", dtypes=MOVED)
def _broadcast(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    strides = broadcast_strides(x, y.shape)
    copy_view(code.f, y.shape, y.item, (x.address, strides), (y.address, y.strides))


def broadcast_strides(x: ArrayPlace, shape: Sequence[int]) -> Strides:
    """Return the strides with which ``x`` has ``shape``."""
    missing = (0,) * (len(shape) - len(x.shape))
    return missing + tuple(0 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True))


@static_kernel("transpose", dtypes=MOVED)
def _transpose(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    strides = tuple(x.strides[axis] for axis in attrs["perm"])
    copy_view(code.f, y.shape, y.item, (x.address, strides), (y.address, y.strides))


@static_kernel("slice", dtypes=MOVED)
def _slice(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    start = x.address + _offset(attrs["begin"], x.strides)
    copy_view(code.f, y.shape, y.item, (start, x.strides), (y.address, y.strides))


@static_kernel("pad", dtypes=MOVED)
def _pad(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    if y.count > x.count:
        fill(code.f, y.address, y.count, as_bytes(attrs["value"], y.dtype))
    start = y.address + _offset([before for before, _ in attrs["padding"]], y.strides)
    copy_view(code.f, x.shape, x.item, (x.address, x.strides), (start, y.strides))


@static_kernel("strided_slice", dtypes=MOVED)
def _strided_slice(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    offset, strides = _sliced(x, attrs["slices"])
    copy_view(code.f, y.shape, y.item, (x.address + offset, strides), (y.address, y.strides))


@static_kernel("unslice", dtypes=MOVED)
def _unslice(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,), (y,) = inputs, outputs
    offset, strides = _sliced(y, attrs["slices"])
    clear(code.f, y.address, y.count * y.item)
    copy_view(code.f, x.shape, x.item, (x.address, x.strides), (y.address + offset, strides))


@static_kernel("roll", dtypes=MOVED)
def _roll(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    """Copy each of the blocks into which the shifts divide the array."""
    (x,), (y,) = inputs, outputs
    if not x.count:
        return
    blocks: list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = [((), (), ())]
    for size, shift in zip(x.shape, attrs["shift"], strict=True):
        first = shift % size
        parts = [(0, first, size - first), (size - first, 0, first)]  # from, to, how many
        blocks = [
            ((*reads, read), (*writes, write), (*sizes, count))
            for reads, writes, sizes in blocks
            for read, write, count in parts
            if count
        ]
    for reads, writes, sizes in blocks:
        source = x.address + _offset(reads, x.strides), x.strides
        target = y.address + _offset(writes, y.strides), y.strides
        copy_view(code.f, sizes, x.item, source, target)


@static_kernel("concat", dtypes=MOVED, shared=SharedRows(1e-9, unless_first="axis"))
def _concat(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (y,), axis = outputs, attrs["axis"]
    first = 0
    for x in inputs:
        target = y.address + first * y.strides[axis], y.strides
        copy_view(code.f, x.shape, x.item, (x.address, x.strides), target)
        first += x.shape[axis]


@static_kernel("stack_rows", dtypes=MOVED)
def _stack(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (y,) = outputs
    for number, x in enumerate(inputs):
        size = x.count * x.item
        copy_run(code.f, size, x.item, x.address, y.address + number * size)


@static_kernel("unstack_rows", dtypes=MOVED)
def _unstack(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (x,) = inputs
    for number, y in enumerate(outputs):
        size = y.count * y.item
        copy_run(code.f, size, y.item, x.address + number * size, y.address)


@static_kernel("fill", dtypes=MOVED)
def _fill(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (y,) = outputs
    fill(code.f, y.address, y.count, as_bytes(attrs["value"], y.dtype))


def as_bytes(value: float, dtype: str) -> bytes:
    """Return a number as an element of an array."""
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(dtype).tobytes()


def _offset(places: Sequence[int], strides: Strides) -> int:
    return sum(place * stride for place, stride in zip(places, strides, strict=True))


def _sliced(x: ArrayPlace, slices: Sequence[Sequence[int | None]]) -> tuple[int, Strides]:
    """Return the bytes before the first element that slices take, and their strides."""
    ranges = [range(*slice(*part).indices(n)) for n, part in zip(x.shape, slices, strict=True)]
    starts = [each.start if len(each) else 0 for each in ranges]
    steps = tuple(each.step * s for each, s in zip(ranges, x.strides, strict=True))
    return _offset(starts, x.strides), steps
