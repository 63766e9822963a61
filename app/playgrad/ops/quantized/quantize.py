"""``quantize``: float32 numbers as int8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, GraphError
from playgrad.graph.opdef import Attrs, InvalidSample, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensor, expect_floating, whole
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.expression import expr as e
from playgrad.ops.quantized.requantize import LEAST, MOST, expect_between

_SMALLEST, _LARGEST = 2.0**-100, 2.0**100
"""The range of scales: neither they nor their products lose digits on any device."""


def quantize_linear(x: Any, scale: float, zero_point: int, name: str | None = None) -> Tensor:
    """Return ``x / scale + zero_point`` rounded to int8, halves to even.

    The operation multiplies by ``1 / scale`` as a float32. Numbers beyond the range of int8 become
    its ends, and NaN becomes ``zero_point``.

    Args:
        x: a tensor of any shape; float32.
        scale: the distance between two int8 numbers, in [2^-100, 2^100]; rounded to float32.
        zero_point: the int8 that stands for 0, in [-128, 127].

    Returns:
        An int8 tensor of the shape of ``x``. It has no gradient.

    Raises:
        DTypeError: ``x`` is not floating.
        GraphError: ``scale`` or ``zero_point`` lies outside its range.
    """
    attrs = scale_attrs(scale, zero_point)
    return add_node(_QUANTIZE, [as_tensor(x)], attrs, name=name).output


def scale_attrs(scale: Any, zero_point: Any) -> dict[str, Any]:
    """Return the attributes of quantize and dequantize."""
    try:
        number = float(scale)
    except (TypeError, ValueError):
        raise GraphError(f"scale must be a number, not {scale!r:.60}.") from None
    return {"scale": number, "zero_point": whole(zero_point, "zero_point")}


def expect_scale(attrs: Attrs, what: str) -> None:
    """Raise GraphError unless ``scale`` and ``zero_point`` lie in their ranges."""
    if not _SMALLEST <= attrs["scale"] <= _LARGEST:
        raise GraphError(f"{what}: scale must lie in [2^-100, 2^100], got {attrs['scale']}.")
    expect_between(attrs, "zero_point", LEAST, MOST, what)


def _formula(attrs: Attrs) -> tuple[e.Expr, ...]:
    x, zero_point = e.Leaf(0), attrs["zero_point"]
    factor = float(np.float32(1.0 / np.float64(np.float32(attrs["scale"]))))
    # The cast says to JavaScript, which has no float32 product, to round it.
    steps = e.call("round", e.Cast("float32", x * factor)) + float(zero_point)
    limited = e.call("minimum", e.call("maximum", steps, float(LEAST)), float(MOST))
    return (e.Cast("int8", e.where(e.call("isnan", x), float(zero_point), limited)),)


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_floating(inputs[0], "the input of quantize")
    expect_scale(attrs, "quantize")
    return [TensorSpec(inputs[0].shape, "int8")]


_EDGES = np.array(
    [
        0.0,
        -0.0,
        0.125,
        0.375,
        -0.125,
        31.75,
        31.9,
        -32.1,
        1e30,
        -1e30,
        1e-42,
        np.inf,
        -np.inf,
        np.nan,
    ],
    np.float32,
)
_QUANTIZE = register(
    replace(
        elementwise_op(
            "quantize",
            _formula,
            None,
            (
                Sample((floats(5, 7),), {"scale": 0.013, "zero_point": -7}),
                Sample((_EDGES,), {"scale": 0.25, "zero_point": 3}),
                Sample((_EDGES,), {"scale": 2.0**-100, "zero_point": -128}),
                Sample((_EDGES,), {"scale": 2.0**100, "zero_point": 127}),
                Sample((floats(0, 3),), {"scale": 1.0, "zero_point": 0}),
            ),
            (
                InvalidSample(
                    (integers(3),), {"scale": 1.0, "zero_point": 0}, DTypeError, "not int32"
                ),
                InvalidSample(
                    (floats(3),), {"scale": 0.0, "zero_point": 0}, GraphError, "scale must lie in"
                ),
                InvalidSample(
                    (floats(3),),
                    {"scale": float("nan"), "zero_point": 0},
                    GraphError,
                    "scale must lie in",
                ),
                InvalidSample(
                    (floats(3),),
                    {"scale": 1.0, "zero_point": 128},
                    GraphError,
                    "zero_point must lie in [-128, 127], got 128",
                ),
            ),
        ),
        infer=_infer,
        blocks_gradient=False,
    )
)
