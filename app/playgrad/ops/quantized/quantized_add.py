"""``quantized_add``: the sum of two int8 tensors of different scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, GraphError, ShapeError
from playgrad.graph.opdef import Attrs, InvalidSample, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensors, broadcast_shapes, expect_dtype, whole
from playgrad.ops.core.samples import floats, int8s
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.expression import expr as e
from playgrad.ops.quantized.requantize import (
    LEAST,
    MOST,
    expect_between,
    expect_range,
    range_attrs,
)

LARGEST_MULTIPLIER = 1 << 21
LARGEST_SHIFT = 30
"""With these limits no sum leaves the range of int32."""


def quantized_add(
    a: Any,
    b: Any,
    *,
    left_zero_point: int,
    right_zero_point: int,
    left_multiplier: int,
    right_multiplier: int,
    shift: int,
    zero_point: int,
    low: int = LEAST,
    high: int = MOST,
    name: str | None = None,
) -> Tensor:
    """Return the sum of two int8 tensors in the scale of the result.

    It is ``((a - left_zero_point) * left_multiplier + (b - right_zero_point) * right_multiplier) /
    2^shift``, rounded with halves up, plus ``zero_point``, limited to [``low``, ``high``].

    Args:
        a, b: int8 tensors whose shapes broadcast together.
        left_multiplier, right_multiplier: whole numbers in [0, 2^21].
        shift: a whole number in [1, 30].
        left_zero_point, right_zero_point, zero_point: the int8 that stands for 0 in ``a``, in ``b``
            and in the result.
        low, high: -128 ≤ low ≤ high ≤ 127.

    Returns:
        An int8 tensor of the broadcast shape. It has no gradient.

    Raises:
        DTypeError: an operand is not int8.
        ShapeError: the shapes do not broadcast together.
        GraphError: a number lies outside its range.
    """
    numbers = {
        "left_zero_point": left_zero_point,
        "right_zero_point": right_zero_point,
        "left_multiplier": left_multiplier,
        "right_multiplier": right_multiplier,
        "shift": shift,
    }
    attrs = {key: whole(value, key) for key, value in numbers.items()}
    attrs |= range_attrs(zero_point, low, high)
    return add_node(_ADD, as_tensors(a, b), attrs, name=name).output


def _formula(attrs: Attrs) -> tuple[e.Expr, ...]:
    left, right = (
        (e.Cast("int32", e.Leaf(i)) - attrs[f"{side}_zero_point"]) * attrs[f"{side}_multiplier"]
        for i, side in enumerate(("left", "right"))
    )
    shift = attrs["shift"]
    scaled = e.call("floor_div", left + right + (1 << (shift - 1)), 1 << shift)
    moved = scaled + attrs["zero_point"]
    limited = e.call("minimum", e.call("maximum", moved, attrs["low"]), attrs["high"])
    return (e.Cast("int8", limited),)


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    for spec in inputs:
        expect_dtype(spec, "the operands of quantized_add", "int8")
    for side in ("left", "right"):
        expect_between(attrs, f"{side}_zero_point", LEAST, MOST, "quantized_add")
        expect_between(attrs, f"{side}_multiplier", 0, LARGEST_MULTIPLIER, "quantized_add")
    expect_between(attrs, "shift", 1, LARGEST_SHIFT, "quantized_add")
    expect_range(attrs, "quantized_add")
    return [TensorSpec(broadcast_shapes(*(spec.shape for spec in inputs)), "int8")]


def _attrs(**changed: int) -> dict[str, int]:
    return {
        "left_zero_point": -3, "right_zero_point": 100, "left_multiplier": 1_500_000,
        "right_multiplier": 700_001, "shift": 21, "zero_point": 5, "low": LEAST, "high": MOST,
    } | changed  # fmt: skip


_BYTES = np.arange(-128, 128, dtype=np.int8)
_ENDS = np.array([-128, 127, 0, 1, -1], np.int8)
_WIDE = {"left_multiplier": 1 << 21, "right_multiplier": 1 << 21}
_ADD = register(
    replace(
        elementwise_op(
            "quantized_add",
            _formula,
            None,
            (
                Sample((int8s(5, 7), int8s(5, 7, seed=1)), _attrs()),
                Sample((_BYTES[:, None], _ENDS), _attrs(**_WIDE, shift=30)),
                Sample((_BYTES, _BYTES[::-1].copy()), _attrs(**_WIDE, shift=22, low=5, high=90)),
                Sample(
                    (_ENDS[:, None], _ENDS),
                    _attrs(**_WIDE, left_zero_point=127, right_zero_point=127, shift=1),
                ),
                Sample((int8s(3, 2, 9), int8s(9)), _attrs(shift=20)),
            ),
            (
                InvalidSample((int8s(3), floats(3)), _attrs(), DTypeError, "not float32"),
                InvalidSample((int8s(3), int8s(4)), _attrs(), ShapeError, "do not broadcast"),
                InvalidSample(
                    (int8s(3), int8s(3)),
                    _attrs(left_multiplier=(1 << 21) + 1),
                    GraphError,
                    "left_multiplier must lie in [0, 2097152]",
                ),
                InvalidSample(
                    (int8s(3), int8s(3)), _attrs(shift=31), GraphError, "shift must lie in [1, 30]"
                ),
                InvalidSample(
                    (int8s(3), int8s(3)), _attrs(low=4, high=3), GraphError, "low ≤ high"
                ),
            ),
        ),
        infer=_infer,
        blocks_gradient=False,
    )
)
