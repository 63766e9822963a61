"""``lookup``: any function of an int8 number, by a table."""

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
from playgrad.ops.lowering.quantized import lower_lookup

ENTRIES = 256


def lookup(x: Any, table: Any, name: str | None = None) -> Tensor:
    """Return ``table[x + 128]``, element by element.

    Args:
        x: a tensor of any shape; int8.
        table: the results for -128 to 127; int8 of shape (256,).

    Returns:
        An int8 tensor of the shape of ``x``. It has no gradient.

    Raises:
        DTypeError: an argument is not int8.
        ShapeError: ``table`` does not have 256 entries.
    """
    return add_node(_LOOKUP, as_tensors(x, table), name=name).output


def taken(table: Array, x: Array) -> Array:
    """Return ``table[x + 128]`` of int8 ``x``."""
    return table.take(np.ascontiguousarray(x).view(np.uint8) ^ 128).reshape(x.shape)


def expect_table(spec: TensorSpec, dtype: str, what: str) -> None:
    """Raise an error unless ``spec`` is of a table with 256 entries of ``dtype``."""
    expect_dtype(spec, f"the table of {what}", dtype)
    if spec.rank != 1 or spec.shape[0] not in (None, ENTRIES):
        raise ShapeError(
            f"{what}: the table must have the shape (256,), not {shape_text(spec.shape)}."
        )


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_dtype(inputs[0], "the input of lookup", "int8")
    expect_table(inputs[1], "int8", "lookup")
    return [inputs[0]]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    x, table = inputs
    return [taken(table, x)]


_TABLE = int8s(ENTRIES, seed=2)
_LOOKUP = register(
    OpDef(
        name="lookup",
        infer=_infer,
        reference=_reference,
        packed=True,
        lower=lower_lookup,
        samples=(
            Sample((np.arange(-128, 128, dtype=np.int8), _TABLE)),
            Sample((int8s(3, 5, 7), _TABLE)),
            Sample((int8s(), _TABLE)),
            Sample((int8s(0, 5), _TABLE)),
        ),
        invalid=(
            InvalidSample((floats(3), _TABLE), {}, DTypeError, "not float32"),
            InvalidSample((int8s(3), _TABLE.astype(np.int32)), {}, DTypeError, "not int32"),
            InvalidSample((int8s(3), _TABLE[1:]), {}, ShapeError, "must have the shape (256,)"),
        ),
    )
)
