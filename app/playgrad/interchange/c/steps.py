"""The steps of an integer program as calls of C functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from playgrad.compression.integer_program import IntegerStep
from playgrad.errors import ExportError
from playgrad.interchange.c.move_functions import MAX_RANK
from playgrad.interchange.c.source import CSource
from playgrad.interchange.c.weights import stored

Shape = tuple[int, ...]


class StepCall(NamedTuple):
    """A step on its way to C.

    Attributes:
        name: an identifier for its constants.
        x: the addresses of its inputs.
        y: the address of its output.
        patch: the address of scratch memory.
        shapes, output_shape: of the inputs and the output, without the batch.
    """

    source: CSource
    step: IntegerStep
    name: str
    x: Sequence[str]
    y: str
    patch: str
    shapes: Sequence[Shape]
    output_shape: Shape


def _matmul(call: StepCall) -> None:
    layer = call.source.constant("layer", f"{call.name}_layer", _layer(call))
    rows = math.prod(call.shapes[0][:-1])
    call.source.call("matmul", layer, rows, call.x[0], call.y)


def _conv2d(call: StepCall) -> None:
    attrs, kernel = call.step.attrs, call.step.constants["kernel"]
    (top, _), (left, _) = attrs["padding"]
    fields = [
        *call.shapes[0], attrs["groups"],
        *call.output_shape[:2],
        *kernel.shape[:2],
        *attrs["strides"], top, left, *attrs["dilation"],
        *attrs["input_dilation"],
        attrs["pad_value"],
    ]  # fmt: skip
    value = f"{{\n    {_layer(call)},\n    {', '.join(map(str, fields))}\n}}"
    convolution = call.source.constant("convolution", f"{call.name}_convolution", value)
    call.source.call("conv2d", convolution, call.x[0], call.patch, call.y)


def _layer(call: StepCall) -> str:
    """Return the value of a ``layer``, with its constants declared."""
    constants, attrs, source = call.step.constants, call.step.attrs, call.source
    _refuse_overflow(call.step)
    units = constants["kernel"].shape[-1]
    kernel = np.moveaxis(constants["kernel"], -1, 0).reshape(units, -1)
    weights = stored(kernel)
    dot = f"dot_{weights.kind}"
    source.called.add(dot)
    pointers = source.weights(call.name, weights)
    arrays = [
        source.array(f"{call.name}_{name}", constants[name].astype(dtype))
        for name, dtype in (("bias", np.int32), ("multiplier", np.int32), ("shift", np.uint8))
    ]
    ends = (attrs["zero_point"], attrs["low"], attrs["high"])
    fields = [dot, *pointers, weights.stride, weights.width, kernel.shape[1], units]
    lines = [", ".join(map(str, line)) for line in (fields, arrays, ends)]
    return "{" + ",\n     ".join(lines) + "}"


def _refuse_overflow(step: IntegerStep) -> None:
    kernel = step.constants["kernel"].astype(np.int64)
    kernel = kernel.reshape(-1, kernel.shape[-1])
    bias = step.constants["bias"].astype(np.int64)
    most = bias + np.maximum(kernel * 127, kernel * -128).sum(0)
    least = bias + np.minimum(kernel * 127, kernel * -128).sum(0)
    if most.max() > 2**31 - 1 or least.min() < -(2**31):
        raise ExportError(
            f"'{step.name}' can leave the range of int32: a unit sums {len(kernel)} products "
            "and its bias.",
            op=step.name,
            hint="Give the layer fewer inputs, or split it.",
        )


def _size(call: StepCall) -> int:
    return math.prod(call.output_shape)


def _add(call: StepCall) -> None:
    names = (
        "left_zero_point", "right_zero_point", "left_multiplier", "right_multiplier", "shift",
        "zero_point", "low", "high",
    )  # fmt: skip
    attrs = [call.step.attrs[name] for name in names]
    call.source.call("add", _size(call), *call.x, *attrs, call.y)


def _rescale(call: StepCall) -> None:
    names = ("input_zero_point", "multiplier", "shift", "zero_point", "low", "high")
    attrs = [call.step.attrs[name] for name in names]
    call.source.call("rescale", _size(call), call.x[0], *attrs, call.y)


def _lookup(call: StepCall) -> None:
    table = call.source.array(f"{call.name}_table", call.step.constants["table"].astype(np.int8))
    call.source.call("lookup", _size(call), table, call.x[0], call.y)


def _softmax(call: StepCall) -> None:
    table = call.step.constants["table"].astype(np.int64)
    size = call.shapes[0][-1]
    if table.min() < 0 or table[-1] < 1 or table.max() * (256 + size / 2) >= 2**32:
        raise ExportError(
            f"the table of '{call.step.name}' leaves the range of uint32 for {size} classes.",
            op=call.step.name,
        )
    name = call.source.array(f"{call.name}_table", table.astype(np.int32))
    call.source.call("softmax", _size(call) // size, size, name, call.x[0], call.y)


def _pooling(call: StepCall) -> str:
    """Return the address of the windows of a pooling."""
    attrs = call.step.attrs
    (top, _), (left, _) = attrs["padding"]
    fields = [
        *call.shapes[0], *call.output_shape[:2], *attrs["window"], *attrs["strides"], top, left
    ]  # fmt: skip
    value = f"{{{', '.join(map(str, fields))}}}"
    return call.source.constant("pooling", f"{call.name}_pooling", value)


def _max_pool(call: StepCall) -> None:
    call.source.call("max_pool", _pooling(call), call.x[0], call.y)


def _avg_pool(call: StepCall) -> None:
    attrs = call.step.attrs
    factors = [
        call.source.array(f"{call.name}_{name}", np.array(attrs[name], dtype))
        for name, dtype in (("multipliers", np.int32), ("shifts", np.uint8))
    ]
    ends = [attrs[name] for name in ("zero_point", "low", "high")]
    arguments = [attrs["input_zero_point"], *factors, *ends, call.x[0], call.y]
    call.source.call("avg_pool", _pooling(call), *arguments)


def _gather(call: StepCall) -> None:
    table = call.step.constants["table"]
    weights = stored(table, random_access=True)
    plain, packed, codebook = call.source.weights(call.name, weights)
    sizes = [math.prod(call.shapes[0]), *table.shape]
    if weights.kind == "plain":
        call.source.call("gather", *sizes, plain, call.x[0], call.y)
    else:
        call.source.call(
            "gather_indices", *sizes, packed, codebook, weights.width, call.x[0], call.y
        )


def _reshape(call: StepCall) -> None:
    """The output has the bytes of the input."""


def _transpose(call: StepCall) -> None:
    perm = [axis - 1 for axis in call.step.attrs["permutation"][1:]]
    shape = call.shapes[0]
    if len(shape) > MAX_RANK:
        raise ExportError(f"C transposes up to {MAX_RANK} axes, '{call.step.name}' {len(shape)}.")
    strides = [math.prod(shape[axis + 1 :]) for axis in perm]
    sizes = call.source.array(f"{call.name}_sizes", np.array(call.output_shape, np.int32))
    steps = call.source.array(f"{call.name}_strides", np.array(strides, np.int32))
    call.source.call("transpose", len(shape), sizes, steps, call.x[0], call.y)


def _concat(call: StepCall) -> None:
    axis = call.step.attrs["axis"] - 1
    rows = math.prod(call.output_shape[:axis])
    stride = math.prod(call.output_shape[axis:])
    offset = 0
    for address, shape in zip(call.x, call.shapes, strict=True):
        size = math.prod(shape[axis:])
        call.source.call("copy_rows", rows, size, stride, address, f"{call.y} + {offset}")
        offset += size


def _upsample(call: StepCall) -> None:
    arguments: list[Any] = [*call.shapes[0], *call.step.attrs["factors"], call.x[0], call.y]
    call.source.call("upsample", *arguments)


WRITERS: dict[str, Callable[[StepCall], None]] = {
    "quantized_matmul": _matmul,
    "quantized_conv2d": _conv2d,
    "quantized_add": _add,
    "rescale": _rescale,
    "lookup": _lookup,
    "quantized_softmax": _softmax,
    "quantized_max_pool2d": _max_pool,
    "quantized_avg_pool2d": _avg_pool,
    "gather": _gather,
    "reshape": _reshape,
    "transpose": _transpose,
    "concat": _concat,
    "upsample": _upsample,
}
"""The function that writes each kind of step."""
