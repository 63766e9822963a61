"""Operations that move, repeat and select elements, in ONNX."""

from __future__ import annotations

import numpy as np

from playgrad.interchange.onnx.builder import TYPES
from playgrad.interchange.onnx.translation import Translation, translates

_END = 2**63 - 1  # behind the last element, whatever the size


@translates("fill")
def _fill(t: Translation) -> None:
    value = np.asarray([t.attrs["value"]], t.dtype)
    t.last("ConstantOfShape", t.ints(t.attrs["shape"]), value=value)


@translates("zeros_like", "ones_like")
def _filled_like(t: Translation) -> None:
    value = np.full(1, t.node.op.name == "ones_like", t.dtype)
    t.last("ConstantOfShape", t.op("Shape", t.inputs[0]), value=value)


@translates("size")
def _size(t: Translation) -> None:
    sizes = t.op("Gather", t.op("Shape", t.inputs[0]), t.ints(t.attrs["axes"]))
    count = t.op("ReduceProd", sizes, keepdims=0)
    t.last("Cast", count, to=TYPES[t.dtype.name])


@translates("reshape")
def _reshape(t: Translation) -> None:
    _reshaped(t, t.ints(t.attrs["shape"]), 0 in t.attrs["shape"])


@translates("reshape_like")
def _reshape_like(t: Translation) -> None:
    sizes = (*t.shape(0)[1:], *t.shape(1)[1:])
    _reshaped(t, t.op("Shape", t.inputs[1]), not all(sizes))


def _reshaped(t: Translation, shape: str, may_be_empty: bool) -> None:
    """Add the last node, a Reshape; without ``allowzero``, 0 is the size that the axis had."""
    t.last("Reshape", t.inputs[0], shape, **({"allowzero": 1} if may_be_empty else {}))


@translates("merge_axes")
def _merge_axes(t: Translation) -> None:
    axis, shape = t.attrs["axis"], t.op("Shape", t.inputs[0])
    before = t.op("Slice", shape, t.ints([0]), t.ints([axis]))
    merged = t.op("Slice", shape, t.ints([axis]), t.ints([axis + 2]))
    after = t.op("Slice", shape, t.ints([axis + 2]), t.ints([_END]))
    parts = [before, t.op("ReduceProd", merged, keepdims=1), after]
    _reshaped(t, t.op("Concat", *parts, axis=0), not all(t.shape()[1:]))


@translates("expand_dims")
def _expand_dims(t: Translation) -> None:
    t.last("Unsqueeze", t.inputs[0], t.ints(t.attrs["axes"]))


@translates("squeeze")
def _squeeze(t: Translation) -> None:
    t.last("Squeeze", t.inputs[0], t.ints(t.attrs["axes"]))


@translates("transpose")
def _transpose(t: Translation) -> None:
    t.last("Transpose", t.inputs[0], perm=t.attrs["perm"])


@translates("broadcast_to")
def _broadcast_to(t: Translation) -> None:
    t.last("Expand", t.inputs[0], t.ints(t.attrs["shape"]))


@translates("broadcast_like")
def _broadcast_like(t: Translation) -> None:
    x, like = t.inputs
    t.last("Expand", x, t.op("Shape", like))


@translates("broadcast_axes")
def _broadcast_axes(t: Translation) -> None:
    shape = [1] * t.rank()
    for axis, size in zip(t.attrs["axes"], t.attrs["sizes"], strict=True):
        shape[axis] = size
    t.last("Expand", t.inputs[0], t.ints(shape))


@translates("pad")
def _pad(t: Translation) -> None:
    sides = t.attrs["padding"]
    if not sides:
        t.last("Identity", *t.inputs)
        return
    pads = [before for before, _ in sides] + [after for _, after in sides]
    t.last("Pad", t.inputs[0], t.ints(pads), t.like(t.attrs["value"]))


@translates("slice")
def _slice(t: Translation) -> None:
    begin, size = t.attrs["begin"], t.attrs["size"]
    if not begin:
        t.last("Identity", *t.inputs)
        return
    ends = [_END if n < 0 else at + n for at, n in zip(begin, size, strict=True)]
    t.last("Slice", t.inputs[0], t.ints(begin), t.ints(ends))


@translates("strided_slice")
def _strided_slice(t: Translation) -> None:
    starts, ends, steps = [], [], []
    for start, end, step in t.attrs["slices"]:
        first, behind = (0, _END) if (step or 1) > 0 else (_END, -_END)
        starts.append(first if start is None else start)
        ends.append(behind if end is None else end)
        steps.append(step or 1)
    axes = t.ints(range(len(starts)))
    t.last("Slice", t.inputs[0], t.ints(starts), t.ints(ends), axes, t.ints(steps))


@translates("concat")
def _concat(t: Translation) -> None:
    t.last("Concat", *t.inputs, axis=t.attrs["axis"])


@translates("stack_rows")
def _stack_rows(t: Translation) -> None:
    first = t.ints([0])
    t.last("Concat", *(t.op("Unsqueeze", row, first) for row in t.inputs), axis=0)


@translates("unstack_rows")
def _unstack_rows(t: Translation) -> None:
    for number in range(t.attrs["count"]):
        row = t.constant(np.asarray(number, np.int64))
        t.last("Gather", t.inputs[0], row, axis=0, number=number)


@translates("roll")
def _roll(t: Translation) -> None:
    x = t.inputs[0]
    for axis, shift in enumerate(t.attrs["shift"]):
        size = t.shape()[axis]
        if size is None:
            raise t.refusal("the size of the axis must be known.")
        if size and shift % size:
            cut, axes = size - shift % size, t.ints([axis])
            end = t.op("Slice", x, t.ints([cut]), t.ints([_END]), axes)
            start = t.op("Slice", x, t.ints([0]), t.ints([cut]), axes)
            x = t.op("Concat", end, start, axis=axis)
    t.last("Identity", x)


@translates("gather")
def _gather(t: Translation) -> None:
    t.last("Gather", *t.inputs, axis=t.attrs.get("axis", 0))


@translates("take_along_axis")
def _take_along_axis(t: Translation) -> None:
    t.last("GatherElements", *t.inputs, axis=t.attrs["axis"])


@translates("one_hot")
def _one_hot(t: Translation) -> None:
    classes = t.constant(np.arange(t.attrs["depth"], dtype=t.node.inputs[0].dtype))
    equal = t.op("Equal", t.op("Unsqueeze", t.inputs[0], t.ints([-1])), classes)
    t.last("Cast", equal, to=TYPES[t.attrs["dtype"]])


@translates("argsort")
def _argsort(t: Translation) -> None:
    axis, x = t.attrs["axis"], t.inputs[0]
    if t.node.inputs[0].dtype in ("bool", "uint8", "int8"):  # which runtimes cannot sort
        x = t.op("Cast", x, to=TYPES["int32"])
    count = t.op("Gather", t.op("Shape", t.inputs[0]), t.ints([axis]))
    places = t.second("TopK", x, count, axis=axis, largest=int(t.attrs["descending"]))
    t.last("Cast", places, to=TYPES[t.dtype.name])
