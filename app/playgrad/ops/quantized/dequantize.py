"""``dequantize``: the float32 numbers that int8 stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, GraphError
from playgrad.graph.opdef import Attrs, InvalidSample, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.core.build import add_node, as_tensor, expect_dtype
from playgrad.ops.core.samples import floats, int8s
from playgrad.ops.elementwise.elementwise_op import elementwise_op
from playgrad.ops.expression import expr as e
from playgrad.ops.quantized.quantize import expect_scale, scale_attrs


def dequantize_linear(x: Any, scale: float, zero_point: int, name: str | None = None) -> Tensor:
    """Return ``scale * (x - zero_point)``, the numbers that ``x`` stands for.

    Args:
        x: a tensor of any shape; int8.
        scale: the distance between two int8 numbers, in [2^-100, 2^100]; rounded to float32.
        zero_point: the int8 that stands for 0, in [-128, 127].

    Returns:
        A float32 tensor of the shape of ``x``. It has no gradient.

    Raises:
        DTypeError: ``x`` is not int8.
        GraphError: ``scale`` or ``zero_point`` lies outside its range.
    """
    attrs = scale_attrs(scale, zero_point)
    return add_node(_DEQUANTIZE, [as_tensor(x)], attrs, name=name).output


def _formula(attrs: Attrs) -> tuple[e.Expr, ...]:
    difference = e.Cast("int32", e.Leaf(0)) - attrs["zero_point"]
    return (e.Cast("float32", difference) * float(np.float32(attrs["scale"])),)


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    expect_dtype(inputs[0], "the input of dequantize", "int8")
    expect_scale(attrs, "dequantize")
    return [TensorSpec(inputs[0].shape, "float32")]


_DEQUANTIZE = register(
    replace(
        elementwise_op(
            "dequantize",
            _formula,
            None,
            (
                Sample((int8s(5, 7),), {"scale": 0.013, "zero_point": -7}, tolerance=0.0),
                Sample(
                    (np.arange(-128, 128, dtype=np.int8),),
                    {"scale": 1 / 3, "zero_point": 127},
                    tolerance=0.0,
                ),
                Sample((int8s(0, 3),), {"scale": 1.0, "zero_point": 0}),
            ),
            (
                InvalidSample(
                    (floats(3),), {"scale": 1.0, "zero_point": 0}, DTypeError, "not float32"
                ),
                InvalidSample(
                    (int8s(3),),
                    {"scale": float("inf"), "zero_point": 0},
                    GraphError,
                    "scale must lie in",
                ),
                InvalidSample(
                    (int8s(3),),
                    {"scale": 1.0, "zero_point": -129},
                    GraphError,
                    "zero_point must lie in [-128, 127], got -129",
                ),
            ),
        ),
        infer=_infer,
        blocks_gradient=False,
    )
)
