"""Lowering of operations that move elements: transpose, slice, pad, concat, one_hot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import (
    KernelCall,
    KernelRequest,
    Lowering,
    input_binding,
    output_binding,
)
from playgrad.ops.lowering.item_kernel import (
    item_kernel,
    number_type,
    strides_of,
)
from playgrad.ops.lowering.strided_copy import Side, strided_copy


def lower_transpose(request: KernelRequest) -> Lowering:
    """Lower transpose. attrs ``perm``: axis i of the output is axis perm[i] of the input."""
    strides = strides_of(request.inputs[0].static_shape)
    sizes = request.outputs[0].static_shape
    source = Side([strides[axis] for axis in request.attrs["perm"]])
    return Lowering((strided_copy(request, 0, sizes, source),))


def lower_slice(request: KernelRequest) -> Lowering:
    """Lower slice. attrs ``begin``; the output has the size of the block."""
    strides = strides_of(request.inputs[0].static_shape)
    sizes = request.outputs[0].static_shape
    offset = sum(start * unit for start, unit in zip(request.attrs["begin"], strides, strict=True))
    return Lowering((strided_copy(request, 0, sizes, Side(strides, offset)),))


def lower_concat(request: KernelRequest) -> Lowering:
    """Lower concat along attrs ``axis``, with one dispatch for each input."""
    output = request.outputs[0].static_shape
    axis = request.attrs["axis"] % len(output)
    strides = strides_of(output)
    calls = []
    position = 0
    for number, spec in enumerate(request.inputs):
        sizes = spec.static_shape
        target = Side(strides, position * strides[axis])
        if spec.size:
            calls.append(strided_copy(request, number, sizes, target=target, is_part=True))
        position += sizes[axis]
    return Lowering(tuple(calls))


def lower_pad(request: KernelRequest) -> Lowering:
    """Lower pad. attrs ``padding`` [[before, after], ...] by axis, and ``value`` (default 0)."""
    source, output = request.inputs[0].static_shape, request.outputs[0].static_shape
    strides, digits = strides_of(source), strides_of(output)
    inside, terms = [], []
    for axis, (before, after) in enumerate(request.attrs["padding"]):
        digit = f"index / {max(1, digits[axis])}u % {max(1, output[axis])}u"
        if before or after:
            # Unsigned, a position before the input wraps around to a large number.
            inside.append(f"{digit} - {before}u < {source[axis]}u")
        terms.append(f"({digit} - {before}u) * {strides[axis]}u")
    params = {"padding": [list(pair) for pair in request.attrs["padding"]]}
    fill = _bits(request.attrs.get("value", 0), request.outputs[0])
    return Lowering((place_elements(request, inside, terms, params, fill),))


def place_elements(
    request: KernelRequest,
    inside: Sequence[str],
    terms: Sequence[str],
    params: Mapping[str, Any],
    fill: str,
) -> KernelCall:
    """Return result[index] = source[sum of ``terms``] where all of ``inside`` hold, else ``fill``.

    Args:
        fill: the bits of a number, as a WGSL literal.
    """
    return item_kernel(
        request,
        "pad.wgsl",
        request.outputs[0].size,
        (
            input_binding("source", 0, request.inputs[0]),
            output_binding("result", 0, request.outputs[0]),
        ),
        {**params, "shape": list(request.inputs[0].static_shape)},
        INSIDE=" && ".join(inside) or "true",
        SOURCE=" + ".join(terms) or "index",
        NUMBER=number_type(request.inputs[0]),
        FILL=fill,
    )


def lower_one_hot(request: KernelRequest) -> Lowering:
    """Lower one_hot of int32 indices; the output has one more axis, the last, of size ``depth``.

    attrs ``on_value`` (default 1) and ``off_value`` (default 0). An index outside [0, depth) gives
    a row of ``off_value``.
    """
    depth = request.outputs[0].static_shape[-1]
    number = number_type(request.outputs[0])
    call = item_kernel(
        request,
        "one_hot.wgsl",
        request.outputs[0].size,
        (
            input_binding("indices", 0, request.inputs[0]),
            output_binding("result", 0, request.outputs[0]),
        ),
        {"depth": depth},
        DEPTH=depth,
        NUMBER=number,
        ON=_bits(request.attrs.get("on_value", 1), request.outputs[0]),
        OFF=_bits(request.attrs.get("off_value", 0), request.outputs[0]),
    )
    return Lowering((call,))


def _bits(value: float, spec: TensorSpec) -> str:
    """Return the bits of ``value``, which may be infinite or NaN, as a WGSL literal.

    Raises:
        UnsupportedOpError: as `number_type`.
    """
    number_type(spec)
    kind = "uint32" if spec.dtype == "bool" else spec.dtype
    return f"{np.asarray(value).astype(kind).view(np.uint32)}u"
