"""``quantized_matmul``: the product of int8 matrices, with int8 results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, GraphError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensors, expect_dtype
from playgrad.ops.core.samples import floats, int8s
from playgrad.ops.lowering.quantized_product import lower_quantized_matmul
from playgrad.ops.quantized.product import int8_product, requantized_rows
from playgrad.ops.quantized.requantize import (
    LEAST,
    MOST,
    expect_channels,
    expect_range,
    range_attrs,
    requantized,
)
from playgrad.ops.quantized.samples import channels


def quantized_matmul(
    x: Any,
    w: Any,
    bias: Any,
    multiplier: Any,
    shift: Any,
    *,
    zero_point: int,
    low: int = LEAST,
    high: int = MOST,
    name: str | None = None,
) -> Tensor:
    """Return the product of int8 matrices as int8.

    ``acc = bias + x @ w`` in int32, which wraps around. The result is ``acc * multiplier /
    2^shift``, rounded with halves up, plus ``zero_point``, limited to [``low``, ``high``]. The zero
    point of ``x`` belongs into the bias: ``bias - zero point * sum(w, axis=0)``.

    Args:
        x: shape (..., in); int8.
        w: shape (in, out); int8.
        bias: shape (out,); int32.
        multiplier: shape (out,), in [2^30, 2^31); int32.
        shift: shape (out,), in [1, 62]; int32. Others count as the nearest of these.
        zero_point: the int8 that stands for 0 in the result.
        low, high: -128 ≤ low ≤ high ≤ 127.

    Returns:
        An int8 tensor of shape (..., out). It has no gradient.

    Raises:
        DTypeError: an input has another dtype.
        ShapeError: the shapes do not fit.
        GraphError: ``zero_point``, ``low`` or ``high`` lies outside its range.
    """
    inputs = as_tensors(x, w, bias, multiplier, shift)
    attrs = range_attrs(zero_point, low, high)
    return add_node(_MATMUL, inputs, attrs, name=name).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, w = inputs[:2]
    for spec in (x, w):
        expect_dtype(spec, "the operands of quantized_matmul", "int8")
    if not x.rank or w.rank != 2:
        raise ShapeError(
            "quantized_matmul: the operands must have the shapes (..., in) and (in, out), not "
            f"{shape_text(x.shape)} and {shape_text(w.shape)}."
        )
    if None not in (x.shape[-1], w.shape[0]) and x.shape[-1] != w.shape[0]:
        raise ShapeError(
            f"quantized_matmul: inner dimensions differ: {shape_text(x.shape)} x "
            f"{shape_text(w.shape)}."
        )
    expect_channels(inputs[2:], w.shape[1], "quantized_matmul")
    expect_range(attrs, "quantized_matmul")
    return [TensorSpec((*x.shape[:-1], w.shape[1]), "int8")]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, w, bias, multiplier, shift = inputs
    sums = (x.astype(np.int64) @ w.astype(np.int64) + bias).astype(np.int32)
    return [requantized(sums, multiplier, shift, attrs)]


def _prepare(
    inputs: Sequence[TensorSpec], attrs: Attrs
) -> Callable[[Sequence[Array]], Sequence[Array]]:
    *lead, depth = inputs[0].static_shape
    rows, shape = prod(lead), (*lead, inputs[1].static_shape[1])

    def product(arrays: Sequence[Array]) -> list[Array]:
        x, w, bias, multiplier, shift = arrays
        sums = int8_product(x.reshape(rows, depth), w)
        sums += bias
        return [requantized_rows(sums, multiplier, shift, attrs).reshape(shape)]

    return product


def _attrs(**changed: int) -> dict[str, int]:
    return {"zero_point": -5, "low": LEAST, "high": MOST} | changed


def _sample(shape: tuple[int, ...], outputs: int, **changed: int) -> Sample:
    depth = shape[-1]
    weights = int8s(depth, outputs, seed=1, low=-127)
    return Sample((int8s(*shape), weights, *channels(outputs, depth)), _attrs(**changed))


_X, _W, _CHANNELS = int8s(2, 5), int8s(5, 3), channels(3, 5)
_MATMUL = register(
    OpDef(
        name="quantized_matmul",
        infer=_infer,
        reference=_reference,
        prepare=_prepare,
        lower=lower_quantized_matmul,
        packed=True,
        samples=(
            _sample((5, 7), 3),
            _sample((8, 16), 12, low=-5, high=60),
            _sample((3, 2, 9), 6),
            _sample((7,), 5),
            _sample((1, 64), 10),
            _sample((37, 130), 68),
            _sample((2, 2100), 4),
            _sample((1, 1), 1),
            _sample((5, 0), 4),
            _sample((0, 5), 4),
        ),
        invalid=(
            InvalidSample((floats(2, 5), _W, *_CHANNELS), _attrs(), DTypeError, "not float32"),
            InvalidSample((_X, int8s(4, 3), *_CHANNELS), _attrs(), ShapeError, "inner dimensions"),
            InvalidSample((_X, int8s(5), *_CHANNELS), _attrs(), ShapeError, "(in, out), not"),
            InvalidSample(
                (_X, _W, *_CHANNELS[:2], np.ones(4, np.int32)),
                _attrs(),
                ShapeError,
                "the shift must have the shape (3,)",
            ),
            InvalidSample((_X, _W, floats(3), *_CHANNELS[1:]), _attrs(), DTypeError, "the bias of"),
            InvalidSample((_X, _W, *_CHANNELS), _attrs(low=-129), GraphError, "-128 ≤ low"),
        ),
    )
)
