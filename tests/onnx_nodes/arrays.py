"""Operators of ONNX that move elements, and products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import playgrad as pg
from playgrad.graph.tensor import Tensor
from tests.onnx_nodes.translation import Call, NotApplicableError, translates


@translates("Reshape")
def _reshape(call: Call) -> Tensor:
    shape = call.value(1)
    if not call.get("allowzero", 0):
        shape = [call.x.shape[i] if n == 0 else n for i, n in enumerate(shape)]
    return pg.reshape(call.x, shape)


@translates("Flatten")
def _flatten(call: Call) -> Tensor:
    sizes: Any = call.x.shape
    axis = call.get("axis", 1)
    axis += len(sizes) if axis < 0 else 0
    return pg.reshape(call.x, [int(np.prod(sizes[:axis])), int(np.prod(sizes[axis:]))])


@translates("Squeeze")
def _squeeze(call: Call) -> Tensor:
    return pg.squeeze(call.x, call.axes)


@translates("Unsqueeze")
def _unsqueeze(call: Call) -> Tensor:
    return pg.expand_dims(call.x, call.axes)


@translates("Transpose")
def _transpose(call: Call) -> Tensor:
    return pg.transpose(call.x, call.get("perm"))


@translates("Expand")
def _expand(call: Call) -> Tensor:
    shape = np.broadcast_shapes(tuple(call.value(1)), call.values[0].shape)  # type: ignore[union-attr]
    return pg.broadcast_to(call.x, shape)


@translates("Concat")
def _concat(call: Call) -> Tensor:
    return pg.concat(call.inputs, call.get("axis"))


@translates("Split")
def _split(call: Call) -> Sequence[Tensor]:
    axis, sizes = call.get("axis", 0), call.value(1)
    count = len(call.outputs)
    if sizes is None:
        length: Any = call.x.shape[axis]
        part = -(-length // count)
        sizes = [min(part, length - i * part) for i in range(count)]
    return pg.split(call.x, axis=axis, sizes=sizes)


@translates("Slice")
def _slice(call: Call) -> Tensor:
    starts, ends, axes, steps = (call.value(i) for i in (1, 2, 3, 4))
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    key: list[slice] = [slice(None)] * len(call.x.shape)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        # ONNX's way to say that a backward slice includes the first element.
        low = None if step < 0 and end < -(call.x.shape[axis] or 0) else end
        key[axis] = slice(start, low, step)
    return call.x[tuple(key)]


@translates("Tile")
def _tile(call: Call) -> Tensor:
    return pg.tile(call.x, call.value(1))


@translates("Pad")
def _pad(call: Call) -> Tensor:
    mode = call.get("mode", "constant")
    widths = call.value(1)
    rank = len(call.x.shape)
    axes = call.value(3) or range(rank)
    pairs = [(0, 0)] * rank
    for i, axis in enumerate(axes):
        pairs[axis] = (widths[i], widths[i + len(axes)])
    if any(n < 0 for pair in pairs for n in pair):
        raise NotApplicableError("a negative width")
    return pg.pad(call.x, pairs, mode, call.value(2) if mode == "constant" else None)


@translates("Gather")
def _gather(call: Call) -> Tensor:
    return pg.take(call.x, call.inputs[1], call.get("axis", 0))


@translates("GatherElements")
def _gather_elements(call: Call) -> Tensor:
    axis = call.get("axis", 0)
    indices: Any = call.values[1]
    size = call.x.shape[axis]
    return pg.take_along_axis(call.x, np.where(indices < 0, indices + size, indices), axis)


@translates("GatherND")
def _gather_nd(call: Call) -> Tensor:
    call.expect("batch_dims", 0)
    return pg.gather_nd(call.x, call.inputs[1])


@translates("OneHot")
def _one_hot(call: Call) -> Tensor:
    indices: Any = call.values[0]
    depth = int(np.squeeze(call.value(1)))
    off, on = call.value(2)
    whole = np.mod(indices, depth).astype(np.int32)
    outside = (indices < -depth) | (indices >= depth)
    hot = pg.one_hot(np.where(outside, -1, whole).astype(np.int32), depth)
    kind: Any = call.inputs[2]
    result = pg.cast(hot * float(on - off) + float(off), kind.dtype)
    axis = call.get("axis", -1)
    return pg.moveaxis(result, -1, axis)


@translates("TopK")
def _top_k(call: Call) -> Sequence[Tensor]:
    axis, k = call.get("axis", -1), int(np.squeeze(call.value(1)))
    x = pg.moveaxis(call.x, axis, -1)
    if call.get("largest", 1):
        results = pg.top_k(x, k)
    else:
        order = pg.argsort(x, -1)[..., :k]
        results = (pg.take_along_axis(x, order, -1), order)
    return [pg.moveaxis(result, -1, axis) for result in results]


@translates("Trilu")
def _trilu(call: Call) -> Tensor:
    k = int(np.squeeze(call.value(1))) if call.value(1) is not None else 0
    return (pg.triu if call.get("upper", 1) else pg.tril)(call.x, k)


@translates("EyeLike")
def _eye_like(call: Call) -> Tensor:
    rows, columns = call.x.shape
    kind = call.get("playgrad_dtype") or call.x.dtype
    return pg.eye(rows, columns, call.get("k", 0), kind)


@translates("Range")
def _range(call: Call) -> Tensor:
    start, stop, step = (np.squeeze(call.value(i)).item() for i in range(3))
    return pg.arange(start, stop, step, dtype=call.x.dtype)


@translates("ConstantOfShape")
def _constant_of_shape(call: Call) -> Tensor:
    value = call.get("playgrad_value")
    return pg.fill(call.value(0), value.item(), value.dtype.name)


@translates("Constant")
def _constant(call: Call) -> Tensor:
    return pg.constant(call.get("playgrad_value"))


@translates("Shape")
def _shape(call: Call) -> Tensor:
    raise NotApplicableError("shapes are known when a graph is built: tensor.shape")


@translates("Size")
def _size(call: Call) -> Tensor:
    return pg.size(call.x)


@translates("MatMul")
def _matmul(call: Call) -> Tensor:
    return pg.matmul(call.x, call.inputs[1])


@translates("Gemm")
def _gemm(call: Call) -> Tensor:
    a, b = call.x, call.inputs[1]
    a = pg.transpose(a) if call.get("transA", 0) else a
    b = pg.transpose(b) if call.get("transB", 0) else b
    result = pg.matmul(a, b) * call.get("alpha", 1.0)
    c = call.input(2)
    return result if c is None else result + c * call.get("beta", 1.0)


@translates("Einsum")
def _einsum(call: Call) -> Tensor:
    return pg.einsum(call.get("equation").replace(" ", ""), *call.inputs)


@translates("DepthToSpace")
def _depth_to_space(call: Call) -> Tensor:
    block = call.get("blocksize")
    n, c, h, w = (int(size or 0) for size in call.x.shape)
    if call.get("mode", "DCR") == "DCR":
        parts = pg.reshape(call.x, [n, block, block, c // block**2, h, w])
        order = [0, 3, 4, 1, 5, 2]
    else:
        parts = pg.reshape(call.x, [n, c // block**2, block, block, h, w])
        order = [0, 1, 4, 2, 5, 3]
    return pg.reshape(pg.transpose(parts, order), [n, c // block**2, h * block, w * block])


@translates("SpaceToDepth")
def _space_to_depth(call: Call) -> Tensor:
    call.expect("mode", "DCR")
    block = call.get("blocksize")
    n, c, h, w = (int(size or 0) for size in call.x.shape)
    parts = pg.reshape(call.x, [n, c, h // block, block, w // block, block])
    moved = pg.transpose(parts, [0, 3, 5, 1, 2, 4])
    return pg.reshape(moved, [n, c * block**2, h // block, w // block])
