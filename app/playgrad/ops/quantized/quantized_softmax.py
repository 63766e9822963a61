"""``quantized_softmax``: softmax of int8 numbers with a table of the exponential function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensors, expect_dtype
from playgrad.ops.core.samples import floats, int8s
from playgrad.ops.lowering.quantized import lower_quantized_softmax
from playgrad.ops.quantized.lookup import ENTRIES, expect_table


def quantized_softmax(x: Any, table: Any, name: str | None = None) -> Tensor:
    """Return the softmax of int8 numbers along the last axis; scale 1/256, zero point -128.

    With e = ``table[x - max(x) + 255]`` it is ``(256 * e + sum(e) // 2) // sum(e) - 128``, at most
    127, in uint32. A sum of 0 counts as 1.

    Args:
        x: a tensor of at least one axis; int8.
        table: ``round(2^k * exp(scale of x * (i - 255)))`` for i from 0 to 255, with a k such that
            neither 256 times an entry nor the sum along the axis overflows; int32 of shape (256,).

    Returns:
        An int8 tensor of the shape of ``x``. It has no gradient.

    Raises:
        DTypeError: ``x`` is not int8, or ``table`` is not int32.
        ShapeError: ``x`` is a single number or has no elements along its last axis, or ``table``
            does not have 256 entries.
    """
    return add_node(_SOFTMAX, as_tensors(x, table), name=name).output


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    x, table = inputs
    expect_dtype(x, "the input of quantized_softmax", "int8")
    if not x.rank or x.shape[-1] == 0:
        raise ShapeError(
            f"quantized_softmax: the input {shape_text(x.shape)} must have elements along its last "
            "axis."
        )
    expect_table(table, "int32", "quantized_softmax")
    return [x]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, table = inputs
    whole = x.astype(np.int32)
    e = table.view(np.uint32)[whole - whole.max(axis=-1, keepdims=True) + 255]
    total = e.sum(axis=-1, keepdims=True, dtype=np.uint32)
    with np.errstate(over="ignore"):
        parts = (e * np.uint32(256) + total // np.uint32(2)) // np.maximum(total, np.uint32(1))
    return [(np.minimum(parts, 255).astype(np.int32) - 128).astype(np.int8)]


def _table(bits: int, scale: float) -> Array:
    return np.round(2.0**bits * np.exp(scale * np.arange(-255, 1))).astype(np.int32)


_SOFTMAX = register(
    OpDef(
        name="quantized_softmax",
        infer=_infer,
        reference=_reference,
        lower=lower_quantized_softmax,
        samples=(
            Sample((int8s(5, 10), _table(22, 0.05))),
            Sample((int8s(2, 3, 7), _table(22, 0.001))),
            Sample((int8s(3, 300), _table(22, 0.5))),
            Sample((np.full((2, 33), -128, np.int8), _table(22, 0.1))),
            Sample((int8s(4, 1), _table(22, 0.1))),
            Sample((int8s(3, 5), np.zeros(ENTRIES, np.int32))),
            Sample((int8s(0, 5), _table(22, 0.1))),
        ),
        invalid=(
            InvalidSample((floats(3), _table(22, 0.1)), {}, DTypeError, "not float32"),
            InvalidSample((int8s(), _table(22, 0.1)), {}, ShapeError, "along its last axis"),
            InvalidSample((int8s(3, 0), _table(22, 0.1)), {}, ShapeError, "along its last axis"),
            InvalidSample((int8s(3), int8s(ENTRIES)), {}, DTypeError, "not int8"),
            InvalidSample((int8s(3), _table(22, 0.1)[:9]), {}, ShapeError, "must have the shape"),
        ),
    )
)
