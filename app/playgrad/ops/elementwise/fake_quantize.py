"""Rounding to a few equally spaced values, as integer arithmetic does, with a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Attrs, InvalidSample, Sample, register
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensors
from playgrad.ops.elementwise.definitions import (
    greater_equal,
    less_equal,
    logical_and,
    round,
    where,
)
from playgrad.ops.elementwise.elementwise_op import elementwise_op, sum_to_like
from playgrad.ops.elementwise.samples import random_floats
from playgrad.ops.expression import expr as e


def fake_quantize(
    x: Any, scale: Any, zero_point: Any, low: int = -128, high: int = 127, name: str | None = None
) -> Tensor:
    """Round ``x`` to what integers from ``low`` to ``high`` can hold.

    The integer q stands for ``scale * (q - zero_point)``. The result is that of the nearest q,
    halves to even; NaN stays NaN. The gradient passes unchanged where ``x`` is within the range,
    and is 0 outside (the straight-through estimator: Bengio et al. 2013, Jacob et al. 2018).

    Args:
        x: a tensor of any shape; float32 or float64.
        scale: positive, of a shape that broadcasts with that of ``x``: one, or one for each
            channel. No gradient flows to it.
        zero_point: the whole number that stands for 0, likewise.
        low, high: the smallest and the largest integer.

    Returns:
        A tensor of the broadcast shape and the dtype of ``x``.

    Raises:
        ShapeError: the shapes do not broadcast together, or ``low`` is not below ``high``.
        DTypeError: the dtypes differ, or are not floating.
    """
    tensors = as_tensors(x, scale, zero_point)
    if not low < high:
        raise ShapeError(f"fake_quantize needs low < high, got {low} and {high}.")
    attrs = {"low": float(low), "high": float(high)}
    return add_node(_FAKE_QUANTIZE, tensors, attrs, name).output


def _expression(attrs: Attrs) -> tuple[e.Expr]:
    x, scale, zero_point = (e.Leaf(i) for i in range(3))
    integer = e.call("round", x * (1.0 / scale)) + zero_point
    limited = e.call("minimum", e.call("maximum", integer, attrs["low"]), attrs["high"])
    return ((limited - zero_point) * scale,)


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    x, scale, zero_point = node.inputs
    assert grads[0] is not None
    integer = round(x * (1.0 / scale)) + zero_point
    inside = logical_and(
        greater_equal(integer, node.attrs["low"]), less_equal(integer, node.attrs["high"])
    )
    return [sum_to_like(where(inside, grads[0], 0.0), x), None, None]


_SCALES = np.array([0.25, 0.5, 0.125], np.float32)
_ZERO = np.zeros((), np.float32)
_INT4 = {"low": -7.0, "high": 7.0}
_INT8 = {"low": -128.0, "high": 127.0}
# Rounding is a staircase: finite differences of it say nothing about the gradient.
_FAKE_QUANTIZE = register(
    elementwise_op(
        "fake_quantize",
        _expression,
        _gradient,
        (
            Sample(
                (random_floats(5, 7), np.asarray(0.0625, np.float32), np.asarray(3, np.float32)),
                _INT8,
                differentiable=(),
            ),
            Sample((random_floats(4, 3), _SCALES, _ZERO), _INT4, differentiable=()),
            Sample(
                (
                    np.array([0.5, 1.5, -0.5, 1e9, -1e9, np.nan], np.float32),
                    np.asarray(1, np.float32),
                    _ZERO,
                ),
                _INT8,
                differentiable=(),
            ),
        ),
        (
            InvalidSample(
                (random_floats(2, 3), random_floats(4), _ZERO),
                _INT8,
                ShapeError,
                "do not broadcast",
            ),
            InvalidSample(
                (np.ones(2, np.int32), np.ones((), np.int32), np.zeros((), np.int32)),
                _INT8,
                DTypeError,
                "does not take int32",
            ),
        ),
    )
)
