"""From int32 sums to int8 results, and the checks of arguments that the operations share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import GraphError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.build import expect_dtype, whole

LEAST, MOST = -128, 127
"""The range of int8."""
SHIFTS = (1, 62)
"""The least and largest shift; others count as the nearer of these."""
PER_CHANNEL = ("bias", "multiplier", "shift")


def requantized(sums: Array, multiplier: Array, shift: Array, attrs: Attrs) -> Array:
    """Return int32 ``sums`` as int8: times ``multiplier`` / 2^``shift``, halves rounded up.

    Args:
        multiplier, shift: int32, of a shape that broadcasts with ``sums``.
        attrs: ``zero_point``, which is added, and ``low`` and ``high``, which limit the result.
    """
    shift = np.clip(shift, *SHIFTS).astype(np.int64)
    product = sums.astype(np.int64)
    product *= multiplier
    product += np.left_shift(np.int64(1), shift - 1)
    product >>= shift
    product += attrs["zero_point"]
    return product.clip(attrs["low"], attrs["high"]).astype(np.int8)


def range_attrs(zero_point: Any, low: Any, high: Any) -> dict[str, int]:
    """Return the attributes of ``requantized``."""
    return {
        "zero_point": whole(zero_point, "zero_point"),
        "low": whole(low, "low"),
        "high": whole(high, "high"),
    }


def expect_range(attrs: Mapping[str, Any], what: str) -> None:
    """Raise GraphError unless -128 <= ``low`` <= ``high`` <= 127 and ``zero_point`` is an int8."""
    expect_between(attrs, "zero_point", LEAST, MOST, what)
    low, high = attrs["low"], attrs["high"]
    if not LEAST <= low <= high <= MOST:
        raise GraphError(f"{what}: -128 ≤ low ≤ high ≤ 127 must hold, got {low} and {high}.")


def expect_between(
    attrs: Mapping[str, Any], name: str, least: float, most: float, what: str
) -> None:
    """Raise GraphError unless the attribute ``name`` lies in [``least``, ``most``]."""
    if not least <= attrs[name] <= most:
        raise GraphError(f"{what}: {name} must lie in [{least}, {most}], got {attrs[name]}.")


def expect_channels(specs: Sequence[TensorSpec], outputs: int | None, what: str) -> None:
    """Check bias, multiplier and shift: int32 of shape (out,)."""
    for name, spec in zip(PER_CHANNEL, specs, strict=True):
        expect_dtype(spec, f"the {name} of {what}", "int32")
        known = spec.rank == 1 and None not in (spec.shape[0], outputs)
        if spec.rank != 1 or (known and spec.shape[0] != outputs):
            size = "out" if outputs is None else outputs
            raise ShapeError(
                f"{what}: the {name} must have the shape ({size},), one number for each output, "
                f"not {shape_text(spec.shape)}."
            )
