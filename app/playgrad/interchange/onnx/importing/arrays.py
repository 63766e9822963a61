"""Operators of ONNX that move elements, and products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad import ops
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing.call import (
    NotApplicableError,
    OperatorCall,
    translates,
)


@translates("Reshape")
def _reshape(call: OperatorCall) -> Tensor:
    if call.shapes:
        (shape,) = call.shapes
        if shape.count(None) > 1:
            raise NotApplicableError("a result with several sizes that depend on the batch")
        return ops.reshape(call.x, shape)
    sizes = call.value(1)
    if not call.get("allowzero", 0):
        sizes = [call.x.shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    return ops.reshape(call.x, sizes)


@translates("Flatten")
def _flatten(call: OperatorCall) -> Tensor:
    sizes = call.x.shape
    axis = call.get("axis", 1)
    axis += len(sizes) if axis < 0 else 0
    halves = [-1 if None in part else math.prod(part) for part in (sizes[:axis], sizes[axis:])]  # type: ignore[arg-type]
    return ops.reshape(call.x, halves)


@translates("Squeeze")
def _squeeze(call: OperatorCall) -> Tensor:
    return ops.squeeze(call.x, call.axes)


@translates("Unsqueeze")
def _unsqueeze(call: OperatorCall) -> Tensor:
    axes = call.axes
    return call.x if axes is None else ops.expand_dims(call.x, axes)


@translates("Transpose")
def _transpose(call: OperatorCall) -> Tensor:
    return ops.transpose(call.x, call.get("perm"))


@translates("Expand")
def _expand(call: OperatorCall) -> Tensor:
    if call.shapes and None in call.shapes[0]:
        return _along_batch(call, call.x, call.shapes[0])
    if None in call.x.shape:
        raise NotApplicableError("a result with several sizes that depend on the batch")
    sizes: Any = call.x.shape
    return ops.broadcast_to(call.x, np.broadcast_shapes(tuple(call.numbers(1)), sizes))


def _along_batch(call: OperatorCall, x: Tensor, shape: Shape) -> Tensor:
    """Return ``x`` broadcast to ``shape``, in which the size of the batch is free."""
    if shape.count(None) > 1 or call.like is None:
        raise NotApplicableError("a result with several sizes that depend on the batch")
    missing = len(shape) - x.spec.rank
    sizes = [1] * missing + list(x.shape)
    if sizes[shape.index(None)] is not None:
        x = ops.broadcast_to(x, [1 if size is None else size for size in shape])
    first = call.like[(slice(None), *[0] * (call.like.spec.rank - 1))]
    zeros = ops.zeros_like(ops.cast(first, x.dtype))
    zeros = ops.reshape(zeros, [-1 if size is None else 1 for size in shape])
    if x.dtype == "bool":
        return ops.logical_or(x, zeros)
    known = ops.fill([1 if size is None else size for size in shape], 0, x.dtype)
    return x + zeros + known


@translates("Concat")
def _concat(call: OperatorCall) -> Tensor:
    return ops.concat(call.all, call.get("axis"))


@translates("Split")
def _split(call: OperatorCall) -> Sequence[Tensor]:
    axis, sizes = call.get("axis", 0), call.numbers(1)
    count = len(call.outputs)
    if sizes is None:
        length = call.x.shape[axis]
        if length is None:
            raise NotApplicableError("a split of the batch")
        part = -(-length // count)
        sizes = [min(part, length - i * part) for i in range(count)]
    return ops.split(call.x, axis=axis, sizes=sizes)


@translates("Slice")
def _slice(call: OperatorCall) -> Tensor:
    starts, ends, axes, steps = (call.numbers(i) for i in (1, 2, 3, 4))
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    key: list[slice] = [slice(None)] * len(call.x.shape)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        # ONNX's way to say that a backward slice includes the first element.
        low = None if step < 0 and end < -(call.x.shape[axis] or 0) else end
        key[axis] = slice(start, low, step)
    return call.x[tuple(key)]


@translates("Tile")
def _tile(call: OperatorCall) -> Tensor:
    return ops.tile(call.x, call.numbers(1))


@translates("Pad")
def _pad(call: OperatorCall) -> Tensor:
    mode = call.get("mode", "constant")
    widths = call.numbers(1)
    rank = len(call.x.shape)
    axes = call.numbers(3) or range(rank)
    pairs = [(0, 0)] * rank
    for i, axis in enumerate(axes):
        pairs[axis] = (widths[i], widths[i + len(axes)])
    removed = [slice(max(0, -before), min(0, after) or None) for before, after in pairs]
    if any(n < 0 for pair in pairs for n in pair):
        if mode != "constant":
            raise NotApplicableError("a negative width")
        pairs = [(max(0, before), max(0, after)) for before, after in pairs]
    if mode != "constant":  # pixels are taken by their numbers
        for size, pair in zip(call.x.shape, pairs, strict=True):
            call.budget.spend((size or 0) + sum(pair) if any(pair) else 0)
    y = ops.pad(call.x, pairs, mode, call.value(2) if mode == "constant" else None)
    return y if all(each == slice(0, None) for each in removed) else y[tuple(removed)]


@translates("Gather")
def _gather(call: OperatorCall) -> Tensor:
    return ops.take(call.x, call.required(1), call.get("axis", 0))


@translates("GatherElements")
def _gather_elements(call: OperatorCall) -> Tensor:
    axis = call.get("axis", 0)
    indices, size = call.required(1), call.x.shape[axis]
    if size is None:
        raise NotApplicableError("elements along the batch")
    return ops.take_along_axis(call.x, ops.where(indices < 0, indices + size, indices), axis)


@translates("GatherND")
def _gather_nd(call: OperatorCall) -> Tensor:
    call.expect("batch_dims", 0)
    return ops.gather_nd(call.x, call.required(1))


@translates("OneHot")
def _one_hot(call: OperatorCall) -> Tensor:
    indices = ops.cast(call.x, "int32")
    depth = int(np.squeeze(call.numbers(1)))
    off, on = call.numbers(2)
    outside = ops.logical_or(indices < -depth, indices >= depth)
    hot = ops.one_hot(ops.where(outside, -1, ops.mod(indices, depth)), depth)
    result = ops.cast(hot * float(on - off) + float(off), call.required(2).dtype)
    axis = call.get("axis", -1)
    return ops.moveaxis(result, -1, axis)


@translates("TopK")
def _top_k(call: OperatorCall) -> Sequence[Tensor]:
    axis, k = call.get("axis", -1), int(np.squeeze(call.numbers(1)))
    x = ops.moveaxis(call.x, axis, -1)
    if call.get("largest", 1):
        results = ops.top_k(x, k)
    else:
        order = ops.argsort(x, -1)[..., :k]
        results = (ops.take_along_axis(x, order, -1), order)
    return [ops.moveaxis(result, -1, axis) for result in results]


@translates("Trilu")
def _trilu(call: OperatorCall) -> Tensor:
    k = int(np.squeeze(call.numbers(1))) if call.numbers(1) is not None else 0
    call.budget.spend(math.prod(size or 0 for size in call.x.shape[-2:]))
    return (ops.triu if call.get("upper", 1) else ops.tril)(call.x, k)


@translates("EyeLike")
def _eye_like(call: OperatorCall) -> Tensor:
    rows, columns = call.x.shape
    if rows is None or columns is None:
        raise NotApplicableError("a shape that depends on the size of the batch")
    call.budget.spend(rows * columns)
    kind = call.get("playgrad_dtype") or call.x.dtype
    return ops.eye(rows, columns, call.get("k", 0), kind)


@translates("Range")
def _range(call: OperatorCall) -> Tensor:
    start, stop, step = (np.squeeze(call.numbers(i)).item() for i in range(3))
    call.budget.spend(step and (stop - start) / step)
    return ops.arange(start, stop, step, dtype=call.x.dtype)


@translates("ConstantOfShape")
def _constant_of_shape(call: OperatorCall) -> Tensor:
    value = call.get("playgrad_value", np.zeros(1, np.float32))
    kind = value.dtype.name
    if call.shapes and None in call.shapes[0]:
        scalar = ops.constant(value.reshape(()), kind)
        return _along_batch(call, scalar, call.shapes[0])
    return ops.fill(call.numbers(0), value.item(), kind)


@translates("Constant")
def _constant(call: OperatorCall) -> Tensor:
    for name, kind in (("value_int", "int32"), ("value_float", "float32")):
        for value in (call.get(name), call.get(f"{name}s")):
            if value is not None:
                return ops.constant(np.asarray(value, kind))
    array = call.get("playgrad_value")
    if array is None:
        raise NotApplicableError("a constant of text or sparse values")
    return ops.constant(array, array.dtype.name)


@translates("Shape")
def _shape(call: OperatorCall) -> Tensor:
    sizes = call.x.shape[slice(call.get("start", 0), call.get("end"))]
    if None in sizes:
        raise NotApplicableError("a shape that depends on the size of the batch")
    return ops.constant(np.asarray(sizes, np.int32).reshape(-1))


@translates("Size")
def _size(call: OperatorCall) -> Tensor:
    if None in call.x.shape:
        return ops.size(call.x)
    return ops.constant(np.asarray(call.x.spec.size, np.int32))


@translates("MatMul")
def _matmul(call: OperatorCall) -> Tensor:
    return ops.matmul(call.x, call.required(1))


@translates("Gemm")
def _gemm(call: OperatorCall) -> Tensor:
    a, b = call.x, call.required(1)
    a = ops.transpose(a) if call.get("transA", 0) else a
    b = ops.transpose(b) if call.get("transB", 0) else b
    result = ops.matmul(a, b) * call.get("alpha", 1.0)
    c = call.input(2)
    return result if c is None else result + c * call.get("beta", 1.0)


@translates("Einsum")
def _einsum(call: OperatorCall) -> Tensor:
    return ops.einsum(call.get("equation").replace(" ", ""), *call.all)


@translates("DepthToSpace")
def _depth_to_space(call: OperatorCall) -> Tensor:
    block = call.get("blocksize")
    n, c, h, w = (-1 if size is None else size for size in call.x.shape)
    if call.get("mode", "DCR") == "DCR":
        parts = ops.reshape(call.x, [n, block, block, c // block**2, h, w])
        order = [0, 3, 4, 1, 5, 2]
    else:
        parts = ops.reshape(call.x, [n, c // block**2, block, block, h, w])
        order = [0, 1, 4, 2, 5, 3]
    return ops.reshape(ops.transpose(parts, order), [n, c // block**2, h * block, w * block])


@translates("SpaceToDepth")
def _space_to_depth(call: OperatorCall) -> Tensor:
    call.expect("mode", "DCR")
    block = call.get("blocksize")
    n, c, h, w = (-1 if size is None else size for size in call.x.shape)
    parts = ops.reshape(call.x, [n, c, h // block, block, w // block, block])
    moved = ops.transpose(parts, [0, 3, 5, 1, 2, 4])
    return ops.reshape(moved, [n, c * block**2, h // block, w // block])
