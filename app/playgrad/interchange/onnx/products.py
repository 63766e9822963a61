"""Matrix products, convolutions, pooling, attention and recurrent cells in ONNX.

Images have their channels last here and first in ONNX; each operation transposes its operands, and
runtimes remove the pairs of transpositions between them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.interchange.onnx.builder import TYPES
from playgrad.interchange.onnx.translation import Translation, translates
from playgrad.ops.attention import HIDDEN

_TO_ONNX, _FROM_ONNX = (0, 3, 1, 2), (0, 2, 3, 1)


@translates("matmul")
def _matmul(t: Translation) -> None:
    operands = []
    for number, flag in enumerate(("transpose_a", "transpose_b")):
        name, rank = t.inputs[number], t.rank(number)
        if t.attrs[flag]:
            name = t.transposed(name, [*range(rank - 2), rank - 1, rank - 2])
        operands.append(name)
    t.last("MatMul", *operands)


def _window(attrs: Any) -> dict[str, Any]:
    """Return the attributes of windows that move over an image."""
    sides = attrs["padding"]
    window = {
        "strides": attrs["strides"],
        "pads": [*(before for before, _ in sides), *(after for _, after in sides)],
    }
    return window | ({"dilations": attrs["dilations"]} if "dilations" in attrs else {})


@translates("conv2d")
def _conv2d(t: Translation) -> None:
    image = t.transposed(t.inputs[0], _TO_ONNX)
    filters = t.transposed(t.inputs[1], (3, 2, 0, 1))
    attributes = _window(t.attrs) | {"group": t.attrs.get("groups", 1)}
    t.last("Transpose", t.op("Conv", image, filters, **attributes), perm=_FROM_ONNX)


@translates("conv2d_transpose")
def _conv2d_transpose(t: Translation) -> None:
    filters = t.transposed(t.inputs[0], (3, 2, 0, 1))
    image = t.transposed(t.inputs[1], _TO_ONNX)
    attributes = _window(t.attrs) | {"output_padding": t.attrs["output_padding"]}
    t.last("Transpose", t.op("ConvTranspose", image, filters, **attributes), perm=_FROM_ONNX)


@translates("max_pool2d", "avg_pool2d")
def _pool(t: Translation) -> None:
    attributes = _window(t.attrs) | {"kernel_shape": t.attrs["pool_size"]}
    image = t.transposed(t.inputs[0], _TO_ONNX)
    kind = "MaxPool" if t.node.op.name == "max_pool2d" else "AveragePool"
    t.last("Transpose", t.op(kind, image, **attributes), perm=_FROM_ONNX)


@translates("resize", "upsample")
def _resize(t: Translation) -> None:
    image = t.transposed(t.inputs[0], _TO_ONNX)
    if t.node.op.name == "resize":
        kept = t.op("Slice", t.op("Shape", image), t.ints([0]), t.ints([2]))
        target = ["", t.op("Concat", kept, t.ints(t.attrs["size"]), axis=0)]
    else:
        target = [t.constant(np.asarray([1, 1, *t.attrs["factors"]], np.float32))]
    is_nearest = t.attrs["interpolation"] == "nearest"
    resized = t.op(
        "Resize",
        image,
        "",
        *target,
        mode="nearest" if is_nearest else "linear",
        nearest_mode="round_prefer_ceil",
        coordinate_transformation_mode="half_pixel",
    )
    t.last("Transpose", resized, perm=_FROM_ONNX)


@translates("dot_product_attention")
def _dot_product_attention(t: Translation) -> None:
    query, value = (t.transposed(t.inputs[number], (0, 2, 1, 3)) for number in (0, 2))
    key = t.transposed(t.inputs[1], (0, 2, 3, 1))
    scores = t.op("MatMul", t.op("Mul", query, t.like(t.attrs["scale"])), key)
    seen = t.inputs[3] if len(t.inputs) > 3 else None
    if t.attrs["is_causal"]:
        earlier = _earlier(t)
        seen = t.op("And", seen, earlier) if seen else earlier
    if seen:
        scores = t.op("Where", seen, scores, t.like(HIDDEN))
    weights = t.op("Softmax", scores, axis=-1)
    if seen:  # for queries that see nothing
        weights = t.op("Mul", weights, t.op("Cast", seen, to=TYPES[t.dtype.name]))
    t.last("Transpose", t.op("MatMul", weights, value), perm=(0, 2, 1, 3))


def _earlier(t: Translation) -> str:
    """Return whether a position (column) is not after another (row), by their numbers."""
    one, zero, axis = (t.constant(np.asarray(n, np.int64)) for n in (1, 0, 1))
    counts = [t.op("Gather", t.op("Shape", t.inputs[number]), axis) for number in (0, 1)]
    rows, columns = (t.op("Range", zero, count, one) for count in counts)
    return t.op("LessOrEqual", columns, t.op("Unsqueeze", rows, t.ints([1])))


def _parts(t: Translation, number: int, count: int) -> list[str]:
    """Return the equal parts of an input of rank 2 along its second axis."""
    size = t.shape(number)[1]
    if size is None:
        raise t.refusal("the number of units must be known.")
    units, axes = size // count, t.ints([1])
    return [
        t.op("Slice", t.inputs[number], t.ints([i * units]), t.ints([(i + 1) * units]), axes)
        for i in range(count)
    ]


@translates("lstm_cell")
def _lstm_cell(t: Translation) -> None:
    enter, forget, candidate, leave = _parts(t, 0, 4)
    kept = t.op("Mul", t.op("Sigmoid", forget), t.inputs[1])
    added = t.op("Mul", t.op("Sigmoid", enter), t.op("Tanh", candidate))
    t.last("Add", kept, added, number=1)
    t.last("Mul", t.op("Sigmoid", leave), t.op("Tanh", t.outputs[1]))


@translates("gru_cell")
def _gru_cell(t: Translation) -> None:
    update, reset, new = _parts(t, 0, 3)
    recurrent_update, recurrent_reset, recurrent_new = _parts(t, 1, 3)
    share = t.op("Sigmoid", t.op("Add", update, recurrent_update))
    gate = t.op("Sigmoid", t.op("Add", reset, recurrent_reset))
    candidate = t.op("Tanh", t.op("Add", new, t.op("Mul", gate, recurrent_new)))
    kept = t.op("Mul", share, t.inputs[2])
    t.last("Add", kept, t.op("Mul", t.op("Sub", t.like(1), share), candidate))
