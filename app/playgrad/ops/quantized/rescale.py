"""``rescale``: int8 numbers in another scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, GraphError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensor, expect_dtype, whole
from playgrad.ops.core.samples import floats, int8s
from playgrad.ops.lowering.quantized import lower_rescale
from playgrad.ops.quantized.lookup import taken
from playgrad.ops.quantized.requantize import (
    LEAST,
    MOST,
    SHIFTS,
    expect_between,
    expect_range,
    range_attrs,
    requantized,
)

MULTIPLIERS = (1 << 30, (1 << 31) - 1)
"""The least and largest multiplier."""


def rescale(
    x: Any,
    *,
    input_zero_point: int,
    multiplier: int,
    shift: int,
    zero_point: int,
    low: int = LEAST,
    high: int = MOST,
    name: str | None = None,
) -> Tensor:
    """Return int8 numbers in another scale.

    It is ``(x - input_zero_point) * multiplier / 2^shift``, rounded with halves up, plus
    ``zero_point``, limited to [``low``, ``high``].

    Args:
        x: a tensor of any shape; int8.
        multiplier: a whole number in [2^30, 2^31).
        shift: a whole number in [1, 62].
        input_zero_point, zero_point: the int8 that stands for 0 in ``x`` and in the result.
        low, high: -128 ≤ low ≤ high ≤ 127.

    Returns:
        An int8 tensor of the shape of ``x``. It has no gradient.

    Raises:
        DTypeError: ``x`` is not int8.
        GraphError: a number lies outside its range.
    """
    attrs = {
        "input_zero_point": whole(input_zero_point, "input_zero_point"),
        "multiplier": whole(multiplier, "multiplier"),
        "shift": whole(shift, "shift"),
        **range_attrs(zero_point, low, high),
    }
    return add_node(_RESCALE, [as_tensor(x)], attrs, name=name).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_dtype(inputs[0], "the input of rescale", "int8")
    expect_between(attrs, "input_zero_point", LEAST, MOST, "rescale")
    expect_between(attrs, "multiplier", *MULTIPLIERS, "rescale")
    expect_between(attrs, "shift", *SHIFTS, "rescale")
    expect_range(attrs, "rescale")
    return [inputs[0]]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    differences = inputs[0].astype(np.int32) - attrs["input_zero_point"]
    multiplier, shift = (np.asarray(attrs[name], np.int32) for name in ("multiplier", "shift"))
    return [requantized(differences, multiplier, shift, attrs)]


def _prepare(
    inputs: Sequence[TensorSpec], attrs: Attrs
) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """Return a function that looks the results up: there are 256."""
    (table,) = _reference([np.arange(LEAST, MOST + 1, dtype=np.int8)], attrs)
    return lambda arrays: [taken(table, arrays[0])]


def _attrs(**changed: int) -> dict[str, int]:
    return {
        "input_zero_point": 11, "multiplier": 1_518_500_250, "shift": 31, "zero_point": -20,
        "low": LEAST, "high": MOST,
    } | changed  # fmt: skip


_BYTES = np.arange(-128, 128, dtype=np.int8)
_RESCALE = register(
    OpDef(
        name="rescale",
        infer=_infer,
        reference=_reference,
        prepare=_prepare,
        packed=True,
        lower=lower_rescale,
        samples=(
            Sample((_BYTES,), _attrs()),
            Sample((_BYTES,), _attrs(shift=30, low=-100, high=99)),
            Sample((_BYTES,), _attrs(input_zero_point=-128, multiplier=(1 << 31) - 1, shift=1)),
            Sample((_BYTES,), _attrs(multiplier=1 << 30, shift=32, zero_point=0)),
            Sample((_BYTES,), _attrs(multiplier=1 << 30, shift=62)),
            Sample((int8s(3, 5, 7),), _attrs(shift=33)),
            Sample((int8s(0, 5),), _attrs()),
        ),
        invalid=(
            InvalidSample((floats(3),), _attrs(), DTypeError, "not float32"),
            InvalidSample(
                (int8s(3),), _attrs(multiplier=1 << 29), GraphError, "multiplier must lie in"
            ),
            InvalidSample(
                (int8s(3),), _attrs(shift=63), GraphError, "shift must lie in [1, 62], got 63"
            ),
            InvalidSample((int8s(3),), _attrs(high=128), GraphError, "low ≤ high ≤ 127"),
        ),
    )
)
